import type {
  Answer,
  Container,
  MeasuredSamples,
  MetricValue,
  Observation,
  Pod,
  PodMetrics,
  QuestionKey,
} from "../rules/model/observation.ts";
import { queryKey } from "../rules/model/query.ts";
import type { LabelIndex } from "../rules/model/selector.ts";
import { noAnswer } from "../rules/sources/source.ts";
import { sourceOf } from "../rules/sources/sources.ts";
import { type RunningMetric, SCRAPE_MS, scrapeAt } from "./load.ts";
import { POD_LABELS, POD_SELECTOR, type ReplayedPods, type SeenPod } from "./pods.ts";
import type { RecordedPods } from "./recorded-pods.ts";

/** A container that runs for a shorter time at its first scrape waits for the second one. */
const FRESHEST_MS = 10_000;

/** Everything that can be observed of a workload. */
export interface ReplayedScene {
  readonly pods: ReplayedPods;
  readonly metrics: readonly RunningMetric[];
  readonly container: string;
}

/** A metric with the question that its source would be asked. */
interface Asked {
  readonly metric: RunningMetric;
  readonly key: QuestionKey;
  readonly of: "use" | "pods" | "whole";
  /** Of a use: the resource. */
  readonly resource: string;
}

/**
 * What a sync would read of the workload, as the cluster and the sources would answer it; with
 * `recorded`, of the pods that a recorded sync saw.
 */
export type Observe = (nowMs: number, recorded?: RecordedPods) => Observation;

/** The questions follow from the metrics and the namespace, so they are made once. */
export const observerOf = (workload: ReplayedScene, namespace: string): Observe => {
  const asked = workload.metrics.flatMap((metric) => askedOf(metric, namespace));
  const used = asked.filter(({ of }) => of === "use");
  const others: readonly never[] = [];
  return (nowMs, recorded) => {
    const { pods } = workload;
    const seen = recorded
      ? podsAsRecorded(workload, used, { nowMs, recorded })
      : podsNow(workload, used, nowMs);
    const answers = new Map<QuestionKey, Answer<MeasuredSamples>>();
    if (used[0]) answers.set(used[0].key, seen.use());
    for (const one of asked)
      if (one.of !== "use") answers.set(one.key, valuesAnswer(one, seen, nowMs));
    return {
      scale: {
        kind: "read",
        specReplicas: pods.count,
        statusReplicas: pods.count,
        selector: POD_SELECTOR,
        uid: "replayed",
        resourceVersion: "1",
      },
      pods: seen.pods,
      answers,
      // A monitor is not recorded: the replay is of a time in which it was well.
      monitor: { kind: "found", state: "OK" },
      others,
    };
  };
};

const askedOf = (metric: RunningMetric, namespace: string): readonly Asked[] => {
  const { source: spec } = metric.metric.level;
  const source = sourceOf(spec);
  const query = source.queryOf(spec, { namespace, podSelector: POD_SELECTOR });
  if (!query) return [];
  const isUse = source.asking.way === "list";
  const of = isUse ? "use" : source.samplesOf;
  const resource = "name" in spec ? spec.name : "";
  return [{ metric, key: queryKey(query), of, resource }];
};

const MISSING: Answer<never> = noAnswer("nothing was recorded of this time", "NotRecorded");

/** A list of which the selector of the workload selects each. */
const labelled = <Of>(all: readonly Of[]): LabelIndex<Of> => ({
  all,
  select: () => all,
  looksAt: () => all.length,
});

/** The pods of one sync: so many share a load, these give a value each, and what they use. */
interface PodsOfSync {
  readonly pods: LabelIndex<Pod>;
  readonly ready: number;
  readonly names: () => readonly string[];
  readonly use: () => Answer<LabelIndex<PodMetrics>>;
}

const podsNow = (workload: ReplayedScene, used: readonly Asked[], nowMs: number): PodsOfSync => {
  const { pods } = workload;
  const { ready } = pods;
  return {
    ...{ pods: pods.seen(nowMs), ready },
    names: () => pods.all.slice(0, ready).map(({ name }) => name),
    use: () => useAnswer(workload, used, nowMs),
  };
};

const podsAsRecorded = (
  workload: ReplayedScene,
  used: readonly Asked[],
  { nowMs, recorded }: { readonly nowMs: number; readonly recorded: RecordedPods },
): PodsOfSync => {
  const seen = workload.pods.seenAs(recorded, nowMs);
  return {
    pods: labelled(seen.map(({ pod }) => pod)),
    ready: recorded.ready,
    names: () => seen.slice(0, recorded.counted).map(({ pod }) => pod.name),
    use: () => recordedUse(workload, used, { nowMs, seen, served: recorded.served }),
  };
};

