import type { MetricFamily } from "../report/open-metrics.ts";

/** A metric family in JSON. NaN and the infinities are text, because JSON has no number for them. */
type FamilyJson = Omit<MetricFamily, "samples"> & {
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number | string }[];
};
export interface SeriesJson {
  readonly families: readonly FamilyJson[];
}

export const seriesJson = (families: readonly MetricFamily[]): SeriesJson => ({
  families: families.map(({ samples, ...family }) => ({
    ...family,
    samples: samples.map(({ labels, value }) => ({ labels, value: Number.isFinite(value) ? value : String(value) })),
  })),
});

export const seriesOf = ({ families }: SeriesJson): readonly MetricFamily[] =>
  families.map(({ samples, ...family }) => ({ ...family, samples: samples.map(({ labels, value }) => ({ labels, value: Number(value) })) }));
