import { NEW_WINDOWS } from "../rules/model/windows.ts";
import type { Observation } from "../rules/model/observation.ts";
import { milliOfText } from "../rules/model/quantity.ts";
import type { Sample, SampleMetric } from "../rules/model/scale-records.ts";
import { DEFAULT_SETTINGS } from "../rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../rules/model/spec.ts";
import { autoscalerName, namespace } from "../rules/model/ids.ts";
import { decide } from "../rules/policy/decide.ts";
import { levelsOf } from "../rules/policy/dialects.ts";
import type { MetricLevel } from "../rules/policy/shared/levels.ts";
import { measureKey } from "../rules/policy/shared/measures.ts";
import { shortMetricName } from "../rules/policy/shared/scale-sentence.ts";
import { sourceOf } from "../rules/sources/sources.ts";
import { type CutOffPercent, exactPercents } from "./exact-percent.ts";
import { isUse, type MetricModel, type ReplayedMetric } from "./load.ts";
import { POD_SELECTOR } from "./pods.ts";
import { beganMs, type Recorded, readyOf, sampledSeries } from "./recorded.ts";
import { servedIn } from "./recorded-pods.ts";
import type { Series } from "./series.ts";
import { delayRefused, type NotReplayed } from "./traced.ts";

/** The models that a person chose, by the name of the metric. */
export type ChosenModels = ReadonlyMap<string, MetricModel["kind"]>;

/** A load that was worked out of recorded values, and the model that it is of. */
interface RecordedLoad {
  readonly kind: "shared" | "total";
  readonly load: Series;
  /** Of a utilisation, in percent: what each pod has without a load. */
  readonly idle: number;
}

/** What was measured, by what measures it. */
export type RecordedLoads = ReadonlyMap<string, RecordedLoad>;

const PERCENT_REQUEST_MILLI = 100_000;
/** One percent of what a replayed pod asks for. */
const MILLI_OF_PERCENT = PERCENT_REQUEST_MILLI / 100;

/** What a replayed pod asks for, so that a percentage is one of it. */
export const RECORDED_REQUEST_MILLI = PERCENT_REQUEST_MILLI;

/**
 * The loads behind what the specs of a time measured, or why there is none of a metric.
 * `idlePercent`: what a pod uses of its request without a load.
 */
export const recordedLoads = (
  recorded: Recorded,
  inside: string,
  models: ChosenModels,
  idlePercent = 0,
): { readonly loads: RecordedLoads; readonly refused: ReadonlyMap<string, NotReplayed> } => {
  const loads = new Map<string, RecordedLoad>();
  const refused = new Map<string, NotReplayed>();
  const found = recorded.specs.map(({ fromMs, spec }) => ({ fromMs, metrics: namedLevels(spec) }));
  for (const { level } of found.flatMap(({ metrics }) => metrics)) {
    const key = measureKey(level, inside);
    if (loads.has(key) || refused.has(key)) continue;
    const made = loadOf(recorded, level, {
      chosen: models.get(level.name),
      nameAt: namesOf(found, key, inside),
      idlePercent,
    });
    if ("why" in made) refused.set(key, made);
    else loads.set(key, made);
  }
  return { loads, refused };
};

/** The load behind the values of a metric, or why there is none. */
const loadOf = (
  recorded: Recorded,
  level: MetricLevel,
  {
    chosen,
    nameAt,
    idlePercent,
  }: {
    readonly idlePercent: number;
    readonly chosen: MetricModel["kind"] | undefined;
    readonly nameAt: (atMs: number) => string | undefined;
  },
): RecordedLoad | NotReplayed => {
  const kind = modelOf(level, chosen);
  if (typeof kind !== "string") return kind;
  const wrong =
    chosen === undefined && kind === "shared" ? notShared(recorded, level, nameAt) : undefined;
  if (wrong) return wrong;
  const values = valuesOf(recorded, nameAt);
  const idle = isUse(level) && level.measure === "Percent" && kind === "shared" ? idlePercent : 0;
  return {
    kind,
    idle,
    load: sampledSeries(
      recorded,
      (sample, at) => {
        const value = values[at];
        if (value === undefined) return Number.NaN;
        const loaded = Math.max(0, value - idle);
        return loadIn(sample, loaded, {
          level,
          kind,
          pods: isUse(level) ? servedIn(recorded, at) : readyOf(sample),
        });
      },
      beganMs,
    ),
  };
};

