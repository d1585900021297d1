import { basename } from "node:path";
import { measured, usualPod } from "../../embedded/run/played-load.ts";
import { divided } from "../../embedded/run/option-values.ts";
import { readTrace } from "../../embedded/traces/read-trace.ts";
import { holdsUntilMs, spanMs, type Trace } from "../../embedded/traces/trace.ts";
import { rfc3339 } from "../../answers/service/times.ts";
import type { TimeSpan } from "../../replay/figures.ts";
import { DAY_MS, HOUR_MS } from "../../rules/model/time-text.ts";
import { constantSeries, productOf, type Series, stepSeries } from "../../replay/series.ts";
import type { MetricModel } from "../../replay/load.ts";
import { capacityOf, type LoadedPod, type TracedLoad } from "../../replay/traced.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { lengthMs } from "../options/time-options.ts";
import { refuseShort } from "./candidates.ts";
import { COUNTER_WORDS, onlyRises, refuseCounter } from "./counter.ts";
import { usage } from "../usage-error.ts";

/** The options that say what a recorded load is of, and what serves it. */
export interface TraceOptions {
  readonly trace: string;
  readonly pods?: string;
  readonly capacity?: string;
  readonly podStart?: string;
  readonly podIdle?: string;
  readonly metric?: readonly string[];
  readonly model?: readonly string[];
  readonly warmUp?: string;
}

export interface TraceInput {
  readonly name: string;
  readonly unit: string;
  /** As a counter does, which is no load. */
  readonly onlyRises: boolean;
  readonly traced: TracedLoad;
  readonly podStartMs: number;
  readonly fromMs: number;
  /** 1 while pods used all that they ask for. Absent where the values are not of pods. */
  readonly cutOff?: Series;
  /** From here on is counted: before it the windows warm up. */
  readonly countedMs: number;
  readonly untilMs: number;
}

const DEFAULT_POD_START_MS = 30_000;
/** Most of a warm-up: no window that people use is longer. */
const WARM_UP_MS = HOUR_MS;
/** A short load must not go into the warm-up. */
const WARM_UP_SHARE = 0.1;

/** Reads the load and what it is of. Throws `trace.*` and usage errors, with the option. */
export const readTraceInput = async (options: TraceOptions): Promise<TraceInput> => {
  const trace = await readTrace(options.trace);
  refuseCounter(basename(options.trace), trace);
  const load = await loadOf(trace, options.pods);
  const isOfPods = options.pods !== undefined && options.capacity === undefined;
  const own = new Map<string, Series>();
  for (const [name, file] of (options.metric ?? []).map(divided)) {
    if (name === "" || file === "")
      throw usage(`Cannot read --metric "${name}${file}": give NAME=FILE`);
    const values = await readTrace(file);
    refuseCounter(basename(file), values);
    own.set(name, seriesOfTrace(values));
  }
  const [fromMs] = load.times;
  if (fromMs === undefined) throw new RangeError("A trace has at least one sample");
  const lengthOfLoad = load.endMs - fromMs;
  refuseLong(basename(options.trace), { fromMs, untilMs: load.endMs });
  const warmUpMs =
    options.warmUp === undefined
      ? Math.min(WARM_UP_MS, lengthOfLoad * WARM_UP_SHARE)
      : lengthMs("--warm-up", options.warmUp, 0);
  if (warmUpMs >= lengthOfLoad)
    throw usage(`Cannot use --warm-up "${options.warmUp}": the load is not longer than that`);
  const countedMs = fromMs + warmUpMs;
  refuseShort(
    basename(options.trace),
    { fromMs: countedMs, untilMs: load.endMs },
    "give a longer load, or a shorter --warm-up",
  );
  return {
    name: basename(options.trace),
    unit: trace.unit,
    onlyRises: onlyRises(trace),
    ...(isOfPods && { cutOff: saturatedSeries(seriesOfTrace(trace)) }),
    traced: {
      load,
      stepMs: trace.stepMs,
      pod: podOf(trace, options),
      own,
      models: modelsOf(options),
    },
    podStartMs:
      options.podStart === undefined
        ? DEFAULT_POD_START_MS
        : lengthMs("--pod-start", options.podStart, 0),
    fromMs,
    countedMs,
    untilMs: load.endMs,
  };
};

