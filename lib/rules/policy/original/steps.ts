import { decimalText } from "../../model/quantity.ts";
import { podSamples, selectedPodMetrics } from "../../sources/resource.ts";
import { withMeasured } from "../hpa/steps/measure.ts";
import type { HpaStep, HpaSync } from "../hpa/steps/sync.ts";
import { bendsAround, ceilDivided, type Curve, floorDivided } from "../shared/metrics/curve.ts";
import type { CountedPods, Measurement } from "../shared/metrics/measurement.ts";
import { stepped, withCondition } from "../shared/steps.ts";
import type { Pod } from "../../model/observation.ts";
import { MAX_I32 } from "../shared/arithmetic.ts";
import { type Failure, failure, type PodSamples } from "../../sources/source.ts";
import { requestsOf } from "../shared/metrics/requests.ts";
import {
  LIMIT_SENTENCES,
  type LimitReason,
  scalingLimited,
  READY_FOR_NEW_SCALE,
} from "../hpa/steps/sentences.ts";
import { backoff, type ForbiddenWindows, forbiddenWindows } from "../shared/forbidden.ts";

/** Percentage that counts when the manifest gives none (proposals.md §1). */
const DEFAULT_TARGET_PERCENT = 80;
const NAME = "cpu resource utilization (percentage of request)";

/** proposals.md §1: the one metric there is. */
export const measureUtilization: HpaStep = (sync) =>
  withMeasured(sync, [{ type: "Resource", measurement: measured(sync) }]);

/**
 * The metrics API gives the average over its own window, which stands for the document's last
 * minute.
 */
const measured = (sync: HpaSync): Measurement => {
  const targetPercent =
    sync.input.spec.metrics[0]?.target.averageUtilization ?? DEFAULT_TARGET_PERCENT;
  const metrics = selectedPodMetrics(sync.input.observation.answers, sync.selector);
  const outcome =
    "message" in metrics
      ? metrics
      : utilizationOf(sync.pods, podSamples(metrics, "cpu"), targetPercent);
  if ("message" in outcome) {
    const message = `failed to get cpu utilization: ${outcome.message}`;
    return {
      kind: "failed",
      name: NAME,
      reason: "FailedGetResourceMetric",
      message,
      chain: `failed to get cpu resource metric value: ${message}`,
    };
  }
  const { wanted, percent, ratio, outside, usageMilli, counted, curve } = outcome;
  const countOf = (utilization: Pick<Utilization, "wanted" | "outside">): number =>
    utilization.outside ? utilization.wanted : sync.current;
  const current = { averageUtilization: percent, averageValue: decimalText(usageMilli) };
  return {
    kind: "measured",
    name: NAME,
    proposal: countOf({ wanted, outside }),
    value: `${percent}%`,
    target: `${targetPercent}%`,
    ratio,
    usageMilli,
    utilization: percent,
    status: { type: "Resource", resource: { name: "cpu", current } },
    counted,
    curve: () => {
      const made = curve();
      const at: Curve["at"] = (step) => {
        const other = made.at(step);
        return { replicas: countOf(other), ratio: other.ratio };
      };
      return { ...made, at };
    },
  };
};

/** Half-width of the band around the target, whatever the cluster tolerates (proposals.md §1). */
const TOLERANCE_TENTHS = 1n;

export interface Utilization {
  /** ⌈Σ pod utilisation ÷ target⌉, whatever the band says. */
  readonly wanted: number;
  /** Mean utilisation in whole percent, cut off. */
  readonly percent: number;
  /** Mean ÷ target, for people; `outside` is decided exactly. */
  readonly ratio: number;
  /** Mean ÷ target is below 0.9 or above 1.1. */
  readonly outside: boolean;
  readonly usageMilli: bigint;
}

interface Behind {
  readonly counted: () => CountedPods;
  readonly curve: () => UtilizationCurve;
}

type UtilizationCurve = Omit<Curve, "at"> & { readonly at: (step: bigint) => Utilization };

/**
 * proposals.md §1: every pod's use ÷ its own request, added up. Sums are fractions of integers, so
 * that three pods at 160 % never want more than 480 % asks for. A pod that runs and reports
 * nothing, or requests nothing, fails the metric: its share of the sum is not known.
 */
const utilizationOf = (
  pods: readonly Pod[],
  samples: PodSamples,
  targetPercent: number,
): (Utilization & Behind) | Failure => {
  const running = pods.filter(
    ({ deleting, phase }) =>
      !deleting && phase !== "Pending" && phase !== "Failed" && phase !== "Succeeded",
  );
  if (running.length === 0)
    return failure("no running pods returned by selector while calculating replica count");
  const requests = requestsOf(running, { resource: "cpu" }, {});
  if ("message" in requests) return requests;
  let usageMilli = 0n;
  const usageByRequest = new Map<bigint, bigint>();
  for (const { name } of running) {
    const sample = samples.get(name);
    const request = requests.get(name) ?? 0n;
    if (sample === undefined || request <= 0n) return failure(`no CPU utilization of Pod ${name}`);
    usageMilli += sample.milli;
    usageByRequest.set(request, (usageByRequest.get(request) ?? 0n) + sample.milli);
  }
  const sum = sumOfFractions(usageByRequest);
  const counts = { pods: BigInt(running.length), target: BigInt(targetPercent) };
  return {
    ...fromSum(sum, counts, usageMilli),
    counted: () => ({
      ...ALL_COUNTED,
      counted: running.length,
      leftOut: pods.length - running.length,
    }),
    curve: () => curveOf(sum, counts),
  };
};

