import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import { type AutoscalerRef, autoscalerName, autoscalerUid, namespace } from "../../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../model/records.ts";
import type { Desk } from "../context.ts";
import { mustHaveStayed } from "../edits/removal.ts";
import { announce, storeUntold } from "../edits/store-edit.ts";
import type { ApplyOptions } from "../service.ts";
import type { Applied } from "../views/autoscaler.ts";
import { insertTogether } from "./insert-together.ts";
import type { Given } from "./manifest-inputs.ts";
import { type Planned, planAnew, type Step } from "./plan.ts";

/** Edits that others may make in between before ours gives up. */
const ATTEMPTS_MAX = 5;
/** Documents that are stored side by side: their change items go into one statement of the history (lib/store/history/insert.ts). */
const GROUP = 25;

type Watching = Pick<ApplyOptions, "stored" | "signal">;

/**
 * Stores what was planned, one group after the other. Each document is an edit of its own, and there is no write over several items: an apply that is cut off has stored some documents and
 * not the others. It then says how many, and applying the same again stores the rest. Throws `service.interrupted`, `service.conflict`, and what the store throws.
 */
export const storeAll = async (desk: Desk, step: Step, planned: readonly Planned[], { stored, signal }: Watching): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (let from = 0; from < planned.length; from += GROUP) {
    if (signal?.aborted)
      throw partly(new TidemarkError("service.interrupted", "Cannot go on: the command was interrupted", {}), applied, planned.length);
    const group = await storeGroup(desk, step, planned.slice(from, from + GROUP));
    applied.push(...group.applied);
    stored?.(group.applied, { done: applied.length, all: planned.length });
    if (group.failure !== undefined) throw partly(group.failure, applied, planned.length);
  }
  // An earlier attempt may have stored a document and died before it told the partition.
  const unchanged = applied.filter(({ outcome }) => outcome === "unchanged").map((one) => namespace(one.namespace));
  if (unchanged.length > 0) await announce(desk, step.cluster.name, unchanged);
  return applied;
};

/** The failure with what had been stored before it; where nothing else was to be stored, the failure as it is. */
const partly = (failure: unknown, { length: done }: readonly Applied[], all: number): unknown => {
  if (!isTidemarkError(failure) || all === 1) return failure;
  const words = `${failure.message}; ${done} of ${all} documents are applied, and applying the same again stores the rest`;
  return new TidemarkError(failure.code, words, failure.details, { cause: failure.cause });
};

interface Group {
  readonly applied: readonly Applied[];
  readonly failure?: unknown;
}

/*
 *  25 changes inserted ── 25 records put ── partitions told ── cluster looked at      every record is told of and looked at, also where its neighbour failed
 */
const storeGroup = async (desk: Desk, step: Step, group: readonly Planned[]): Promise<Group> => {
  const together = group.length === 1 ? desk : { ...desk, insert: insertTogether(desk.insert) };
  const settled = await Promise.allSettled(group.map((plan) => storePlanned(together, step, plan)));
  const stored = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  await tell(desk, step.cluster, stored);
  const applied = stored.map((one) => one.applied);
  return failed === undefined ? { applied } : { applied, failure: failed.reason };
};

const tell = async (desk: Desk, cluster: ClusterRecord, stored: readonly Stored[]): Promise<void> => {
  const written = stored.filter(({ applied }) => applied.outcome !== "unchanged");
  if (written.length > 0)
    await announce(
      desk,
      cluster.name,
      written.map(({ applied }) => namespace(applied.namespace)),
    );
  // Also for what is there already: it may be another's, whose apply is about to take it back.
  if (stored.length > 0)
    await mustHaveStayed(
      desk,
      cluster,
      stored.flatMap(({ created }) => created ?? []),
    );
};

interface Stored {
  readonly applied: Applied;
  /** Where the document made a new autoscaler. */
  readonly created?: AutoscalerRef & Pick<AutoscalerRecord, "uid">;
}

/** Stores one planned document; when another editor was faster, it is planned anew on what that one stored. */
const storePlanned = async (desk: Desk, step: Step, first: Planned): Promise<Stored> => {
  const { cluster } = step;
  let plan = first;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { given, old, applied } = plan;
    if (old && applied.outcome === "unchanged") return { applied };
    const after = recordOf(desk, cluster, given, applied, old);
    const written = await storeUntold(desk, { cluster, verb: "apply", ref: after, uid: after.uid, after, ...(old && { before: old }) });
    if (written.kind === "stored") return { applied: { ...applied, generation: written.generation }, ...(old ? {} : { created: after }) };
    const again = await planAnew(desk, step, given);
    if ("lines" in again) throw new TidemarkError("manifest.invalid", again.lines.join("\n"), again);
    plan = again;
  }
  throw new TidemarkError("service.conflict", `Cannot apply "${first.applied.namespace}/${first.applied.name}": others are editing it`, {});
};

const recordOf = (
  desk: Desk,
  cluster: ClusterRecord,
  { document }: Given,
  { namespace: inside, name }: Applied,
  old: AutoscalerRecord | undefined,
) => ({
  ...(old ?? { uid: autoscalerUid(desk.newUid()), createdMs: desk.clock() }),
  cluster: cluster.name,
  manifest: JSON.stringify(document),
  namespace: namespace(inside),
  name: autoscalerName(name),
});
