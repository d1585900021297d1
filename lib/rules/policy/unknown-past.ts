import type { AutoscalerSpec } from "../model/spec.ts";
import type { ScaleChange, Windows } from "../model/windows.ts";
import { askDialect, withOutsideChange } from "./dialects.ts";
import { scaledToZero, setCondition } from "./shared/steps.ts";

/**
 * More pods than any policy grants, and few enough that two of them and a count still fit the 32
 * bits that the imitated controllers add in (hpa.md 3.8.4). A policy that grants everything, such
 * as 100 percent down, is no limit and stays none.
 */
export const MAX_ASSUMED_CHANGE = 1_000_000_000;

interface UnknownPast {
  readonly spec?: AutoscalerSpec | undefined;
  readonly nowMs: number;
  readonly eventId: string;
  /**
   * The history says that this autoscaler put the workload to zero. Without it the autoscaler would
   * take the workload for stopped by a person, and never wake it.
   */
  readonly restsAtZero: boolean;
}

/**
 * Windows of an autoscaler whose scales before `nowMs` are unknown. They are as if the autoscaler
 * had scaled at `nowMs` as far as its rules allow. Every window starts at `nowMs`. So nothing is
 * scaled before the longest window has passed, except back inside [min, max]. Without `spec` (it
 * cannot be read) the flap budget is left out, because the rules may not be native.
 *
 * Which way each part fails: Limits are used up and give no room to the other direction. Forbidden
 * windows are closed. Breaches, idleness and delays have lasted for no time. The flap budget is
 * spent. Stabilization holds the count that the next sync reads, because no earlier recommendation
 * is known.
 */
export const withUnknownPast = (
  { memory, status }: Windows,
  { spec, nowMs, eventId, restsAtZero }: UnknownPast,
): Windows => {
  const used: ScaleChange = { change: MAX_ASSUMED_CHANGE, atMs: nowMs, earliestMs: 0, eventId };
  const turns = turnsBefore(spec, nowMs, eventId);
  return {
    memory: {
      ...memory,
      recommendations: null,
      scaleUps: [...withoutAssumed(memory.scaleUps), ...turns.ups, used],
      scaleDowns: [...withoutAssumed(memory.scaleDowns), ...turns.downs, used],
    },
    status: {
      ...status,
      conditions: restsAtZero ? setCondition([], scaledToZero(true), nowMs) : [],
      lastScaleMs: Math.max(status.lastScaleMs ?? 0, nowMs),
    },
  };
};

/**
 * The changes without the assumed changes of an earlier unknown past. The new assumed change is
 * later and holds for longer, so the earlier ones add nothing. Three assumed changes would be
 * beyond 32 bits, where a sum becomes a number of the other sign, and a limit that allows
 * everything: an adoption that was tried again and again within one period would leave so many.
 */
const withoutAssumed = (changes: readonly ScaleChange[]): readonly ScaleChange[] => {
  const assumed = new Set(
    changes.flatMap(({ change, earliestMs, eventId }) =>
      change === MAX_ASSUMED_CHANGE && earliestMs === 0 ? [eventId] : [],
    ),
  );
  return assumed.size === 0 ? changes : changes.filter(({ eventId }) => !assumed.has(eventId));
};

/**
 * Windows beside another controller that scaled at `atMs`, nobody knows how far: as if it had
 * scaled both ways as far as the rules allow. It counts as one of the own controller's scales.
 */
export const withScalesBefore = (
  windows: Windows,
  spec: AutoscalerSpec,
  { atMs, eventId }: { readonly atMs: number; readonly eventId: string },
): Windows => {
  const change = { atMs, earliestMs: 0, eventId, beside: true };
  const up = withOutsideChange(windows, spec, { ...change, from: 0, to: MAX_ASSUMED_CHANGE });
  return withOutsideChange(up, spec, { ...change, from: MAX_ASSUMED_CHANGE, to: 0 });
};

/**
 * Changes of no pods, each the other way than the next, that spend a flap budget together with the
 * changes of `nowMs`.
 */
const turnsBefore = (spec: AutoscalerSpec | undefined, nowMs: number, eventId: string) => {
  const reversals = spec ? askDialect(spec, (dialect, own) => dialect.reversals?.(own) ?? 0) : 0;
  const all = Array.from(
    { length: Math.max(0, reversals - 1) },
    (_, at): ScaleChange => ({ change: 0, atMs: nowMs - at - 1, eventId }),
  );
  return {
    ups: all.filter((_, at) => at % 2 === 1).reverse(),
    downs: all.filter((_, at) => at % 2 === 0).reverse(),
  };
};
