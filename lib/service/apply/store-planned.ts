import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import { type AutoscalerRef, autoscalerName, autoscalerUid, namespace } from "../../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../model/records.ts";
import type { ServiceContext } from "../context.ts";
import { mustHaveStayed } from "../edits/removal.ts";
import { raiseSpecVersions, storeOnly } from "../edits/store-change.ts";
import type { ApplyOptions } from "../service.ts";
import type { Applied } from "../views/autoscaler.ts";
import { insertTogether } from "./insert-together.ts";
import type { ManifestInput } from "./manifest-inputs.ts";
import { type ApplyTarget, type Planned, replan } from "./plan.ts";

/** Edits that others may make in between before ours gives up. */
const ATTEMPTS_MAX = 5;
/** Documents that are stored side by side: their change items go into four batches of the history (lib/store/history/insert.ts), and the syncs are told once. */
const GROUP = 100;

type ApplyHooks = Pick<ApplyOptions, "onStored" | "signal">;

/**
 * Stores what was planned, one group after the other. Each document is an edit of its own, and there is no write over several items: an apply that is cut off has stored some documents and
 * not the others. It then says how many, and applying the same again stores the rest. Throws `service.interrupted`, `service.conflict`, and what the store throws.
 */
export const storeAll = async (
  context: ServiceContext,
  step: ApplyTarget,
  planned: readonly Planned[],
  { onStored: stored, signal }: ApplyHooks,
): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (let from = 0; from < planned.length; from += GROUP) {
    if (signal?.aborted)
      throw withProgress(new TidemarkError("service.interrupted", "Cannot go on: the command was interrupted", {}), applied, planned.length);
    const group = await storeGroup(context, step, planned.slice(from, from + GROUP));
    applied.push(...group.applied);
    stored?.(group.applied, { done: applied.length, all: planned.length });
    if (group.failure !== undefined) throw withProgress(group.failure, applied, planned.length);
  }
  // An earlier attempt may have stored a document and died before it told the partition.
  const unchanged = applied.filter(({ outcome }) => outcome === "unchanged").map((one) => namespace(one.namespace));
  if (unchanged.length > 0) await raiseSpecVersions(context, step.cluster.name, unchanged);
  return applied;
};

/** The failure with what had been stored before it; where nothing else was to be stored, the failure as it is. */
const withProgress = (failure: unknown, { length: done }: readonly Applied[], all: number): unknown => {
  if (!isTidemarkError(failure) || all === 1) return failure;
  const words = `${failure.message}; ${done} of ${all} documents are applied, and applying the same again stores the rest`;
  return new TidemarkError(failure.code, words, failure.details, { cause: failure.cause });
};

interface Group {
  readonly applied: readonly Applied[];
  readonly failure?: unknown;
}

/*
 *  100 changes inserted ── 100 records put ── partitions told ── cluster looked at      every record is told of and looked at, also where its neighbour failed
 */
const storeGroup = async (context: ServiceContext, step: ApplyTarget, group: readonly Planned[]): Promise<Group> => {
  const together = group.length === 1 ? context : { ...context, insert: insertTogether(context.insert) };
  const settled = await Promise.allSettled(group.map((plan) => storePlanned(together, step, plan)));
  const stored = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  await notifySyncs(context, step.cluster, stored);
  const applied = stored.map((one) => one.applied);
  return failed === undefined ? { applied } : { applied, failure: failed.reason };
};

const notifySyncs = async (context: ServiceContext, cluster: ClusterRecord, stored: readonly StoredPlan[]): Promise<void> => {
  const written = stored.filter(({ applied }) => applied.outcome !== "unchanged");
  if (written.length > 0)
    await raiseSpecVersions(
      context,
      cluster.name,
      written.map(({ applied }) => namespace(applied.namespace)),
    );
  // Also for what is there already: it may be another's, whose apply is about to take it back.
  if (stored.length > 0)
    await mustHaveStayed(
      context,
      cluster,
      stored.flatMap(({ created }) => created ?? []),
    );
};

interface StoredPlan {
  readonly applied: Applied;
  /** Where the document made a new autoscaler. */
  readonly created?: AutoscalerRef & Pick<AutoscalerRecord, "uid">;
}

/** Stores one planned document; when another editor was faster, it is planned anew on what that one stored. */
const storePlanned = async (context: ServiceContext, step: ApplyTarget, first: Planned): Promise<StoredPlan> => {
  const { cluster } = step;
  let plan = first;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { input: given, old, applied } = plan;
    if (old && applied.outcome === "unchanged") return { applied };
    const after = recordOf(context, cluster, given, applied, old);
    const written = await storeOnly(context, { cluster, verb: "apply", ref: after, uid: after.uid, after, ...(old && { before: old }) });
    if (written.kind === "stored") return { applied: { ...applied, generation: written.generation }, ...(old ? {} : { created: after }) };
    const again = await replan(context, step, given);
    if ("lines" in again) throw new TidemarkError("manifest.invalid", again.lines.join("\n"), again);
    plan = again;
  }
  throw new TidemarkError("service.conflict", `Cannot apply "${first.applied.namespace}/${first.applied.name}": others are editing it`, {});
};

const recordOf = (
  context: ServiceContext,
  cluster: ClusterRecord,
  { document }: ManifestInput,
  { namespace: inside, name }: Applied,
  old: AutoscalerRecord | undefined,
) => ({
  ...(old ?? { uid: autoscalerUid(context.newUid()), createdMs: context.clock() }),
  cluster: cluster.name,
  manifest: JSON.stringify(document),
  namespace: namespace(inside),
  name: autoscalerName(name),
});
