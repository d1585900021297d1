import { openMetricsText } from "../../report/open-metrics.ts";
import { block } from "../../report/printed.ts";
import { labelNames } from "../../service/series/autoscaler-series.ts";
import type { Printer, Session } from "../io.ts";
import { filterOf, type ScopeOptions } from "../options/scope-options.ts";

export interface SeriesOptions extends ScopeOptions {
  /** Label names, separated by blanks or commas. */
  readonly labels?: string;
}

/** Prints every series as OpenMetrics text, the same that a scraper reads. */
export const series = async ({ service }: Session, printer: Printer, options: SeriesOptions): Promise<void> => {
  await printer.print(block(openMetricsText(await service.series({ ...filterOf(options), labels: labelNames(options.labels) }))));
};
