import { wholeHistory } from "../../answers/service/history/history.ts";
import { figuresOf } from "../../replay/figures.ts";
import type { ChosenModels } from "../../replay/recorded-metrics.ts";
import { HOUR_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import { lines, type Printed, text } from "../../stack/report/printed.ts";
import type { CommandSurroundings, Printer, Session } from "../io.ts";
import { documentText, kindOf, listDocument } from "../output/documents.ts";
import { aligned, csvLine } from "../output/text-table.ts";
import { rangeMs } from "../options/time-options.ts";
import { markdownRows } from "../replay/markdown.ts";
import { allBy, type ReplayThreads } from "../replay/replay-threads.ts";
import type { ReplayedHistory } from "../replay/replayed-history.ts";
import { percentText } from "../replay/sheet.ts";
import { type NamedAutoscalerOfKind, queryFor } from "../select/selected-names.ts";
import type { TuneReport } from "../tune/report.ts";
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
  const hoursOf = (resource: NamedAutoscalerOfKind): Promise<number> =>
    storedHours(session, resource, { sinceMs, untilMs });
  const [only, ...more] = subjects;
  await inThreads(async (threads) => {
    const replaying = { replayAll: allBy(threads.replay) };
    const read = async (resource: NamedAutoscalerOfKind): Promise<ReplayedHistory> => {
      const span = { ...options, sinceMs, untilMs, isOne: subjects.length === 1 };
      const replayed = await readAndReplay(session, resource, span, [], replaying);
      if (!options.anyway) refuseUnlike(replayed);
      return replayed;
    };
    if (only && more.length === 0 && options.top === undefined) {
      const subject = subjectOf(await read(only.resource), options);
      await tuneOne(surroundings, threads, subject, { ...options, ...asked });
    } else await tuneFleet(printer, threads, { subjects, read, hoursOf }, { ...options, ...asked });
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
  /** Replica-hours by the stored five minutes: some requests for each autoscaler. */
  readonly hoursOf: (resource: NamedAutoscalerOfKind) => Promise<number>;
}

/**
 * Where the most replica-hours lie: all are ordered by the stored five minutes of their counts, and
 * only the first so many are read minute by minute, replayed, and tuned by a short search each. An
 * autoscaler that cannot be replayed is named with the reason.
 */
const tuneFleet = async (
  printer: Printer,
  threads: ReplayThreads,
  { subjects, read, hoursOf }: Fleet,
  options: Omit<History, "seed" | "price" | "keep"> & AskedTune,
): Promise<void> => {
  const top = topOf(options.top);
  if (options.write !== undefined)
    throw usage(`Cannot use --write "${options.write}" for a list: give one name`);
  const known: { readonly hours: number; readonly resource: NamedAutoscalerOfKind }[] = [];
  for (const [at, { resource }] of subjects.entries()) {
    printer.progress(`${at + 1} of ${subjects.length} autoscalers are counted: ${resource.name}`);
    known.push({ hours: await hoursOf(resource), resource });
  }
  const first = known.toSorted((one, other) => other.hours - one.hours).slice(0, top);
  const rows: FleetRow[] = [];
  for (const [at, { resource }] of first.entries()) {
    printer.progress(`${at + 1} of ${first.length} autoscalers are read: ${resource.name}`);
    rows.push(await tunedRow({ printer, threads, read, options }, resource));
  }
  printer.progress();
  const isTuned = ({ note }: FleetRow): boolean => note === undefined;
  const ordered = [...rows.filter(isTuned), ...rows.filter((row) => !isTuned(row))];
  await printer.print(printedFleet(ordered, options.output));
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

/** The length of a stored step, over which its newest count is taken to hold. */
const STEP_MS = 5 * MINUTE_MS;

/** Replica-hours of an autoscaler by the stored five minutes of its counts. */
const storedHours = async (
  { service }: Session,
  resource: NamedAutoscalerOfKind,
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<number> => {
  const query = await queryFor(service, resource);
  const { points } = await wholeHistory(service, { ...query, ...stretch, stepMs: STEP_MS });
  return (points.reduce((sum, { current = 0 }) => sum + current, 0) * STEP_MS) / HOUR_MS;
};

const rowOf = (replayed: ReplayedHistory, price: number | undefined): FleetRow => {
  const { replicaHours, aboveTarget } = figuresOf(replayed.real, replayed.counted);
  return {
    of: nameOf(replayed),
    ...amountOf(replicaHours, price),
    ...(Number.isFinite(aboveTarget) && { aboveTarget }),
  };
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
  resource: NamedAutoscalerOfKind,
): Promise<FleetRow> => {
  let row: FleetRow | undefined;
  try {
    const replayed = await read(resource);
    row = rowOf(replayed, options.price);
    const size = { ...options, size: SHORT_SEARCH };
    const { points } = await tunedReport(printer, threads, subjectOf(replayed, options), size);
    return { ...row, ...spareOf(points, options.price) };
  } catch (error) {
    const refused = refusedRow(`${resource.namespace ?? ""}/${resource.name}`, error);
    return { ...refused, ...row };
  }
};

/** What the points of a search take less, where they hold on the days that were not tuned on. */
const spareOf = (
  points: TuneReport["points"],
  price: number | undefined,
): Pick<FleetRow, "spares" | "safest"> => {
  const [current] = points;
  const held = (name: string) => points.find((point) => point.name === name && point.holds);
  const [cheapest, safest] = [held("cheapest")?.policy, held("safest")?.policy];
  const spared = (current?.policy?.replicaHours ?? 0) - (cheapest?.replicaHours ?? Number.NaN);
  return {
    ...(spared > 0 && { spares: amountOf(spared, price) }),
    ...(safest?.aboveTarget !== undefined && { safest: safest.aboveTarget }),
  };
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