/** The metrics of a policy on what was recorded; those that were not are named. */
export const recordedMetrics = (
  spec: AutoscalerSpec,
  { loads, refused }: ReturnType<typeof recordedLoads>,
  inside: string,
):
  | { readonly metrics: readonly ReplayedMetric[] }
  | { readonly refused: readonly NotReplayed[] } => {
  const levels = levelsOf(spec).filter(({ source }) => source.type !== "Formula");
  const problems = levels.flatMap((level) => {
    const key = measureKey(level, inside);
    if (loads.has(key)) return [];
    const otherMeasure = level.measure === "Percent" ? "Average" : "Percent";
    const isOtherUnit =
      isUse(level) && loads.has(measureKey({ ...level, measure: otherMeasure }, inside));
    return [refused.get(key) ?? { of: level.name, why: isOtherUnit ? OTHER_UNIT : NOT_RECORDED }];
  });
  if (levels.length === 0)
    return { refused: [{ of: "spec", why: "it has no metric that is recorded" }] };
  if (problems.length > 0) return { refused: problems };
  return {
    metrics: levels.flatMap((level) => {
      const recorded = loads.get(measureKey(level, inside));
      return recorded ? [{ level, model: modelWith(level, recorded) }] : [];
    }),
  };
};

const NOT_RECORDED =
  "the recorded policy did not measure it, so its values are not stored; apply it with scaleUpOnly or dryRun first";

const OTHER_UNIT =
  "what the pods ask for is not stored, so that a percentage says nothing of an amount; write the target in the unit that was recorded";

const modelWith = ({ measure }: MetricLevel, { kind, load, idle }: RecordedLoad): MetricModel => {
  if (kind === "total") return { kind, load, eachMilli: 1 };
  const eachMilli = measure === "Percent" ? MILLI_OF_PERCENT : 1;
  const idleMilli = idle * MILLI_OF_PERCENT;
  return { kind, load, eachMilli, idleMilli, mostMilli: Number.POSITIVE_INFINITY, at: "once" };
};

/** How the value of a metric follows from a load; why it does not, where nobody chose a model. */
const modelOf = (
  level: MetricLevel,
  chosen: MetricModel["kind"] | undefined,
): RecordedLoad["kind"] | NotReplayed => {
  const { name, source, measure } = level;
  if (chosen === "shared" || chosen === "total") return chosen;
  if (source.type === "Sqs" || chosen === "backlog")
    return {
      of: name,
      why: `what waits is recorded, and not what arrives; --model ${name}=total takes it as it was`,
    };
  if (source.type === "Formula")
    return { of: name, why: "what a formula was calculated from is not recorded" };
  if ("name" in source && source.name !== "cpu")
    return {
      of: name,
      why: `the use of ${source.name} does not follow from a load; --model ${name}=shared takes it to`,
    };
  const [refused] = delayRefused(level);
  if (refused) return refused;
  return sourceOf(source).samplesOf === "pods" || measure === "Total" ? "shared" : "total";
};

/** So many changes of the count show whether a value follows them. */
const CHANGES_LEAST = 5;
/** A change of the pods that is larger than the noise of most values. */
const CHANGE_LEAST = Math.log(1.2);

/**
 * Whether a value that is compared as a whole stayed as it was when the pods changed. Its target
 * counts on it that the value falls as pods are added, and such a replay would be wrong by factors.
 */
const notShared = (
  { samples }: Recorded,
  { name, measure }: MetricLevel,
  nameAt: (atMs: number) => string | undefined,
): NotReplayed | undefined => {
  if (measure !== "Total") return undefined;
  const changes = samples.flatMap((sample, at) => {
    const before = samples[at - 1];
    const [value, earlier] = [sample, before].map((one) => one && numberOf(one, nameAt(one.atMs)));
    const pods = Math.log(readyOf(sample) / (before ? readyOf(before) : Number.NaN));
    if (!value || !earlier || !(Math.abs(pods) >= CHANGE_LEAST)) return [];
    const moved = Math.log(value / earlier);
    return [{ alone: Math.abs(moved), shared: Math.abs(moved + pods) }];
  });
  const middle = (of: "alone" | "shared"): number =>
    changes.map((change) => change[of]).toSorted((one, other) => one - other)[
      Math.floor(changes.length / 2)
    ] ?? 0;
  if (changes.length < CHANGES_LEAST || middle("alone") * 2 >= middle("shared")) return undefined;
  return {
    of: name,
    why: `its value stayed as it was in ${changes.length} changes of the pods, and its target counts on it that it falls as pods are added; --model ${name}=total takes it as it was`,
  };
};

