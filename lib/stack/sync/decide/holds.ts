import type { Because } from "../../../rules/model/decision.ts";
import {
  clusterPaused,
  fleetFrozen,
  intentOpen,
  intentSettled,
  intentUnreadable,
  type Sharer,
  targetShared,
  OBJECT_DELETING,
  OBJECT_GONE,
} from "../../report/holds.ts";
import { pausedBy, type AutoscalerRecord } from "../../../rules/model/records.ts";
import { type AutoscalerUid, uidOfIntent, type WorkloadKey } from "../../../rules/model/ids.ts";
import type { Head } from "../../store/head/head.ts";
import type { UnreadableIntent } from "../../store/head/intent-codec.ts";
import { settledLate, workloadKey } from "../load/open-intents.ts";
import { deadlineOf, type Timing } from "../../plan/message.ts";
import type { Intent } from "../../../rules/model/scale-records.ts";
import type { Loaded, LoadedSpec, ReadySpec, ClusterAnswers } from "../hand-over.ts";

/**
 * Why this sync may write to no workload at all: the kill switch or a pause of the cluster, as read
 * after the claim. The autoscalers are still evaluated and journaled, so that people see what would
 * happen.
 */
export const stopOf = ({
  fleet,
  cluster,
  nowMs,
}: Pick<Loaded, "fleet" | "cluster" | "nowMs">): Because | undefined => {
  if (fleet.frozen) return fleetFrozen(fleet.frozen);
  const pause = pausedBy(cluster, nowMs);
  return pause && clusterPaused(pause);
};

/**
 * Why an autoscaler must not act because of its workload: a scale of it is under way, or another of
 * our autoscalers targets it.
 */
export const workloadHolds = (
  loaded: Loaded,
  seen: ClusterAnswers,
  timing: Timing,
): ((autoscaler: ReadySpec) => Because | undefined) => {
  const { head, specs } = loaded;
  const intentOfWorkload = new Map<WorkloadKey, Intent>(
    head.intents.map((intent) => [workloadKey(intent.namespace, intent.target), intent]),
  );
  const intentOfUid = new Map<AutoscalerUid, Intent>(
    head.intents.map((intent) => [intent.uid, intent]),
  );
  const leftovers = leftoverHolds(head);
  const unreadableOf = unreadableOfWorkload(loaded, timing);
  const sharersOf = loaded.objects
    ? sharers(
        specs.all.filter(
          (autoscaler) => autoscaler.kind === "ready" && !isEnding(loaded, autoscaler),
        ),
      )
    : keptSharers(specs.all);
  return ({ record, spec }) => {
    const key = workloadKey(record.namespace, spec.target);
    const intent = intentOfWorkload.get(key) ?? intentOfUid.get(record.uid);
    if (intent)
      return settledLate(intent, loaded, seen.late) ? intentSettled(intent) : intentOpen(intent);
    const leftover = leftovers.get(record.uid);
    if (leftover) return leftover;
    const unreadable = unreadableOf(key, record);
    if (unreadable) return intentUnreadable(unreadable.id, unreadable.message);
    const others = sharersOf({ record, spec });
    return others.length > 0 ? targetShared(others) : undefined;
  };
};

/**
 * The unreadable intent of a workload. Another autoscaler of the same workload must not act either,
 * also after the first was deleted. The workload is the one that the intent names, where that much
 * can be read; otherwise the present target of its autoscaler.
 */
const unreadableOfWorkload = (
  loaded: Loaded,
  timing: Timing,
): ((workload: WorkloadKey, record: AutoscalerRecord) => UnreadableIntent | undefined) => {
  const { head, specs } = loaded;
  const mayBeOfEdited = unreadableOfEdited(loaded, timing);
  const byUid = new Map(head.unreadable.map((intent) => [uidOfIntent(intent.id), intent]));
  const byWorkload = new Map<WorkloadKey, UnreadableIntent>();
  for (const autoscaler of byUid.size === 0 ? [] : specs.all) {
    const intent = autoscaler.kind === "ready" ? byUid.get(autoscaler.record.uid) : undefined;
    if (intent && autoscaler.kind === "ready")
      byWorkload.set(workloadKey(autoscaler.record.namespace, autoscaler.spec.target), intent);
  }
  for (const intent of head.unreadable) {
    if (intent.workload)
      byWorkload.set(workloadKey(intent.workload.namespace, intent.workload.target), intent);
  }
  return (workload, record) => byWorkload.get(workload) ?? mayBeOfEdited(record);
};