/** What is taken to be so of a load and of the pods that serve it. */
export const traceWords = (
  input: Pick<TraceInput, "traced" | "podStartMs" | "onlyRises">,
): readonly string[] => [
  `A pod serves ${Number(capacityOf(input.traced.pod).toPrecision(3))} of it at most (--capacity), and ${ageText(input.podStartMs)} after the scale (--pod-start)`,
  ...(input.onlyRises ? [COUNTER_WORDS] : []),
];

/** Each minute of a load has a place in memory, also in its gaps: one wrong time is no load. */
const LONGEST_DAYS = 1_100;

const refuseLong = (of: string, { fromMs, untilMs }: TimeSpan): void => {
  const days = Math.ceil((untilMs - fromMs) / DAY_MS);
  if (days <= LONGEST_DAYS) return;
  throw usage(
    `Cannot use the load of "${of}": it has ${days} days, from ${rfc3339(fromMs)} to ${rfc3339(untilMs)}, and at most ${LONGEST_DAYS} are replayed; look for a wrong time, or cut the file`,
  );
};

/** A sample holds until the next one; a gap is unknown. */
export const seriesOfTrace = (trace: Trace): Series => {
  const steps = trace.points.flatMap(({ atMs, value }, at): (readonly [number, number])[] => {
    const goodUntilMs = holdsUntilMs(trace, at);
    const nextMs = trace.points[at + 1]?.atMs ?? goodUntilMs;
    return goodUntilMs < nextMs
      ? [
          [atMs, value],
          [goodUntilMs, Number.NaN],
        ]
      : [[atMs, value]];
  });
  const firstMs = trace.points[0]?.atMs ?? 0;
  return stepSeries(steps, firstMs + spanMs(trace));
};

/** 1 where a percentage is all that a pod asks for: more than that may have been wanted. */
const saturatedSeries = ({ times, values, endMs }: Series): Series =>
  stepSeries(
    [...times].map((atMs, at) => [atMs, (values[at] ?? 0) >= PERCENT ? 1 : 0] as const),
    endMs,
  );

/** With `--pods` the values are of one pod each: the load is the value times the pods of then. */
const loadOf = async (trace: Trace, pods: string | undefined): Promise<Series> => {
  const series = seriesOfTrace(trace);
  if (pods === undefined) return series;
  const counts = /^\d+(\.\d+)?$/.test(pods)
    ? constantSeries(positive("--pods", pods), series)
    : seriesOfTrace(await readTrace(pods));
  return productOf(series, counts);
};

/** A percentage of the request that is recorded beside pods: a pod serves 100 of it. */
const PERCENT = 100;

/** What a pod uses of its CPU request without a load, where nobody says it. */
const IDLE_PERCENT = 1;

/** What `--pod-idle` says, in percent. Throws a usage error. */
export const idlePercentOf = (text: string | undefined): number => {
  if (text === undefined) return IDLE_PERCENT;
  const percent = /^\d+(\.\d+)?%?$/.test(text) ? Number(text.replace("%", "")) : Number.NaN;
  if (percent < PERCENT) return percent;
  throw usage(
    `Cannot read --pod-idle "${text}": give a percentage of the CPU request below 100 %, such as "2%"`,
  );
};

const podOf = (trace: Trace, { capacity, pods, podIdle }: TraceOptions): LoadedPod => {
  const served =
    capacity === undefined
      ? pods === undefined
        ? undefined
        : PERCENT
      : positive("--capacity", capacity);
  const { requests, limits, cpuMillicoresPerUnit } = measured(
    { ...(served !== undefined && { capacity: served }) },
    usualPod(trace),
  );
  const idleMilli = (requests.cpuMillicores * idlePercentOf(podIdle)) / PERCENT;
  return {
    requestMilli: requests.cpuMillicores,
    limitMilli: limits.cpuMillicores,
    idleMilli,
    eachMilli:
      served === undefined ? cpuMillicoresPerUnit : (requests.cpuMillicores - idleMilli) / served,
  };
};

const positive = (option: string, text: string): number => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw usage(`Cannot read ${option} "${text}": give a number greater than 0`);
};

const MODELS: readonly MetricModel["kind"][] = ["shared", "total", "backlog"];

/** The models of `--model`, by the name of the metric. Throws a usage error. */
export const modelsOf = ({
  model = [],
}: {
  readonly model?: readonly string[];
}): TracedLoad["models"] =>
  new Map(
    model.map((given) => {
      const [name, word] = divided(given);
      const kind = MODELS.find((each) => each === word);
      if (name === "" || kind === undefined)
        throw usage(`Cannot read --model "${given}": give NAME=${MODELS.join(" or NAME=")}`);
      return [name, kind] as const;
    }),
  );
