import { figuresOf } from "../../replay/figures.ts";
import type { ChosenModels } from "../../replay/recorded-metrics.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import { lines, type Printed, text } from "../../stack/report/printed.ts";
import type { CommandSurroundings, Printer, Session } from "../io.ts";
import { documentText, kindOf, listDocument } from "../output/documents.ts";
import { aligned, csvLine } from "../output/text-table.ts";
import { rangeMs } from "../options/time-options.ts";
import { markdownRows } from "../replay/markdown.ts";
import type { ReplayThreads } from "../replay/replay-threads.ts";
import type { ReplayedHistory } from "../replay/replayed-history.ts";
import { percentText } from "../replay/sheet.ts";
import type { NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { SHORT_SEARCH } from "../tune/search.ts";
import { storedSubject } from "../tune/subject.ts";
import { usage } from "../usage-error.ts";
import { readAndReplay, refuseUnlike, type ReplaySubject } from "./replay-history.ts";
import {
  type AskedTune,
  askedTune,
  inThreads,
  type TuneOptions,
  tunedReport,
  tuneOne,
} from "./tune.ts";

export interface StoredTuneOptions extends TuneOptions {
  readonly since?: string;
  readonly until?: string;
  readonly podStart?: string;
  readonly podIdle?: string;
  readonly top?: string;
  readonly anyway?: true;
}

const DEFAULT_SINCE = "14d";
const DEFAULT_TOP = 20;
const TOP_MOST = 200;

type History = StoredTuneOptions & { readonly models: ChosenModels };

/** Searches the numbers of an autoscaler on its history, or says of many where most lies. */
export const tuneHistory = async (
  session: Session,
  surroundings: CommandSurroundings<"columns">,
  subjects: readonly ReplaySubject[],
  options: History,
): Promise<void> => {
  const asked = askedTune(options);
  const { printer } = surroundings;
  const { sinceMs = 0, untilMs = session.nowMs } = rangeMs(
    { since: options.since ?? DEFAULT_SINCE, ...(options.until && { until: options.until }) },
    session.nowMs,
    printer.note,
  );
  const read = async (resource: NamedAutoscalerOfKind): Promise<ReplayedHistory> => {
    const replayed = await readAndReplay(session, resource, { ...options, sinceMs, untilMs });
    if (!options.anyway) refuseUnlike(replayed);
    return replayed;
  };
  const [only, ...more] = subjects;
  await inThreads(async (threads) => {
    if (only && more.length === 0 && options.top === undefined) {
      const subject = subjectOf(await read(only.resource), options);
      await tuneOne(surroundings, threads, subject, { ...options, ...asked });
    } else await tuneFleet(printer, threads, { subjects, read }, { ...options, ...asked });
  });
};

const nameOf = ({ read: { view } }: ReplayedHistory): string =>
  `${view.cluster}/${view.namespace}/${view.name}`;

const subjectOf = (replayed: ReplayedHistory, { days }: Pick<TuneOptions, "days">) =>
  storedSubject(replayed, {
    name: nameOf(replayed),
    kind: kindOf(replayed.read.view),
    ...(days !== undefined && { days }),
  });

/** One autoscaler of many, on the days that were not tuned on where it was tuned. */
interface FleetRow {
  readonly of: string;
  readonly replicaHours: number;
  readonly dollars?: number;
  readonly aboveTarget?: number;
  /** What the cheapest of its points that is not worse takes less, where it holds. */
  readonly spares?: { readonly replicaHours: number; readonly dollars?: number };
  /** Time above the target that its safest point has, where it holds. */
  readonly safest?: number;
  readonly note?: string;
}

interface Fleet {
  readonly subjects: readonly ReplaySubject[];
  readonly read: (resource: NamedAutoscalerOfKind) => Promise<ReplayedHistory>;
}

/**
 * Where the most replica-hours lie: all are replayed as they were, and the first so many of them
 * are tuned by a short search each. An autoscaler that cannot be replayed is named with the reason.
 */
const tuneFleet = async (
  printer: Printer,
  threads: ReplayThreads,
  { subjects, read }: Fleet,
  options: Omit<History, "seed" | "price" | "keep"> & AskedTune,
): Promise<void> => {
  const top = topOf(options.top);
  const { price } = options;
  const known: { readonly row: FleetRow; readonly resource: NamedAutoscalerOfKind }[] = [];
  const refused: FleetRow[] = [];
  for (const [at, { resource }] of subjects.entries()) {
    printer.progress(`${at + 1} of ${subjects.length} autoscalers are read: ${resource.name}`);
    const row = await rowOf(resource, read, price);
    if (row.note === undefined) known.push({ row, resource });
    else refused.push(row);
  }
  const first = known
    .toSorted((one, other) => other.row.replicaHours - one.row.replicaHours)
    .slice(0, top);
  const rows: FleetRow[] = [];
  for (const { row, resource } of first)
    rows.push(await tunedRow({ printer, threads, read, options }, row, resource));
  printer.progress();
  if (options.write !== undefined)
    throw usage(`Cannot use --write "${options.write}" for a list: give one name`);
  await printer.print(printedFleet([...rows, ...refused], options.output));
  if (known.length > first.length)
    printer.note(
      `${known.length - first.length} more autoscalers take fewer replica-hours; give a higher --top than ${top} for them`,
    );
};

const topOf = (top = String(DEFAULT_TOP)): number => {
  const number = /^[1-9]\d{0,3}$/.test(top) ? Number(top) : Number.NaN;
  if (number <= TOP_MOST) return number;
  throw usage(`Cannot read --top "${top}": give a whole number from 1 to ${TOP_MOST}`);
};

const rowOf = async (
  resource: NamedAutoscalerOfKind,
  read: Fleet["read"],
  price: number | undefined,
): Promise<FleetRow> => {
  try {
    const replayed = await read(resource);
    const { replicaHours, aboveTarget } = figuresOf(replayed.real, replayed.counted);
    return {
      of: nameOf(replayed),
      ...amountOf(replicaHours, price),
      ...(Number.isFinite(aboveTarget) && { aboveTarget }),
    };
  } catch (error) {
    return refusedRow(`${resource.namespace ?? ""}/${resource.name}`, error);
  }
};

/** Only an expected refusal becomes a row. */
const refusedRow = (of: string, error: unknown): FleetRow => {
  if (!isTidemarkError(error)) throw error;
  return { of, replicaHours: 0, note: error.message };
};

const amountOf = (replicaHours: number, price: number | undefined) => ({
  replicaHours: Number(replicaHours.toFixed(2)),
  ...(price !== undefined && { dollars: Number((replicaHours * price).toFixed(2)) }),
});

interface FleetSearch {
  readonly printer: Printer;
  readonly threads: ReplayThreads;
  readonly read: Fleet["read"];
  readonly options: Pick<TuneOptions, "days"> & AskedTune;
}

const tunedRow = async (
  { printer, threads, read, options }: FleetSearch,
  row: FleetRow,
  resource: NamedAutoscalerOfKind,
): Promise<FleetRow> => {
  try {
    const subject = subjectOf(await read(resource), options);
    const size = { ...options, size: SHORT_SEARCH };
    const { points } = await tunedReport(printer, threads, subject, size);
    const [current] = points;
    const held = (name: string) => points.find((point) => point.name === name && point.holds);
    const [cheapest, safest] = [held("cheapest")?.policy, held("safest")?.policy];
    const spared = (current?.policy?.replicaHours ?? 0) - (cheapest?.replicaHours ?? Number.NaN);
    return {
      ...row,
      ...(spared > 0 && { spares: amountOf(spared, options.price) }),
      ...(safest?.aboveTarget !== undefined && { safest: safest.aboveTarget }),
    };
  } catch (error) {
    return { ...row, note: refusedRow(row.of, error).note ?? "" };
  }
};

const HEADER = [
  "AUTOSCALER",
  "REPLICA-HOURS",
  "DOLLARS",
  "ABOVE TARGET",
  "SPARES",
  "SAFEST",
  "NOTE",
];

const cellsOf = ({ of, replicaHours, dollars, aboveTarget, spares, safest, note }: FleetRow) => [
  ...[of, String(replicaHours), dollars?.toFixed(2) ?? "-", percentText(aboveTarget)],
  spares === undefined
    ? "-"
    : `${spares.replicaHours} h${spares.dollars === undefined ? "" : `, ${spares.dollars.toFixed(2)} dollars`}`,
  ...[safest === undefined ? "-" : percentText(safest), note ?? ""],
];

const printedFleet = (rows: readonly FleetRow[], output: TuneOptions["output"]): Printed => {
  const table = [HEADER, ...rows.map(cellsOf)];
  if (output === "text") return lines(aligned(table));
  if (output === "csv") return lines(table.map(csvLine));
  if (output === "markdown")
    return lines([text`### Where the replica-hours lie`, text``, ...markdownRows(table)]);
  return documentText(listDocument(rows), output);
};
