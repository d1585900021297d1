import { ASSUMED, type Bill, billOf, type BilledFleet, PARTS } from "../../answers/cost/bill.ts";
import { PRICES } from "../../answers/cost/prices.ts";
import type { MeasuredView } from "../../answers/views/cluster.ts";
import { present } from "../../rules/model/json.ts";
import { lines, type Printed } from "../../stack/report/printed.ts";
import type { Printer, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { aligned } from "../output/text-table.ts";
import { lengthMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";
import { DAY_MS, HOUR_MS } from "../../rules/model/time-text.ts";

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
  const real = session && (await realFleet(session));
  const counted: BilledFleet = { ...OTHERWISE, ...real?.counted, ...wanted };
  const fleet: BilledFleet = { ...counted, ...real?.measured, ...wanted };
  const bill = billOf(fleet);
  const besides = real?.measured && {
    syncs: real.syncs,
    assumed: { fleet: counted, ...billOf(counted) },
  };
  const prices = { date: PRICES.date, region: PRICES.region };
  await printer.print(
    output === "text"
      ? costSheet(fleet, bill, besides)
      : documentText({ fleet, ...bill, ...besides, prices }, output),
  );
};

/** The numbers of a stack or a data folder. */
interface RealFleet {
  /** What is there. */
  readonly counted: Partial<BilledFleet>;
  /** What it does; absent before the first syncs that say it. */
  readonly measured?: Partial<BilledFleet>;
  readonly syncs: MeasuredSyncs;
}
/** One sync of all partitions together, and how far back it was looked. */
type MeasuredSyncs = Omit<MeasuredView, "since"> & { readonly hours: number };

/** A partition counts as a cluster, because each has syncs of its own. */
const realFleet = async ({ service, nowMs }: Session): Promise<RealFleet> => {
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
  const { since, ...mean } = await service.measuredSyncs();
  const measuredMs = since === undefined ? 0 : Math.min(DAY_MS, nowMs - Date.parse(since));
  const syncs = { ...mean, hours: measuredMs / HOUR_MS };
  const counted = {
    clusters: partitions,
    autoscalers,
    secrets,
    ...(syncsASecond > 0 && { periodSeconds: partitions / syncsASecond }),
  };
  if (syncs.autoscalers === 0 || autoscalers === 0 || measuredMs <= 0) return { counted, syncs };
  const measured = {
    changing: syncs.changed / syncs.autoscalers,
    // A stack that is younger than a day has fewer scales than in a day.
    scalesADay: (scales * DAY_MS) / measuredMs / autoscalers,
  };
  return { counted, measured, syncs };
};

const rounded = (value: number): string => String(Math.round(value * PERCENT) / PERCENT);

/** The bill that is made from what is measured stands beside the one of what is assumed. */
interface Besides {
  readonly syncs: MeasuredSyncs;
  readonly assumed: { readonly fleet: BilledFleet } & Bill;
}

const changeText = ({ changing, scalesADay }: BilledFleet): string =>
  `${rounded(changing * PERCENT)} % change in a sync, ${rounded(scalesADay)} scales of each in a day`;

const KIB = 1_024;

const measuredText = ({ hours, changed, autoscalers, pods, bytes, syncs }: MeasuredSyncs): string =>
  `Measured in ${syncs} syncs of the last ${rounded(hours)} h: in one sync of all clusters ${rounded(changed)} of ${rounded(autoscalers)} autoscalers change, with ${rounded(pods)} pods and ${rounded(bytes / KIB)} KiB from the clusters.`;

const amountsOf = ({ parts, readers, firstMonth, afterYear }: Bill): readonly Amount[] => [
  ...PARTS.map((part) => [part, parts[part]] as const),
  ...(readers === undefined ? [] : [["readers", readers] as const]),
  ["first month", firstMonth],
  ["with 13 months of history", afterYear],
];
type Amount = readonly [name: string, dollars: number];

const costSheet = (fleet: BilledFleet, bill: Bill, besides: Besides | undefined): Printed => {
  const amounts = amountsOf(bill);
  const columns = [amounts, ...(besides ? [amountsOf(besides.assumed)] : [])].map((column) =>
    column.map(([, amount]) => amount.toFixed(2)),
  );
  const heads = besides ? ["measured", "assumed"] : [""];
  const widths = columns.map((column, at) =>
    Math.max(heads[at]?.length ?? 0, ...column.map((text) => text.length)),
  );
  const row = (name: string, cells: readonly string[]): readonly string[] => [
    `  ${name}`,
    ...cells.map((cell, at) => cell.padStart(widths[at] ?? 0)),
  ];
  return lines([
    `${fleet.clusters} clusters, ${fleet.autoscalers} autoscalers, a sync every ${rounded(fleet.periodSeconds)} s, ${changeText(fleet)}`,
    ...(besides
      ? [measuredText(besides.syncs), `Assumed: ${changeText(besides.assumed.fleet)}.`]
      : []),
    `Dollars a month, list prices of ${PRICES.region} (${PRICES.date}), without free tiers:`,
    ...aligned([
      ...(besides ? [row("", heads)] : []),
      ...amounts.map(([name], at) =>
        row(
          name,
          columns.map((column) => column[at] ?? ""),
        ),
      ),
    ]),
  ]);
};