const ALL_COUNTED = { unready: 0, missing: 0, unlisted: 0 };

/** Steps of a percentage: thousandths of a percent. */
const STEPS_OF_ALL = 100_000n;

const curveOf = (
  { over, under }: Fraction,
  counts: Parameters<typeof fromSum>[1],
): UtilizationCurve => {
  const steps = over * STEPS_OF_ALL;
  const all = under * counts.pods;
  return {
    floor: floorDivided(steps, all),
    ceil: ceilDivided(steps, all),
    at: (step) => fromSum({ over: step * counts.pods, under: STEPS_OF_ALL }, counts, 0n),
    bends: () =>
      bendsAround(Number(counts.target) * 1000, {
        up: Number(TOLERANCE_TENTHS) / 10,
        down: Number(TOLERANCE_TENTHS) / 10,
      }),
  };
};

interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const sumOfFractions = (usageByRequest: ReadonlyMap<bigint, bigint>): Fraction => {
  let over = 0n;
  let under = 1n;
  for (const [request, usage] of usageByRequest) {
    over = over * request + usage * under;
    under *= request;
  }
  return { over, under };
};

const fromSum = (
  { over, under }: Fraction,
  { pods, target }: { readonly pods: bigint; readonly target: bigint },
  usageMilli: bigint,
): Utilization => {
  // sum ÷ (target / 100) = hundredfold ÷ scaled
  const hundredfold = over * 100n;
  const scaled = under * target;
  const wanted = Number((hundredfold + scaled - 1n) / scaled);
  const outside =
    hundredfold * 10n < (10n - TOLERANCE_TENTHS) * scaled * pods ||
    hundredfold * 10n > (10n + TOLERANCE_TENTHS) * scaled * pods;
  return {
    wanted: Math.min(wanted, MAX_I32),
    percent: Number(hundredfold / (under * pods)),
    ratio: Number((hundredfold * 1_000_000n) / (scaled * pods)) / 1_000_000,
    outside,
    usageMilli: usageMilli / pods,
  };
};

/** proposals.md §1: always within min and max. */
export const bounds: HpaStep = (sync) => {
  const { minReplicas, maxReplicas } = sync.input.spec;
  const count = Math.min(maxReplicas, Math.max(minReplicas, sync.count));
  const reason: LimitReason =
    sync.count < minReplicas
      ? "TooFewReplicas"
      : sync.count > maxReplicas
        ? "TooManyReplicas"
        : "DesiredWithinRange";
  const limited = count !== sync.count;
  const limit = limited ? { reason, value: count, message: LIMIT_SENTENCES[reason] } : undefined;
  return {
    ...stepped(sync, "bounds", count, limit),
    conditions: withCondition(sync, scalingLimited(limited, reason)),
  };
};

/**
 * Time after a scale in either direction in which nothing is added, or taken away (proposals.md
 * §1).
 */
const FORBIDDEN = { upMs: 3 * 60_000, downMs: 5 * 60_000 };

/** The end of a window itself is closed still. */
const closedUntilMs = (
  lastScaleMs: number | undefined,
  forbiddenMs: number,
  nowMs: number,
): number | undefined =>
  lastScaleMs === undefined || nowMs - lastScaleMs > forbiddenMs
    ? undefined
    : lastScaleMs + forbiddenMs;

export const forbiddenOf = (lastScaleMs: number | undefined, nowMs: number): ForbiddenWindows =>
  forbiddenWindows(FORBIDDEN, lastScaleMs, nowMs, closedUntilMs);

/**
 * proposals.md §1: the windows begin at the last scale, whichever way it went, and live in the
 * store like any other.
 */
export const coolDown: HpaStep = (sync) => {
  const { windows, nowMs } = sync.input;
  const { current, count } = sync;
  const rising = count > current;
  const { up, down } = forbiddenOf(windows.status.lastScaleMs, nowMs);
  const window = rising ? up : count < current ? down : undefined;
  const untilMs = window?.untilMs;
  if (untilMs === undefined)
    return {
      ...stepped(sync, "cool down", count),
      conditions: withCondition(sync, READY_FOR_NEW_SCALE),
    };
  const report = backoff(!rising, rising);
  const limit = { reason: report.reason, value: current, message: report.message, untilMs };
  return { ...stepped(sync, "cool down", current, limit), conditions: withCondition(sync, report) };
};
