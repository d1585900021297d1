import type { Reading } from "../cluster/reading.ts";

/** The last samples of load and replicas of each workload, for the sparklines. */
export interface SampleHistory {
  readonly take: (readings: readonly Reading[]) => void;
  readonly of: (namespace: string, name: string) => { readonly load: readonly number[]; readonly replicas: readonly number[] };
}

/** Two hours of 15-second syncs. */
const MAX_SAMPLES = 480;

export const sampleHistory = (): SampleHistory => {
  const kept = new Map<string, { readonly load: number[]; readonly replicas: number[] }>();
  const entry = (namespace: string, name: string) => {
    const key = `${namespace}/${name}`;
    const known = kept.get(key) ?? { load: [], replicas: [] };
    kept.set(key, known);
    return known;
  };
  const push = (values: number[], value: number) => {
    values.push(value);
    if (values.length > MAX_SAMPLES) values.shift();
  };
  return {
    take: (readings) => {
      for (const { namespace, name, demand, replicas } of readings) {
        const { load, replicas: counts } = entry(namespace, name);
        push(load, demand);
        push(counts, replicas);
      }
    },
    of: entry,
  };
};
