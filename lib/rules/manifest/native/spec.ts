import { readInstant, SECOND_MS } from "../../model/time-text.ts";
import { milliOf, floatOf, type Quantity } from "../../model/quantity.ts";
import type { CommonSpec } from "../../model/spec-common.ts";
import type {
  NativeRules,
  NativeSpec,
  Band,
  NativeMetric,
  NativeSource,
  OnMissing,
} from "../../model/spec-native.ts";
import { targetRef } from "../hpa/spec.ts";
import { adviceOf } from "./advice-fields.ts";
import { scheduleOf } from "./schedule-rules.ts";
import type { RulesRead, SpecRead, MetricRead } from "./spec-fields.ts";
import {
  type AnySource,
  namedBy,
  SOURCE_NAMES,
  type SourceName,
  sourceNamed,
} from "../../sources/sources.ts";
import { nonEmpty, present } from "../../model/json.ts";

/** Converts a valid spec with `rules: native`. */
export const nativeSpecOf = (read: SpecRead): NativeSpec => ({
  dialect: "native",
  target: targetRef(read.scaleTargetRef),
  minReplicas: read.minReplicas,
  maxReplicas: read.maxReplicas ?? 1,
  metrics: read.metrics.map((metric) => metricOf(metric, read.pods)),
  pods: read.pods,
  combine: read.combine,
  scaleUp: rulesOf(read.scaleUp),
  scaleDown: rulesOf(read.scaleDown),
  ...(read.flapBudget && {
    flapBudget: {
      reversals: read.flapBudget.reversals ?? 1,
      periodSeconds: read.flapBudget.periodSeconds ?? 1,
    },
  }),
  ...(read.idle && { idle: read.idle }),
  ...governedOf(read),
});

/** The fields of the manifest that all rules share. */
export const governedOf = (
  read: Pick<SpecRead, "owner" | "dryRun" | "pausedUntil" | "schedule" | "advice">,
): CommonSpec => {
  const { owner, dryRun, pausedUntil, advice } = read;
  const pausedUntilMs = readInstant(pausedUntil ?? "");
  return present({
    owner: owner || undefined,
    dryRun: dryRun || undefined,
    pausedUntilMs,
    schedule: nonEmpty(scheduleOf(read)),
    advice: advice && adviceOf(advice),
  });
};

const rulesOf = ({ policies, ...rules }: RulesRead): NativeRules => ({
  ...rules,
  policies: policies.map(({ type = "Pods", value, periodSeconds = 1 }) => ({
    type,
    valueMilli: value ? Number(milliOf(value)) : 0,
    periodSeconds,
  })),
});

export const sourcesOf = (read: MetricRead): readonly SourceName[] =>
  SOURCE_NAMES.filter((name) => read[name] !== undefined);

/**
 * The first source of the metric with what the manifest says of it; a metric without any is read as
 * a resource without a name.
 */
const readSource = (
  read: MetricRead,
): readonly [AnySource, Readonly<Record<string, unknown>>, SourceName] => {
  for (const name of SOURCE_NAMES) {
    const block = read[name];
    if (block !== undefined) return [sourceNamed(name), { ...block }, name];
  }
  return [sourceNamed("resource"), {}, "resource"];
};

export const measureOf = (read: MetricRead): NativeMetric["measure"] =>
  read.measure ?? readSource(read)[0].measures[0];

/** The given name, or the name of the source. */
export const nameOf = (read: MetricRead): string => {
  if (read.name) return read.name;
  const [, block, name] = readSource(read);
  const fields = namedBy(name);
  const [given] = fields
    .map((field) => block[field])
    .filter((value) => typeof value === "string" && value !== "");
  return String(given ?? (fields.length === 0 ? name : ""));
};

/** Converts a valid metric. Members that validation requires fall back to zero values. */
const metricOf = (read: MetricRead, pods: SpecRead["pods"]): NativeMetric => ({
  name: nameOf(read),
  source: sourceOf(read),
  measure: measureOf(read),
  ...(read.input && { input: true as const }),
  band: bandOf(read),
  scaleUpOnly: read.scaleUpOnly,
  onMissing: onMissingOf(read.onMissing),
  ...timesOf(read, pods),
  ...(read.activation && { activationMilli: milliOf(read.activation) }),
});

/**
 * The default age is the time of three answers: then two of them were lost. A source whose values
 * are old when they come adds their age. The HPA controller looks at no age, and an adapter may say
 * any of an object or of something outside.
 */
const timesOf = (
  read: MetricRead,
  pods: SpecRead["pods"],
): Pick<NativeMetric, "everyMs" | "maxAgeMs"> => {
  const [source, block] = readSource(read);
  const isOfPods = source.samplesOf === "pods" && pods !== "asHpa";
  if (!isOfRegistered(read)) {
    const { maxAgeSeconds = isOfPods ? LEAST_AGE_SECONDS : undefined } = read;
    return maxAgeSeconds === undefined ? {} : { maxAgeMs: maxAgeSeconds * SECOND_MS };
  }
  const own = source.times?.(block);
  const everySeconds = read.everySeconds ?? own?.everySeconds;
  const {
    maxAgeSeconds = Math.max(LEAST_AGE_SECONDS, 3 * (everySeconds ?? 0), own?.leastAgeSeconds ?? 0),
  } = read;
  return {
    ...(everySeconds !== undefined && { everyMs: everySeconds * SECOND_MS }),
    maxAgeMs: maxAgeSeconds * SECOND_MS,
  };
};

const LEAST_AGE_SECONDS = 180;

export const isOfRegistered = (read: MetricRead): boolean =>
  readSource(read)[0].asking.way === "registered";

const sourceOf = (read: MetricRead): NativeSource => {
  const [source, block] = readSource(read);
  return source.specOf(block);
};

const level = (quantity: Quantity | undefined): bigint => (quantity ? milliOf(quantity) : 0n);

const bandOf = ({ target, tolerance, watermarks }: MetricRead): Band => {
  if (watermarks)
    return {
      kind: "watermarks",
      lowMilli: level(watermarks.low),
      highMilli: level(watermarks.high),
    };
  return {
    kind: "target",
    milli: level(target),
    ...(tolerance?.up && { toleranceUp: floatOf(tolerance.up) }),
    ...(tolerance?.down && { toleranceDown: floatOf(tolerance.down) }),
  };
};

const onMissingOf = ({
  action,
  replicas = 1,
  afterSeconds = 0,
}: MetricRead["onMissing"]): OnMissing =>
  action === "fallback" ? { action, replicas, afterSeconds } : { action };
