import { isUse, type PodShare, type RunningMetric, SCRAPE_MS, scrapeAt } from "./load.ts";
import type { MinuteRecord, SteadySpan } from "./minutes.ts";
import type { ReplayedPods } from "./pods.ts";
import { type Series, StepReader } from "./series.ts";

interface ReadShare {
  readonly reader: StepReader;
  readonly perPod: number;
}

/** What of a workload passes with time. */
interface Passing {
  readonly target: readonly PodShare[];
  readonly served?: PodShare;
  readonly cutOff?: Series;
}

/** Lets time pass from one change of the load or of the pods to the next, and records it. */
export class ReplayedTime {
  readonly #pods: ReplayedPods;
  readonly #record: MinuteRecord;
  readonly #target: readonly ReadShare[];
  readonly #served: ReadShare | undefined;
  readonly #cutOff: StepReader | undefined;
  readonly #own: readonly StepReader[];
  #metrics: readonly RunningMetric[] = [];
  #readers: readonly StepReader[];
  #atMs: number;
  /** The last two instants at which what a metric reads changed. */
  #loadChangedMs: number;
  #loadChangedEarlierMs: number;

  constructor(
    { target, served, cutOff }: Passing,
    pods: ReplayedPods,
    record: MinuteRecord,
    fromMs: number,
  ) {
    const reading = ({ load, perPod }: PodShare) => ({ reader: new StepReader(load), perPod });
    this.#pods = pods;
    this.#record = record;
    this.#target = target.map(reading);
    this.#served = served && reading(served);
    this.#cutOff = cutOff && new StepReader(cutOff);
    this.#own = [
      ...this.#target.map(({ reader }) => reader),
      ...(this.#served ? [this.#served.reader] : []),
      ...(this.#cutOff ? [this.#cutOff] : []),
    ];
    this.#readers = this.#own;
    this.#atMs = fromMs;
    this.#loadChangedMs = fromMs;
    this.#loadChangedEarlierMs = fromMs;
    for (const reader of this.#own) reader.seek(fromMs);
  }

  get atMs(): number {
    return this.#atMs;
  }

  /** From now on these are measured. Before now all is taken to have been as it is. */
  measure(metrics: readonly RunningMetric[], nowMs: number): void {
    this.#metrics = metrics;
    this.#readers = [...this.#own, ...metrics.map(({ reader }) => reader)];
    for (const { reader } of metrics) reader.seek(nowMs);
    for (const metric of metrics) metric.pass(nowMs, nowMs, this.#pods.ready);
    this.#loadChanged(nowMs);
  }

  /**
   * Whether a sync now observes the same as a sync at `beforeMs`, but for the times of the samples.
   * On doubt it does not.
   */
  observesAsAt(beforeMs: number): boolean {
    const isStill = this.#loadChangedMs <= beforeMs && this.#pods.changedMs <= beforeMs;
    return this.#metrics.every(({ reader, metric: { level, model } }) => {
      if (model.kind === "backlog" || Number.isNaN(reader.value)) return false;
      if (!isUse(level)) return isStill;
      const scrapeMs = scrapeAt(this.#atMs);
      const windowMs = scrapeAt(beforeMs) - SCRAPE_MS;
      if (this.#pods.changedMs > windowMs) return false;

      if (model.kind === "shared" && model.at === "once") return isStill;
      // A use is a mean of the time before the scrape: what changes at the scrape is not in it.
      const changedMs =
        this.#loadChangedMs < scrapeMs ? this.#loadChangedMs : this.#loadChangedEarlierMs;
      return changedMs <= windowMs;
    });
  }

  #loadChanged(nowMs: number): void {
    if (nowMs > this.#loadChangedMs) this.#loadChangedEarlierMs = this.#loadChangedMs;
    this.#loadChangedMs = nowMs;
  }

  /** All readers stand at `toMs` then. */
  passTo(toMs: number): void {
    while (this.#atMs < toMs) {
      const fromMs = this.#atMs;
      let nextMs = Math.min(toMs, this.#pods.nextMs);
      for (const reader of this.#readers) nextMs = Math.min(nextMs, reader.untilMs);
      const { ready } = this.#pods;
      for (const metric of this.#metrics) metric.pass(fromMs, nextMs, ready);
      this.#record.pass(fromMs, nextMs, this.#span());
      this.#pods.pass(nextMs);
      if (this.#metrics.some(({ reader }) => reader.untilMs <= nextMs)) this.#loadChanged(nextMs);
      for (const reader of this.#readers) reader.seek(nextMs);
      this.#atMs = nextMs;
    }
  }

  #span(): SteadySpan {
    const { count, ready } = this.#pods;
    let needed = this.#target.length === 0 ? Number.NaN : 0;
    for (const { reader, perPod } of this.#target) needed = Math.max(needed, reader.value / perPod);
    const load = this.#served?.reader.value ?? 0;
    const unserved = this.#served ? Math.max(0, load - ready * this.#served.perPod) : 0;
    const isCutOff = this.#cutOff?.value === 1;
    const isUnknown = this.#target.length > 0 && Number.isNaN(needed);
    return { count, ready, needed, isUnknown, isCutOff, load, unserved };
  }
}
