import { type Bill, billOf, type Fleet, PARTS } from "../../cost/bill.ts";
import { PRICES } from "../../cost/prices.ts";
import { lines, type Printed } from "../../report/printed.ts";
import type { Printer, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { aligned } from "../output/text-table.ts";
import { lengthMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";

export interface CostOptions {
  readonly clusters?: string;
  readonly autoscalers?: string;
  readonly period?: string;
  readonly changing?: string;
  readonly scales?: string;
  readonly secrets?: string;
  readonly readers?: string;
  readonly scrape?: string;
  readonly clusterMetrics: Fleet["clusterMetrics"];
  readonly output: "text" | DocumentFormat;
}

export type GivenFleet = Partial<Fleet> & Pick<Fleet, "clusterMetrics">;

/** What counts where no option and no data say otherwise. */
const OTHERWISE: Omit<Fleet, "clusterMetrics"> = { clusters: 0, autoscalers: 0, periodSeconds: 15, changing: 0.01, scalesADay: 10, secrets: 0 };
const COUNT_MAX = 1_000_000;
const DAY_MS = 86_400_000;

/** Reads the options. Throws a usage error. */
export const givenFleet = ({
  clusters,
  autoscalers,
  period,
  changing,
  scales,
  secrets,
  readers,
  scrape,
  clusterMetrics,
}: CostOptions): GivenFleet => ({
  ...(clusters !== undefined && { clusters: numberIn("--clusters", clusters, COUNT_MAX) }),
  ...(autoscalers !== undefined && { autoscalers: numberIn("--autoscalers", autoscalers, COUNT_MAX) }),
  ...(period !== undefined && { periodSeconds: lengthMs("--period", period) / 1_000 }),
  ...(changing !== undefined && { changing: shareIn(changing) }),
  ...(scales !== undefined && { scalesADay: numberIn("--scales", scales, COUNT_MAX) }),
  ...(secrets !== undefined && { secrets: numberIn("--secrets", secrets, COUNT_MAX) }),
  ...(readers !== undefined && { readers: numberIn("--readers", readers, COUNT_MAX) }),
  ...(scrape !== undefined && { scrapeSeconds: lengthMs("--scrape", scrape) / 1_000 }),
  clusterMetrics,
});

const numberIn = (option: string, text: string, most: number): number => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw usage(`Cannot read ${option} "${text}": give a number from 0 to ${most}`);
};

const PERCENT = 100;

/** "1%" or "0.01". */
const shareIn = (text: string): number => {
  const value = text.endsWith("%") ? numberIn("--changing", text.slice(0, -1), PERCENT) / PERCENT : numberIn("--changing", text, PERCENT);
  if (value <= 1) return value;
  throw usage(`Cannot read --changing "${text}": give a share from 0 to 1, such as "0.01" or "1%"`);
};

export const cost = async (printer: Printer, wanted: GivenFleet, output: CostOptions["output"], session?: Session): Promise<void> => {
  const fleet: Fleet = { ...OTHERWISE, ...(session && (await realFleet(session))), ...wanted };
  const bill = billOf(fleet);
  const { firstMonth: _first, afterYear: _after, ...amounts } = bill;
  const { firstMonth, afterYear } = bill;
  const prices = { date: PRICES.date, region: PRICES.region };
  await printer.print(output === "text" ? costSheet(fleet, bill) : documentText({ fleet, ...amounts, firstMonth, afterYear, prices }, output));
};

/** The numbers of a stack or a data folder. A partition counts as a cluster, because each has syncs of its own. */
const realFleet = async ({ service, nowMs }: Session): Promise<Partial<Fleet>> => {
  let partitions = 0;
  let syncsASecond = 0;
  let secrets = 0;
  for await (const cluster of service.clusters()) {
    partitions += cluster.partitions.length;
    syncsASecond += cluster.partitions.length / cluster.syncPeriodSeconds;
    secrets += cluster.connection?.kind === "secret" ? 1 : 0;
  }
  let autoscalers = 0;
  for await (const _one of listedRows(service, undefined, {})) autoscalers++;
  let scales = 0;
  for await (const _one of service.events({ sinceMs: Math.max(0, nowMs - DAY_MS) })) scales++;
  return {
    clusters: partitions,
    autoscalers,
    secrets,
    ...(syncsASecond > 0 && { periodSeconds: partitions / syncsASecond }),
    ...(autoscalers > 0 && { scalesADay: scales / autoscalers }),
  };
};

const rounded = (value: number): string => String(Math.round(value * PERCENT) / PERCENT);

const costSheet = (fleet: Fleet, { parts, readers, firstMonth, afterYear }: Bill): Printed => {
  const amounts = [
    ...PARTS.map((part) => [part, parts[part]] as const),
    ...(readers === undefined ? [] : [["readers", readers] as const]),
    ["first month", firstMonth] as const,
    ["with 13 months of history", afterYear] as const,
  ];
  const texts = amounts.map(([name, amount]) => [name, amount.toFixed(2)] as const);
  const width = Math.max(...texts.map(([, text]) => text.length));
  return lines([
    `${fleet.clusters} clusters, ${fleet.autoscalers} autoscalers, a sync every ${rounded(fleet.periodSeconds)} s, ${rounded(fleet.changing * PERCENT)} % change in a sync, ${rounded(fleet.scalesADay)} scales of each in a day`,
    `Dollars a month, list prices of ${PRICES.region} (${PRICES.date}), without free tiers:`,
    ...aligned(texts.map(([name, text]) => [`  ${name}`, text.padStart(width)])),
  ]);
};