/*
 *  old   "web" ── intent ✗ damaged ── deleted
 *  new                                  created "web" ├── holds: the PUT of the intent may still land ──┤
 */

/**
 * The unreadable intent that may belong to the workload of an autoscaler that was edited lately. If
 * the workload of an intent cannot be read, and its autoscaler was deleted or has another target
 * now, the intent may belong to any workload. But two autoscalers of one workload both hold. So the
 * sync that stored the intent did not know the other autoscaler of this workload: that autoscaler
 * was created or edited after the sync, or at most `specsFreshMs` before it. On doubt, such
 * autoscalers hold until no PUT of that time can take effect. The others go on.
 */
const unreadableOfEdited = (
  { head, nowMs }: Loaded,
  timing: Timing,
): ((record: AutoscalerRecord) => UnreadableIntent | undefined) => {
  const lost = head.unreadable.find(({ workload }) => workload === undefined);
  return ({ updatedMs }) =>
    lost && nowMs <= deadlineOf(updatedMs + timing.specsFreshMs + timing.clockDifferenceMs, timing)
      ? lost
      : undefined;
};

/**
 * An autoscaler whose object was deleted, or is being deleted, writes no more, so that another one
 * may take over its workload at once.
 */
const isEnding = ({ objects }: Loaded, { record }: ReadySpec): boolean =>
  ENDING.has(objects?.holds.get(record.uid)?.reason);
const ENDING: ReadonlySet<string | undefined> = new Set([OBJECT_DELETING, OBJECT_GONE]);

/** A warm environment has the same specs in every sync, until one is edited. */
const keptSharers = (all: readonly LoadedSpec[]): ReturnType<typeof sharers> => {
  const known = sharersOfSpecs.get(all) ?? sharers(all);
  sharersOfSpecs.set(all, known);
  return known;
};

const sharersOfSpecs = new WeakMap<readonly LoadedSpec[], ReturnType<typeof sharers>>();

/**
 * The other autoscalers that write the same workload. An autoscaler in a dry run writes none: it is
 * in no such list, and gets none.
 */
const sharers = (
  all: readonly LoadedSpec[],
): ((autoscaler: Pick<ReadySpec, "record" | "spec">) => readonly Sharer[]) => {
  const writing = all
    .filter((autoscaler) => autoscaler.kind === "ready")
    .filter(({ spec }) => !spec.dryRun);
  const byWorkload = Map.groupBy(writing, ({ record, spec }) =>
    workloadKey(record.namespace, spec.target),
  );
  // On doubt, hold: a manifest that is not read yet may be of the same workload.
  const unread = Map.groupBy(
    all.flatMap((autoscaler) =>
      autoscaler.kind === "invalid" && autoscaler.unread
        ? [
            {
              name: autoscaler.record.name,
              key: `${autoscaler.record.namespace}/${autoscaler.unread.target}`,
            },
          ]
        : [],
    ),
    ({ key }) => key,
  );
  return ({ record, spec }) => {
    const beside = spec.dryRun
      ? undefined
      : unread.get(`${record.namespace}/${spec.target.kind}/${spec.target.name}`);
    if (beside) return beside.map(({ name }) => ({ name }));
    const sharing = spec.dryRun
      ? undefined
      : byWorkload.get(workloadKey(record.namespace, spec.target));
    if (!sharing || (sharing.length === 1 && sharing[0]?.record.uid === record.uid))
      return NO_SHARERS;
    return sharing
      .filter((other) => other.record.uid !== record.uid)
      .map(({ record: other }) => ({
        name: other.name,
        ...(other.origin && { of: other.origin.kind }),
      }));
  };
};

const NO_SHARERS: readonly Sharer[] = [];

/**
 * What a dead sync left in the head, by autoscaler: a scale that no page counts yet, or an entry
 * that cannot be read.
 */
const leftoverHolds = ({ uncounted, unreadable }: Head): ReadonlyMap<AutoscalerUid, Because> =>
  new Map<AutoscalerUid, Because>([
    ...uncounted.map((scale) => [scale.uid, intentSettled(scale)] as const),
    ...unreadable.map(
      (intent) => [uidOfIntent(intent.id), intentUnreadable(intent.id, intent.message)] as const,
    ),
  ]);
