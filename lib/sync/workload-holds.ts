import type { Because } from "../model/decision.ts";
import type { Intent } from "../model/records.ts";
import { intentOpen, intentSettled, intentUnreadable, targetShared } from "../report/holds.ts";
import type { Head } from "../store/head/head.ts";
import type { UnreadableIntent } from "../store/head/intents.ts";
import type { Loaded } from "./load.ts";
import type { LoadedSpec } from "./loaded-specs.ts";
import type { ReadySpec, Seen } from "./observe.ts";
import { settledLate, workloadKey } from "./open-intents.ts";

/** Why an autoscaler must not act because of its workload: a scale of it is under way, or another autoscaler of ours targets it. */
export const workloadHolds = (loaded: Loaded, seen: Seen): ((autoscaler: ReadySpec) => Because | undefined) => {
  const { head, specs } = loaded;
  const byWorkload = new Map<string, Intent>(head.intents.map((intent) => [workloadKey(intent.namespace, intent.target), intent]));
  const byUid = new Map<string, Intent>(head.intents.map((intent) => [intent.uid, intent]));
  const left = leftBehind(head);
  const lostOf = unreadableOfWorkload(loaded);
  const sharersOf = sharers(specs.all);
  return ({ record, spec }) => {
    const key = workloadKey(record.namespace, spec.target);
    const intent = byWorkload.get(key) ?? byUid.get(record.uid);
    if (intent) return settledLate(intent, loaded, seen.late) ? intentSettled(intent) : intentOpen(intent);
    const behind = left.get(record.uid);
    if (behind) return behind;
    const lost = lostOf(key);
    if (lost) return intentUnreadable(lost.id, lost.message);
    const others = sharersOf({ record, spec });
    return others.length > 0 ? targetShared(others) : undefined;
  };
};

/**
 * The intent of a workload that cannot be read: another autoscaler of the same workload must not act either, also where the first was deleted. The workload is the one that the
 * intent names, where it can be read so far, else the present target of its autoscaler.
 */
const unreadableOfWorkload = ({ head, specs }: Loaded): ((workload: string) => UnreadableIntent | undefined) => {
  const byUid = new Map(head.unreadable.map((lost) => [uidOfId(lost), lost]));
  const byWorkload = new Map<string, UnreadableIntent>();
  for (const autoscaler of byUid.size === 0 ? [] : specs.all) {
    const lost = autoscaler.kind === "ready" ? byUid.get(autoscaler.record.uid) : undefined;
    if (lost && autoscaler.kind === "ready") byWorkload.set(workloadKey(autoscaler.record.namespace, autoscaler.spec.target), lost);
  }
  for (const lost of head.unreadable) if (lost.workload) byWorkload.set(workloadKey(lost.workload.namespace, lost.workload.target), lost);
  return (workload) => byWorkload.get(workload);
};

/** The names of the other autoscalers that write the same workload. A dry run writes none, so it is no such other, and has none. */
const sharers = (all: readonly LoadedSpec[]): ((autoscaler: Pick<ReadySpec, "record" | "spec">) => readonly string[]) => {
  const writing = all.filter((one) => one.kind === "ready").filter(({ spec }) => !spec.dryRun);
  const sharing = Map.groupBy(writing, ({ record, spec }) => workloadKey(record.namespace, spec.target));
  return ({ record, spec }) => {
    if (spec.dryRun) return [];
    const others = sharing.get(workloadKey(record.namespace, spec.target)) ?? [];
    return others.filter((other) => other.record.uid !== record.uid).map((other) => other.record.name);
  };
};

/** What a sync that died left behind in the head: a scale that no window holds yet, or an entry that cannot be read. */
const leftBehind = ({ uncounted, unreadable }: Head): ReadonlyMap<string, Because> =>
  new Map<string, Because>([
    ...uncounted.map((scale) => [scale.uid as string, intentSettled(scale)] as const),
    ...unreadable.map((lost) => [uidOfId(lost), intentUnreadable(lost.id, lost.message)] as const),
  ]);

const uidOfId = ({ id }: UnreadableIntent): string => id.slice(0, id.lastIndexOf(":"));
