import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import { clusterName, namespace } from "../../model/ids.ts";
import type { AutoscalerRecord } from "../../model/records.ts";
import type { Desk } from "../context.ts";
import { findAutoscaler, parts } from "../find.ts";
import type { Asked, Edited } from "../service.ts";
import { checkPauseEnd, pauseView } from "../views/pauses.ts";
import { announce, type Edit, store } from "./store-edit.ts";

/** Edits that others may make in between before ours gives up. */
const ATTEMPTS_MAX = 5;

type Change = Pick<Edit, "verb" | "after">;

/**
 * Reads, changes and writes under the generation that was read, again while others are faster. `change` gives nothing when it is so already; the syncs are told all the same, for
 * an earlier attempt may have died before it told them.
 */
const edit = async (desk: Desk, asked: Asked, change: (before: AutoscalerRecord) => Change | undefined): Promise<Edited> => {
  let uid: AutoscalerRecord["uid"] | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { cluster, record } = await findAutoscaler(desk, asked);
    uid ??= record.uid;
    // The edit was meant for the autoscaler that was found first.
    if (record.uid !== uid) throw replaced(asked.name);
    const edited = { cluster: record.cluster, namespace: record.namespace, name: record.name };
    const wanted = change(record);
    if (!wanted) {
      await announce(desk, record.cluster, [record.namespace]);
      return { ...edited, changed: false };
    }
    const outcome = await store(desk, { cluster, ref: record, uid: record.uid, before: record, ...wanted });
    if (outcome.kind === "stored") return { ...edited, changed: true };
  }
  throw new TidemarkError("service.conflict", `Cannot edit "${asked.name}": others are editing it`, { name: asked.name });
};

const replaced = (name: string): TidemarkError =>
  new TidemarkError("service.conflict", `Cannot edit "${name}": it was deleted and created again meanwhile; look at it and try again`, { name });

/** Forgets an autoscaler. Its workload keeps its count, its events and changes stay. Throws `service.unknown` where it is gone already. */
export const remove = async (desk: Desk, asked: Asked): Promise<Edited> => {
  try {
    return await edit(desk, asked, () => ({ verb: "delete" }));
  } catch (error) {
    if (isTidemarkError(error, "service.unknown")) await announceGone(desk, parts(asked));
    throw error;
  }
};

/** Whoever deletes what is gone may have died half-way the first time. Without its whole path nobody is told; the syncs then notice within a minute. */
const announceGone = async (desk: Desk, { cluster, namespace: inNamespace }: Asked): Promise<void> => {
  if (cluster !== undefined && inNamespace !== undefined) await announce(desk, clusterName(cluster), [namespace(inNamespace)]);
};

/** Holds the workload where it is; a pause with another end replaces the one before. Throws `service.invalid` for an end that has passed. */
export const pause = (desk: Desk, asked: Asked, untilMs?: number): Promise<Edited> =>
  edit(desk, asked, (before) => {
    const now = desk.clock();
    checkPauseEnd(`"${before.namespace}/${before.name}" in cluster "${before.cluster}"`, untilMs, now);
    if (pauseView(before.paused, now) && before.paused?.untilMs === untilMs) return undefined;
    return { verb: "pause", after: { ...before, paused: { by: desk.by, atMs: now, ...(untilMs !== undefined && { untilMs }) } } };
  });

export const resume = (desk: Desk, asked: Asked): Promise<Edited> =>
  edit(desk, asked, (before) => {
    const { paused, ...after } = before;
    return pauseView(paused, desk.clock()) ? { verb: "resume", after } : undefined;
  });