const valuesAnswer = (
  { metric, of }: Asked,
  { ready, names }: Pick<PodsOfSync, "ready" | "names">,
  nowMs: number,
): Answer<readonly MetricValue[]> => {
  const whole = of === "pods" ? metric.perPodMilli(ready) : metric.wholeMilli(ready);
  if (Number.isNaN(metric.reader.value)) return MISSING;
  if (Number.isNaN(whole)) return { kind: "answered", items: [] };
  const milli = BigInt(Math.round(whole));
  if (of === "whole") return { kind: "answered", items: [{ milli, timestampMs: nowMs }] };
  return {
    kind: "answered",
    items: names().map((name) => ({ describes: name, milli, timestampMs: nowMs })),
  };
};

/** What each pod used between the last two scrapes. */
const useAnswer = (
  { pods, container }: ReplayedScene,
  used: readonly Asked[],
  nowMs: number,
): Answer<LabelIndex<PodMetrics>> => {
  const atMs = scrapeAt(nowMs);
  if (used.some(({ metric }) => isUnknown(metric, atMs))) return MISSING;
  const containersOf = (fromMs: number, readyMs: number): PodMetrics["containers"] => [
    {
      name: container,
      usage: Object.fromEntries(
        used.map(({ metric, resource }) => [
          resource,
          isOnce(metric)
            ? useOnce(metric, pods, { readyMs, atMs })
            : useBetween(metric, { fromMs, readyMs, atMs }),
        ]),
      ),
    } satisfies Pick<Container, "name"> & PodMetrics["containers"][number],
  ];
  let whole: PodMetrics["containers"] | undefined;
  const items: PodMetrics[] = [];
  for (const { name, runningMs, readyMs } of pods.all) {
    const fromMs = Math.max(atMs - SCRAPE_MS, runningMs);
    const isFresh = runningMs > atMs - SCRAPE_MS;
    if (fromMs >= atMs || (isFresh && atMs - fromMs < FRESHEST_MS)) continue;
    const isWhole = readyMs <= fromMs && !isFresh;
    if (isWhole) whole ??= containersOf(fromMs, fromMs);
    const containers = isWhole && whole ? whole : containersOf(fromMs, readyMs);
    items.push({
      name,
      labels: POD_LABELS,
      timestampMs: atMs,
      windowMs: atMs - fromMs,
      containers,
    });
  }
  return {
    kind: "answered",
    items: labelled(items),
  };
};

/** The same of the pods that a recorded sync saw: the value that it read, at its own scrape. */
const recordedUse = (
  { container }: ReplayedScene,
  used: readonly Asked[],
  {
    nowMs,
    seen,
    served,
  }: {
    readonly nowMs: number;
    readonly seen: readonly SeenPod[];
    readonly served: number;
  },
): Answer<LabelIndex<PodMetrics>> => {
  const timestampMs = scrapeAt(nowMs);
  if (used.some(({ metric }) => Number.isNaN(metric.reader.value))) return MISSING;
  const usage = Object.fromEntries(
    used.map(({ metric, resource }) => [resource, milliOf(metric.perPodMilli(served))]),
  );
  const more = { timestampMs, windowMs: SCRAPE_MS, containers: [{ name: container, usage }] };
  const items = seen
    .filter(({ hasSample }) => hasSample)
    .map(({ pod: { name } }): PodMetrics => ({ name, labels: POD_LABELS, ...more }));
  return { kind: "answered", items: labelled(items) };
};

const isOnce = ({ metric: { model } }: RunningMetric): boolean =>
  model.kind === "shared" && model.at === "once";

/**
 * On doubt, a missing metric: use is what two scrapes differ by, so the first one after a gap says
 * nothing.
 */
const isUnknown = (metric: RunningMetric, atMs: number): boolean =>
  isOnce(metric) ? Number.isNaN(metric.reader.value) : metric.unknownMs > atMs - SCRAPE_MS;

/**
 * A mean that was recorded, shared by the pods that served when the time of the mean began: pods
 * that serve since then do not count in it yet. Nothing of a pod that starts.
 */
const useOnce = (
  metric: RunningMetric,
  pods: ReplayedPods,
  { readyMs, atMs }: { readonly readyMs: number; readonly atMs: number },
): bigint => {
  if (readyMs > atMs) return 0n;
  const served = pods.readyAt(atMs - SCRAPE_MS) || pods.ready;
  return milliOf(metric.perPodMilli(served));
};

const milliOf = (milli: number): bigint => BigInt(Math.ceil(milli - ROUNDING));

/** Products and quotients of whole numbers are not exact, and 62.0000001 is 62. */
const ROUNDING = 1e-6;

/** The mean of a pod over a part of the time, idle until it is ready; rounded up as quantities are. */
const useBetween = (
  { metric: { model }, use }: RunningMetric,
  {
    fromMs,
    readyMs,
    atMs,
  }: { readonly fromMs: number; readonly readyMs: number; readonly atMs: number },
): bigint => {
  const sinceMs = Math.min(atMs, Math.max(fromMs, readyMs));
  const idle = model.kind === "shared" ? model.idleMilli * (sinceMs - fromMs) : 0;
  const loaded = sinceMs < atMs ? use.usedAt(atMs) - use.usedAt(sinceMs) : 0;
  return BigInt(Math.ceil((idle + loaded) / (atMs - fromMs)));
};