const metricIn = ({ metrics }: Sample, name: string | undefined): SampleMetric | undefined =>
  metrics.find((each) => each.name === name);

const numberOf = (sample: Sample, name: string | undefined): number | undefined => {
  const metric = metricIn(sample, name);
  return metric && numberIn(metric);
};

interface NamedLevel {
  readonly level: MetricLevel;
  /** As samples name it. */
  readonly name: string;
}

/** The metrics of a spec with the names that evaluations give them, in their order. */
const namedLevels = (spec: AutoscalerSpec): readonly NamedLevel[] => {
  const levels = levelsOf(spec).filter(({ milli }) => milli !== undefined);
  const { schedule: _whenever, ...always } = spec;
  const { metrics } = decide({
    namespace: namespace("default"),
    name: autoscalerName("names"),
    spec: always,
    settings: DEFAULT_SETTINGS,
    observation: nothingSeenOf(Math.max(1, spec.minReplicas)),
    windows: NEW_WINDOWS,
    nowMs: 0,
  });
  return levels.flatMap((level, at) => {
    const outcome = metrics[at];
    return outcome ? [{ level, name: shortMetricName(outcome.name) }] : [];
  });
};

/** A workload inside its bounds, of which nothing else is known. */
const nothingSeenOf = (count: number): Observation => ({
  scale: {
    kind: "read",
    ...{ specReplicas: count, statusReplicas: count, selector: POD_SELECTOR },
    ...{ uid: "names", resourceVersion: "1" },
  },
  pods: { all: [], select: () => [], looksAt: () => 0 },
  answers: new Map(),
  others: [],
});

/** The name that a metric has in the samples of a time. */
const namesOf = (
  found: readonly { readonly fromMs: number; readonly metrics: readonly NamedLevel[] }[],
  key: string,
  inside: string,
): ((atMs: number) => string | undefined) => {
  const names = found.map(({ fromMs, metrics }) => ({
    fromMs,
    name: metrics.find(({ level }) => measureKey(level, inside) === key)?.name,
  }));
  return (atMs) => (names.findLast(({ fromMs }) => fromMs <= atMs) ?? names[0])?.name;
};

/** The load that the value of a sample shows; NaN where no pod served. */
const loadIn = (
  sample: Sample,
  value: number,
  {
    level: { source, measure },
    kind,
    pods: served,
  }: { readonly level: MetricLevel; readonly kind: RecordedLoad["kind"]; readonly pods: number },
): number => {
  if (kind === "shared") {
    const isShare = measure !== "Average" || sourceOf(source).samplesOf === "pods";
    const pods = isShare ? served : (sample.current ?? served);
    return pods > 0 ? value * pods : Number.NaN;
  }
  return measure === "Average" ? totalOf(value, sample.current ?? Number.NaN) : value;
};

/** From a whole amount down to thousandths. */
const STEPS_MILLI = [1_000, 100, 10] as const;

/**
 * The total behind a mean that was rounded up to thousandths: the roundest number that has this
 * mean. The mean times the pods can be above the total, and a total of exactly 17 targets would
 * then ask for 18 pods.
 */
const totalOf = (meanMilli: number, pods: number): number => {
  const most = meanMilli * pods;
  for (const step of STEPS_MILLI) {
    const round = Math.floor(most / step) * step;
    if (round > most - pods) return round;
  }
  return most;
};

/** The values of a metric in each sample, percentages with what was cut off of them. */
const valuesOf = (
  { samples }: Recorded,
  nameAt: (atMs: number) => string | undefined,
): readonly (number | undefined)[] => {
  const metrics = samples.map((sample) => metricIn(sample, nameAt(sample.atMs)));
  const percents = exactPercents(metrics.map((metric) => metric && percentIn(metric)));
  return metrics.map((metric, at) => percents[at] ?? (metric && numberIn(metric)));
};

const percentIn = ({ value, average }: SampleMetric): CutOffPercent | undefined => {
  if (!value?.endsWith("%")) return undefined;
  const averageMilli = average === undefined ? undefined : milliOfText(average);
  return {
    percent: Number(value.slice(0, -1)),
    ...(averageMilli !== undefined && { averageMilli: Number(averageMilli) }),
  };
};

/** A percentage as it was recorded, or an amount in thousandths. */
const numberIn = ({ value }: SampleMetric): number | undefined => {
  if (value === undefined) return undefined;
  if (value.endsWith("%")) return Number(value.slice(0, -1));
  const milli = milliOfText(value);
  return milli === undefined ? undefined : Number(milli);
};
