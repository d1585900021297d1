import { openMetricsText } from "../../report/open-metrics.ts";
import { labelNames } from "../../service/series/labels-info.ts";
import type { Printer, Session } from "../io.ts";

export interface SeriesOptions {
  /** Names, by blanks or commas. */
  readonly labels?: string;
}

/** Prints every series as OpenMetrics text, as a scraper of the run receives them. */
export const series = async ({ service }: Session, printer: Printer, { labels }: SeriesOptions): Promise<void> => {
  await printer.print(openMetricsText(await service.series(labelNames(labels))));
};
