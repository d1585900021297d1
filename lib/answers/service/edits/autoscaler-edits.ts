import { MAX_MANIFEST_BYTES } from "../../../rules/manifest/budget.ts";
import { mustAllow } from "../../../rules/model/access.ts";
import { isTidemarkError } from "../../../rules/model/errors.ts";
import { clusterName, namespace } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../../rules/model/records.ts";
import { type Edit, raiseSpecVersions, store } from "../../../stack/store/records/store-change.ts";
import type { EditResult } from "../../views/autoscaler.ts";
import type { ServiceContext } from "../context.ts";
import { findAutoscaler, type LocatedAutoscaler, splitName } from "../find-autoscaler.ts";
import type { AutoscalerEdit, AutoscalerQuery, RivalEdit, TakeoverEdit } from "../service.ts";
import { checkPauseEnd, pauseView } from "../views/holds-view.ts";
import { mustMatch, raiseForChanged, mustNotBeObject } from "./edit-condition.ts";
import { conflict, invalid, unknown, untilStored } from "../refusals.ts";

type Change = Pick<Edit, "verb" | "after" | "rival">;

type ChangeOf = (before: AutoscalerRecord, cluster: ClusterRecord) => Change | undefined;

/**
 * Edits an autoscaler. Throws `service.changed`, and `service.unknown` when it does not exist. The
 * spec version is raised even then, because the edit that deleted it may have failed before it
 * raised it: without that, syncs go on scaling for up to five minutes an autoscaler that a pause
 * did not find.
 */
export const editAutoscaler = async (
  context: ServiceContext,
  query: AutoscalerEdit,
  change: ChangeOf,
): Promise<EditResult> => {
  try {
    return await editFound(context, query, change);
  } catch (error) {
    if (isTidemarkError(error, "service.unknown")) await raiseForDeleted(context, splitName(query));
    await raiseForChanged(context, error);
    throw error;
  }
};

/** Without the full path the partition is not known; its syncs then notice within five minutes. */
const raiseForDeleted = async (
  context: ServiceContext,
  { cluster, namespace: inNamespace }: AutoscalerQuery,
): Promise<void> => {
  if (cluster === undefined || inNamespace === undefined) return;
  // A caller without the right makes no sync of other tenants read anything again.
  if (context.rights && !context.rights.allows("edit", { cluster, namespace: inNamespace })) return;
  await raiseSpecVersions(context, clusterName(cluster), [namespace(inNamespace)]);
};

/**
 * Reads, changes and writes a record under the generation that was read, again while other editors
 * win. `change` returns undefined when nothing has to change. The spec version is raised even then,
 * because an earlier attempt may have failed before it raised it.
 */
const editFound = (
  context: ServiceContext,
  query: AutoscalerEdit,
  change: ChangeOf,
): Promise<EditResult> => {
  let uid: AutoscalerRecord["uid"] | undefined;
  return untilStored(
    () => conflict(`Cannot edit "${query.name}": others are editing it`, { name: query.name }),
    async () => {
      const { cluster, record } = await (uid === undefined
        ? findAutoscaler(context, query)
        : findAgain(context, query));
      uid ??= record.uid;
      // The edit is meant for the autoscaler that was found first. This comes before the condition:
      // a delete whose answer was lost may be what deleted it, so "nothing was changed" would be
      // false.
      if (record.uid !== uid)
        throw conflict(
          `Cannot edit "${query.name}": it was deleted and created again in the meantime; check it and try again`,
          { name: query.name },
        );
      if (context.rights) mustAllow(context.rights, "edit", record);
      mustMatch(query.onlyIf, record, record);
      const edited = { cluster: record.cluster, namespace: record.namespace, name: record.name };
      const wanted = change(record, cluster);
      if (!wanted) {
        await raiseSpecVersions(context, record.cluster, [record.namespace]);
        return { ...edited, uid, generation: record.generation, changed: false };
      }
      const outcome = await store(context, {
        ref: record,
        uid: record.uid,
        before: record,
        ...wanted,
      });
      const after = wanted.after && { uid, generation: outcome.generation };
      return outcome.kind === "stored" ? { ...edited, ...after, changed: true } : undefined;
    },
  );
};

/** Finds an autoscaler that was there before. */
const findAgain = async (
  context: ServiceContext,
  query: AutoscalerQuery,
): Promise<LocatedAutoscaler> => {
  try {
    return await findAutoscaler(context, query);
  } catch (error) {
    if (!isTidemarkError(error, "service.unknown")) throw error;
    const { name } = query;
    throw unknown(`Cannot edit "${name}": it was deleted in the meantime`, {
      name,
      nearest: undefined,
    });
  }
};

/**
 * Deletes an autoscaler. Its workload keeps its count, and its events and changes stay. Throws
 * `service.conflict` for one that is read from an object of its cluster, and `service.unknown` when
 * it does not exist, also when another editor was first to delete it.
 */
export const remove = (context: ServiceContext, query: AutoscalerEdit): Promise<EditResult> =>
  editAutoscaler(context, query, (before, cluster) => {
    mustNotBeObject(cluster, before);
    return { verb: "delete" };
  });

/**
 * Pauses an autoscaler at its count. A pause with another end replaces the one before. Throws
 * `service.invalid` for an end that has passed.
 */
export const pause = (
  context: ServiceContext,
  query: AutoscalerEdit,
  untilMs?: number,
): Promise<EditResult> =>
  editAutoscaler(context, query, (before) => {
    const now = context.clock();
    checkPauseEnd(
      `"${before.namespace}/${before.name}" in cluster "${before.cluster}"`,
      untilMs,
      now,
    );
    if (pauseView(before.paused, now) && before.paused?.untilMs === untilMs) return undefined;
    return {
      verb: "pause",
      after: {
        ...before,
        paused: { by: context.by, atMs: now, ...(untilMs !== undefined && { untilMs }) },
      },
    };
  });

export const resume = (context: ServiceContext, query: AutoscalerEdit): Promise<EditResult> =>
  editAutoscaler(context, query, (before) => {
    const { paused, ...after } = before;
    return pauseView(paused, context.clock()) ? { verb: "resume", after } : undefined;
  });

/**
 * Keeps the object of another controller in the history. The autoscaler itself stays as it is; its
 * new generation makes every sync of the next minute visible.
 */
export const takeOver = (
  context: ServiceContext,
  { rival, failed, ...query }: TakeoverEdit,
): Promise<EditResult> =>
  editAutoscaler(context, query, (after) => ({
    verb: failed ? "takeover-failed" : "takeover",
    after,
    rival: rivalText(query.name, rival),
  }));

/** Pauses an autoscaler, and keeps the object that is made again. */
export const handBack = (
  context: ServiceContext,
  { rival, ...query }: RivalEdit,
): Promise<EditResult> =>
  editAutoscaler(context, query, (before) => ({
    verb: "handback",
    after: { ...before, paused: { by: context.by, atMs: context.clock() } },
    rival: rivalText(query.name, rival),
  }));

/**
 * A change holds the manifest twice and this object, and an item of the table has at most 400 KB.
 */
const rivalText = (name: string, rival: RivalEdit["rival"]): string => {
  const text = JSON.stringify(rival);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_MANIFEST_BYTES) return text;
  const words = `it has ${bytes} bytes as JSON, and the limit is ${MAX_MANIFEST_BYTES}`;
  throw invalid(`Cannot keep the object of the other controller of "${name}": ${words}`, { name });
};
