import type { MetricFamily } from "../report/open-metrics.ts";
import type { SeriesJson } from "../views/source.ts";

export const seriesJson = (families: readonly MetricFamily[]): SeriesJson => ({
  families: families.map(({ samples, ...family }) => ({
    ...family,
    samples: samples.map(({ labels, value }) => ({ labels, value: Number.isFinite(value) ? value : String(value) })),
  })),
});

export const seriesOf = ({ families }: SeriesJson): readonly MetricFamily[] =>
  families.map(({ samples, ...family }) => ({ ...family, samples: samples.map(({ labels, value }) => ({ labels, value: Number(value) })) }));
