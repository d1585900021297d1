/** The last samples of load and replicas of each autoscaler, for the sparklines. */
export interface SampleHistory {
  /** Takes one sample per completed sync; `atText` tells one sync from the next. The load is absent where it is not known. */
  readonly take: (key: string, atText: string, sample: { readonly load: number | undefined; readonly replicas: number }) => void;
  readonly of: (key: string) => Samples;
}

export interface Samples {
  readonly load: readonly number[];
  readonly replicas: readonly number[];
}

/** Two hours of 15-second syncs. */
const MAX_SAMPLES = 480;
const NO_SAMPLES: Samples = { load: [], replicas: [] };

export const sampleHistory = (): SampleHistory => {
  const kept = new Map<string, Samples & { readonly atText: string }>();
  return {
    take: (key, atText, { load, replicas }) => {
      const known = kept.get(key);
      if (known?.atText === atText) return;
      const before = known ?? NO_SAMPLES;
      kept.set(key, {
        atText,
        load: load === undefined ? before.load : [...before.load, load].slice(-MAX_SAMPLES),
        replicas: [...before.replicas, replicas].slice(-MAX_SAMPLES),
      });
    },
    of: (key) => kept.get(key) ?? NO_SAMPLES,
  };
};
