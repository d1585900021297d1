import type { Observed } from "../../cluster/cluster-client.ts";
import { fieldManagerOf } from "../../cluster/scale.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import type { AutoscalerUid, WorkloadKey } from "../../../rules/model/ids.ts";
import type { ScaleRead, ScaleReading, Rival } from "../../../rules/model/observation.ts";
import type { SeenCount, Windows } from "../../../rules/model/windows.ts";
import type { DecideInput } from "../../../rules/policy/decide.ts";
import type { Beside } from "../load/known-rivals.ts";
import { entryOf } from "../load/load-pages.ts";
import { workloadKey } from "../load/open-intents.ts";
import type { PurePart } from "../pure-part.ts";
import type { Loaded, ReadySpec, OutsideScale } from "../hand-over.ts";

/**
 * Characters of a workload's uid that are kept: a workload that was made anew has a count of its
 * own.
 */
const UID_END = 4;

export const uidEnd = (uid: string): string => uid.slice(-UID_END);

export const seenCount = (scale: ScaleReading): SeenCount | undefined =>
  scale.kind === "read" ? { replicas: scale.specReplicas, of: uidEnd(scale.uid) } : undefined;

/** The name of a change in the windows, which are stored together with the count. */
export const idOf = ({ head }: Loaded, uid: AutoscalerUid): string =>
  `${uid}:outside-${head.evaluatedMs}`;

/**
 * Finds changes from outside: the count is another than the last completed sync left. While a scale
 * of this stack is open, or is on no page yet, the count may be its own, and nothing is compared.
 */
export const outsideScales = (
  loaded: Loaded,
): ((
  autoscaler: ReadySpec,
  observed: Observed,
  beside: Beside,
  seenMs: number,
) => OutsideScale | undefined) => {
  const isUnderWay = scalesUnderWay(loaded);
  const own = fieldManagerOf(loaded.cluster);
  return (autoscaler, observed, beside, seenMs) => {
    const { uid } = autoscaler.record;
    const { scale } = observed.observation;
    const before = entryOf(loaded, uid)?.seen;
    // At rest the count is the same.
    if (!before || scale.kind !== "read" || before.replicas === scale.specReplicas)
      return undefined;
    const now = seenCount(scale);
    if (before.of !== now?.of || isUnderWay(autoscaler)) return undefined;
    return {
      id: idOf(loaded, uid),
      from: before.replicas,
      to: now.replicas,
      atMs: seenMs,
      beside: isBeside(beside, observed),
      ...madeBy(scale, own),
    };
  };
};

/** Where a change was undone by the one who made it, the last writer is this stack: not known. */
const madeBy = ({ countSetBy }: ScaleRead, own: string): Pick<OutsideScale, "by"> =>
  countSetBy === undefined || countSetBy === own ? {} : { by: foreignText(countSetBy) };

/**
 * On doubt, count: a controller that may be there, or was seen by an earlier sync, may have made
 * the change.
 */
export const isBeside = (
  { rivals, seenBefore, unknown }: Beside,
  { otherStack }: Pick<Observed, "otherStack">,
): boolean => rivals.length > 0 || seenBefore || unknown !== undefined || otherStack !== undefined;

export const scalesUnderWay = ({ head, specs }: Loaded): ((autoscaler: ReadySpec) => boolean) => {
  const { intents, uncounted, unreadable } = head;
  if (intents.length + uncounted.length + unreadable.length === 0) return () => false;
  // What cannot be read may be a scale of any workload.
  if (unreadable.length > 0) return () => true;
  const uids = new Set([...intents, ...uncounted].map(({ uid }) => uid));
  const workloads = new Set(intents.map(({ namespace, target }) => workloadKey(namespace, target)));
  for (const spec of specs.all)
    if (spec.kind === "ready" && uids.has(spec.record.uid)) workloads.add(workloadOf(spec));
  return (autoscaler) => uids.has(autoscaler.record.uid) || workloads.has(workloadOf(autoscaler));
};

export const workloadOf = ({ record, spec }: ReadySpec): WorkloadKey =>
  workloadKey(record.namespace, spec.target);

/**
 * The first scale that another controller made is known by its time only, from its status: as much
 * as the rules allow may have been done then.
 */
const scaledBeforeMs = (
  loaded: Loaded,
  uid: AutoscalerUid,
  rivals: readonly Rival[],
): number | undefined => {
  if (entryOf(loaded, uid)?.seen) return undefined;
  const times = rivals.flatMap(({ lastScaleMs }) => lastScaleMs ?? []);
  return times.length === 0 ? undefined : Math.min(loaded.nowMs, Math.max(...times));
};

/**
 * The windows with what others did to the count since the last completed sync; before the first
 * one, with what the status of another controller says of its last scale.
 */
export const withOutside = (
  rules: PurePart,
  loaded: Loaded,
  {
    input,
    uid,
    outside,
    rivals,
  }: {
    readonly input: DecideInput;
    readonly uid: AutoscalerUid;
    readonly outside: OutsideScale | undefined;
    readonly rivals: readonly Rival[];
  },
): Windows => {
  const { spec, windows } = input;
  if (outside)
    return rules.withOutsideChange(windows, spec, {
      ...outside,
      earliestMs: 0,
      eventId: outside.id,
    });
  const atMs = scaledBeforeMs(loaded, uid, rivals);
  return atMs === undefined
    ? windows
    : rules.withScalesBefore(windows, spec, { atMs, eventId: `${uid}:before-${atMs}` });
};
