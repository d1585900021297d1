import type { CustomMetricValue, PodMetrics } from "../../../model/observation.ts";

/** What a metric says about one pod. */
export interface Sample {
  readonly milli: bigint;
  readonly timestampMs: number;
  readonly windowMs: number;
}

/** Samples by the name of the pod; of two for one pod the later in the answer counts (hpa.md 2.5). */
export type Samples = Map<string, Sample>;

/** Usage of whole pods: a pod without containers, or with one that lacks the resource, gives no sample and so is missing (hpa.md 2.5). */
export const podSamples = (metrics: readonly PodMetrics[], resource: string): Samples => {
  const samples: Samples = new Map();
  for (const { name, timestampMs, windowMs, containers } of metrics) {
    let milli: bigint | undefined;
    for (const { usage } of containers) {
      const amount = usage[resource];
      if (amount === undefined) {
        milli = undefined;
        break;
      }
      milli = milli === undefined ? amount : milli + amount;
    }
    if (milli !== undefined) samples.set(name, { milli: BigInt.asIntN(64, milli), timestampMs, windowMs });
  }
  return samples;
};

/** Usage of one container in every pod that has it. */
export const containerSamples = (metrics: readonly PodMetrics[], resource: string, container: string): Samples => {
  const samples: Samples = new Map();
  for (const { name, timestampMs, windowMs, containers } of metrics) {
    const milli = containers.find((candidate) => candidate.name === container)?.usage[resource];
    if (milli !== undefined) samples.set(name, { milli, timestampMs, windowMs });
  }
  return samples;
};

export const customSamples = (values: readonly CustomMetricValue[]): Samples => new Map(values.map((value) => [value.describes, value]));
