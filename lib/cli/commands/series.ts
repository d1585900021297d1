import { openMetricsText } from "../../report/open-metrics.ts";
import type { Printer, Session } from "../io.ts";

/** Prints every series as OpenMetrics text, as a scraper of the run receives them. */
export const series = async ({ service }: Session, printer: Printer): Promise<void> => {
  await printer.print(openMetricsText(await service.series()));
};
