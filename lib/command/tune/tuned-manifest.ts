import { asList, asObject, isObject, type Json } from "../../rules/model/json.ts";
import { decimalText, milliOfText } from "../../rules/model/quantity.ts";
import { DEFAULT_SETTINGS } from "../../rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { levelsOf } from "../../rules/policy/dialects.ts";
import { AS_IT_IS, type SettingRanges, type Settings } from "../../replay/tune/settings.ts";

/** What the search may not leave. */
export interface Guards {
  /** No fewer keep the worst hour served. */
  readonly leastMin: number;
  /** The largest count of the policy of now. */
  readonly largestCount: number;
  /** True where demand was cut off: what was asked for is not known, and no target rises. */
  readonly isCutOff: boolean;
}

const PERCENT = 100;
/** Of a target in percent of a request: more leaves no room for a pod that is slower than others. */
const TARGET_PERCENT_MOST = 95;
const TARGET_LEAST = 50;
const TARGET_MOST = 150;
const MINUTE_SECONDS = 60;
/** Windows that people use; a longer one of now stays possible. */
const UP_WINDOW_SECONDS = 300;
const DOWN_WINDOW_SECONDS = 1_800;

const numberIn = (of: Json, name: string, otherwise: number): number => {
  const value = of[name];
  const milli = typeof value === "string" ? milliOfText(value) : undefined;
  if (milli !== undefined) return Number(milli) / 1_000;
  return typeof value === "number" ? value : otherwise;
};

/** Between which values the numbers of a native manifest are searched. */
export const rangesOf = (
  document: Json,
  spec: AutoscalerSpec,
  { leastMin, largestCount, isCutOff }: Guards,
): SettingRanges => {
  const own = asObject(document["spec"]);
  const [up, down] = [asObject(own["scaleUp"]), asObject(own["scaleDown"])];
  const tolerance = asObject(asObject(asList(own["metrics"])[0])["tolerance"]);
  const { minReplicas, maxReplicas } = spec;
  const [upWindow, downWindow] = [up, down].map((rules, at) =>
    numberIn(rules, "stabilizationWindowSeconds", at === 0 ? 0 : 300),
  );
  const policies = { now: AS_IT_IS, least: 10, most: AS_IT_IS, step: 10 };
  const ofCluster = DEFAULT_SETTINGS.tolerance;
  return {
    targetPercent: {
      ...{ now: PERCENT, least: TARGET_LEAST, step: 1 },
      most: isCutOff
        ? PERCENT
        : Math.max(PERCENT, Math.floor(Math.min(TARGET_MOST, highestTarget(spec)))),
    },
    toleranceUp: { now: numberIn(tolerance, "up", ofCluster), least: 0, most: 0.3, step: 0.05 },
    toleranceDown: { now: numberIn(tolerance, "down", ofCluster), least: 0, most: 0.5, step: 0.05 },
    upWindowSeconds: {
      ...{ now: upWindow ?? 0, least: 0, step: 15 },
      most: Math.max(UP_WINDOW_SECONDS, upWindow ?? 0),
    },
    downWindowSeconds: {
      ...{ now: downWindow ?? 0, least: 0, step: MINUTE_SECONDS },
      most: Math.max(DOWN_WINDOW_SECONDS, downWindow ?? 0),
    },
    upPercent: policies,
    downPercent: policies,
    minReplicas: {
      ...{ now: minReplicas, least: leastMin, step: 1 },
      most: Math.max(minReplicas, Math.min(maxReplicas, Math.ceil(largestCount / 2))),
    },
    // A lower maximum spares nothing that these days show, and a peak of other days may need it.
    maxReplicas: {
      ...{ now: maxReplicas, step: 1, least: maxReplicas },
      most: largestCount < maxReplicas ? maxReplicas : maxReplicas * 2,
    },
  };
};

/** To how many percent of now the targets may rise; without end where none is of a request. */
const highestTarget = (spec: AutoscalerSpec): number => {
  const percents = levelsOf(spec).flatMap(({ measure, milli }) =>
    measure === "Percent" && milli !== undefined ? [Number(milli) / 1_000] : [],
  );
  return Math.min(...percents.map((percent) => (TARGET_PERCENT_MOST / percent) * PERCENT));
};

