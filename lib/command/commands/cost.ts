import { ASSUMED, type Bill, billOf, type BilledFleet, PARTS } from "../../answers/cost/bill.ts";
import { PRICES } from "../../answers/cost/prices.ts";
import { present } from "../../rules/model/json.ts";
import { lines, type Printed } from "../../stack/report/printed.ts";
import type { Printer, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { aligned } from "../output/text-table.ts";
import { lengthMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";

type Count = "clusters" | "autoscalers" | "scales" | "secrets" | "readers";
type Length = "period" | "scrape";

export interface CostOptions
  extends Readonly<Partial<Record<Count | Length | "changing", string>>> {
  readonly clusterMetrics: BilledFleet["clusterMetrics"];
  readonly output: "text" | DocumentFormat;
}

type GivenFleet = Partial<BilledFleet> & Pick<BilledFleet, "clusterMetrics">;

/** What counts where no option and no data say otherwise. */
const OTHERWISE: Omit<BilledFleet, "clusterMetrics"> = {
  ...ASSUMED,
  clusters: 0,
  autoscalers: 0,
  secrets: 0,
};
const COUNT_MAX = 1_000_000;

/** Reads the options. Throws a usage error. */
export const givenFleet = ({ clusterMetrics, changing, ...options }: CostOptions): GivenFleet => {
  const count = (name: Count) =>
    options[name] === undefined ? undefined : numberIn(`--${name}`, options[name], COUNT_MAX);
  const seconds = (name: Length) =>
    options[name] === undefined ? undefined : lengthMs(`--${name}`, options[name]) / 1_000;
  return {
    ...present({
      clusters: count("clusters"),
      autoscalers: count("autoscalers"),
      periodSeconds: seconds("period"),
      changing: changing === undefined ? undefined : shareIn(changing),
      scalesADay: count("scales"),
      secrets: count("secrets"),
      readers: count("readers"),
      scrapeSeconds: seconds("scrape"),
    }),
    clusterMetrics,
  };
};

const numberIn = (option: string, text: string, most: number): number => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw usage(`Cannot read ${option} "${text}": give a number from 0 to ${most}`);
};

const PERCENT = 100;

/** "1%" or "0.01". */
const shareIn = (text: string): number => {
  const value = text.endsWith("%")
    ? numberIn("--changing", text.slice(0, -1), PERCENT) / PERCENT
    : numberIn("--changing", text, PERCENT);
  if (value <= 1) return value;
  throw usage(`Cannot read --changing "${text}": give a share from 0 to 1, such as "0.01" or "1%"`);
};

export const cost = async (
  printer: Printer,
  wanted: GivenFleet,
  output: CostOptions["output"],
  session?: Session,
): Promise<void> => {
  const fleet: BilledFleet = {
    ...OTHERWISE,
    ...(session && (await realFleet(session))),
    ...wanted,
  };
  const bill = billOf(fleet);
  const prices = { date: PRICES.date, region: PRICES.region };
  await printer.print(
    output === "text" ? costSheet(fleet, bill) : documentText({ fleet, ...bill, prices }, output),
  );
};

/**
 * The numbers of a stack or a data folder. A partition counts as a cluster, because each has syncs
 * of its own.
 */
const realFleet = async ({ service, nowMs }: Session): Promise<Partial<BilledFleet>> => {
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

const costSheet = (
  fleet: BilledFleet,
  { parts, readers, firstMonth, afterYear }: Bill,
): Printed => {
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
