import type { MetricLevel } from "../rules/policy/shared/levels.ts";
import { type Series, StepReader } from "./series.ts";

/**
 * How the value of a metric follows from a load and the pods that serve it. Values are thousandths,
 * as the rules read them.
 *
 * - `shared`: the pods that are ready share the load, and each has so much of its own and no more
 *   than its limit. A recorded utilisation belongs to the recorded count, so it is never one of
 *   these by itself: the load is the value times the pods that served it.
 * - `total`: the value is the load, however many pods there are.
 * - `backlog`: what arrives and is not served waits, and the value is what waits.
 */
export type MetricModel =
  | {
      readonly kind: "shared";
      readonly load: Series;
      readonly eachMilli: number;
      readonly idleMilli: number;
      readonly mostMilli: number;
      /**
       * A use is the mean between two scrapes. `once`: the load was worked out of such means, and
       * is read as it is.
       */
      readonly at?: "once";
    }
  | { readonly kind: "total"; readonly load: Series; readonly eachMilli: number }
  | {
      readonly kind: "backlog";
      /** What arrives in a step. */
      readonly load: Series;
      readonly eachMilli: number;
      /** What a pod serves in a step. */
      readonly servedByPod: number;
      readonly stepMs: number;
    };

/** A metric of a policy, and what stands in for its source in a replay. */
export interface ReplayedMetric {
  readonly level: MetricLevel;
  readonly model: MetricModel;
}

/** Whether it is the use of a resource, which is measured by scrapes. */
export const isUse = ({ source }: MetricLevel): boolean =>
  source.type === "Resource" || source.type === "ContainerResource";

/** How much of a load one pod takes: so many pods are needed as that goes into the load. */
export interface PodShare {
  readonly load: Series;
  readonly perPod: number;
}

/** A percentage in thousandths of a percent, as a share. */
const PERCENT_MILLI = 100_000;

/**
 * How much of its load a pod takes at the level of a metric, or of a backlog what it serves;
 * nothing where no number of pods brings the value to the level. `baseMilli`: what a percentage is
 * of.
 */
export const shareAtLevel = (
  { level, model }: ReplayedMetric,
  baseMilli: number,
): readonly PodShare[] => {
  if (level.milli === undefined) return [];
  if (model.kind === "backlog") return [{ load: model.load, perPod: model.servedByPod }];
  const milli =
    level.measure === "Percent"
      ? (Number(level.milli) / PERCENT_MILLI) * baseMilli
      : Number(level.milli);
  if (model.kind === "total")
    return level.measure === "Average"
      ? [{ load: model.load, perPod: milli / model.eachMilli }]
      : [];
  const perPod = (milli - model.idleMilli) / model.eachMilli;
  return perPod > 0 ? [{ load: model.load, perPod }] : [];
};

/** Use is the mean between two scrapes of the metrics server, which come so often. */
export const SCRAPE_MS = 15_000;
/** The last scrape that a sync sees. */
export const scrapeAt = (nowMs: number): number => Math.floor(nowMs / SCRAPE_MS) * SCRAPE_MS;
/** Two scrapes, and what may lie between them and a sync. */
const LOOK_BACK_MS = 60_000;

interface Span {
  readonly fromMs: number;
  readonly milli: number;
  /** What a pod that was ready all the time had used by then, in thousandths × ms. */
  readonly used: number;
}

/** The use of a pod that is ready, over the last minute. */
export class UseOfPod {
  #spans: Span[] = [];

  begin(fromMs: number, milli: number): void {
    const last = this.#spans.at(-1);
    if (last?.milli === milli) return;
    const used = last ? last.used + last.milli * (fromMs - last.fromMs) : 0;
    const kept = this.#spans.filter(
      (_, at) => (this.#spans[at + 1]?.fromMs ?? fromMs) > fromMs - LOOK_BACK_MS,
    );
    this.#spans = [...kept, { fromMs, milli, used }];
  }

  /** Before the first span the use is taken to have been the same. */
  usedAt(atMs: number): number {
    const span = this.#spans.findLast(({ fromMs }) => fromMs <= atMs) ?? this.#spans[0];
    return span ? span.used + span.milli * (atMs - span.fromMs) : Number.NaN;
  }
}

/** One metric while it is replayed. */
export class RunningMetric {
  readonly metric: ReplayedMetric;
  readonly reader: StepReader;
  readonly use = new UseOfPod();
  /** Of a backlog. */
  waiting = 0;
  /** The last instant at which nobody knew the load. */
  unknownMs = Number.NEGATIVE_INFINITY;

  constructor(metric: ReplayedMetric) {
    this.metric = metric;
    this.reader = new StepReader(metric.model.load);
  }

  /** What each pod that is ready has of it; NaN where it is unknown, or no pod is ready. */
  perPodMilli(ready: number): number {
    const { model } = this.metric;
    if (model.kind !== "shared" || ready === 0) return Number.NaN;
    return Math.min(
      model.mostMilli,
      model.idleMilli + (model.eachMilli * this.reader.value) / ready,
    );
  }

  /** The value of the whole; NaN where it is unknown. */
  wholeMilli(ready: number): number {
    const { model } = this.metric;
    if (model.kind === "backlog")
      return Number.isNaN(this.reader.value)
        ? Number.NaN
        : Math.ceil(this.waiting) * model.eachMilli;
    if (model.kind === "total") return this.reader.value * model.eachMilli;
    return this.perPodMilli(ready);
  }

  /** Lets a time pass in which neither the load nor the pods change. */
  pass(fromMs: number, toMs: number, ready: number): void {
    const { model } = this.metric;
    const isUnknown = Number.isNaN(this.reader.value);
    if (isUnknown) this.unknownMs = toMs;
    if (model.kind === "shared")
      this.use.begin(fromMs, isUnknown || ready === 0 ? model.idleMilli : this.perPodMilli(ready));
    if (model.kind !== "backlog" || isUnknown) return;
    const steps = (toMs - fromMs) / model.stepMs;
    const more = (this.reader.value - ready * model.servedByPod) * steps;
    this.waiting = Math.max(0, this.waiting + more);
  }
}