const TOLERANCE_STEP = 0.05;

/**
 * The settings with a tolerance that leaves the metric a way up: at target × (1 + tolerance) above
 * all that a pod asks for no value would ever ask for more pods.
 */
export const usable = (spec: AutoscalerSpec, settings: Settings): Settings => {
  const room = highestTarget(spec) / settings.targetPercent - 1;
  const most = Math.max(0, Math.floor(room / TOLERANCE_STEP + ROUNDING) * TOLERANCE_STEP);
  return settings.toleranceUp <= most
    ? settings
    : { ...settings, toleranceUp: Number(most.toFixed(2)) };
};

/** A quotient of decimal fractions is not exact. */
const ROUNDING = 1e-9;

/** A native manifest with these numbers. What stays as it is now is not written. */
export const tunedDocument = (document: Json, ranges: SettingRanges, to: Settings): Json => {
  const own = asObject(document["spec"]);
  const isNew = (name: keyof Settings): boolean => to[name] !== ranges[name].now;
  const { minReplicas, maxReplicas } = to;
  return {
    ...document,
    spec: {
      ...own,
      minReplicas,
      maxReplicas: Math.max(minReplicas, maxReplicas),
      metrics: asList(own["metrics"]).map((metric) => tunedMetric(asObject(metric), to, isNew)),
      scaleUp: {
        ...asObject(own["scaleUp"]),
        ...(isNew("upWindowSeconds") && { stabilizationWindowSeconds: to.upWindowSeconds }),
        ...(isNew("upPercent") && {
          selectPolicy: "Max",
          policies: [percentPolicy(to.upPercent, 15), podsPolicy(4, 15)],
        }),
      },
      scaleDown: {
        ...asObject(own["scaleDown"]),
        ...(isNew("downWindowSeconds") && { stabilizationWindowSeconds: to.downWindowSeconds }),
        ...(isNew("downPercent") && {
          selectPolicy: "Max",
          policies: [percentPolicy(to.downPercent, MINUTE_SECONDS), podsPolicy(1, MINUTE_SECONDS)],
        }),
      },
    },
  };
};

const percentPolicy = (value: number, periodSeconds: number): Json => ({
  ...{ type: "Percent", value: String(value), periodSeconds },
});
/** Of a small count a percentage is no pod at all. */
const podsPolicy = (value: number, periodSeconds: number): Json => ({
  ...{ type: "Pods", value: String(value), periodSeconds },
});

const tunedMetric = (
  metric: Json,
  { targetPercent, toleranceUp, toleranceDown }: Settings,
  isNew: (name: keyof Settings) => boolean,
): Json => {
  const { target, watermarks, measure } = metric;
  const scaled = (amount: unknown): unknown => scaledAmount(amount, targetPercent, measure);
  if (isObject(watermarks)) {
    const { low, high } = watermarks;
    return isNew("targetPercent")
      ? { ...metric, watermarks: { low: scaled(low), high: scaled(high) } }
      : metric;
  }
  if (target === undefined) return metric;
  const tolerance = {
    ...asObject(metric["tolerance"]),
    ...(isNew("toleranceUp") && { up: String(toleranceUp) }),
    ...(isNew("toleranceDown") && { down: String(toleranceDown) }),
  };
  return {
    ...metric,
    ...(isNew("targetPercent") && { target: scaled(target) }),
    ...(Object.keys(tolerance).length > 0 && { tolerance }),
  };
};

/** Digits of an amount that people would write. */
const DIGITS = 3;

const scaledAmount = (amount: unknown, percent: number, measure: unknown): unknown => {
  const milli = typeof amount === "number" ? amount * 1_000 : Number(milliOfText(String(amount)));
  const scaled = (milli * percent) / PERCENT;
  if (measure === "Percent") {
    const percents = Math.max(1, Math.round(scaled / 1_000));
    return typeof amount === "number" ? percents : String(percents);
  }
  const whole = Math.max(1, Math.round(Number(scaled.toPrecision(DIGITS))));
  return typeof amount === "number" && whole % 1_000 === 0
    ? whole / 1_000
    : decimalText(BigInt(whole));
};
