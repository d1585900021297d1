import { instantText, withLocalTimes } from "../../stack/report/instant-text.ts";
import type { Printed, Word } from "../../stack/report/printed.ts";
import type { EventCount, EventView } from "../../answers/views/event.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { csvLine } from "./text-table.ts";
import type { Paint, Style } from "../io.ts";

export const EVENT_HEADERS = [
  "TIME",
  "AGE",
  "CLUSTER",
  "NAMESPACE",
  "NAME",
  "FROM",
  "TO",
  "REASON",
  "OUTCOME",
  "MESSAGE",
] as const;
/** The columns that `-o wide` has beside them, before the message. */
export const WIDE_EVENT_HEADERS = [
  ...EVENT_HEADERS.slice(0, -1),
  "REFERENCE",
  "GENERATION",
  "KNOWN AFTER",
  "ID",
  "MESSAGE",
] as const;

const OUTCOME_STYLES: Readonly<Record<EventView["outcome"], Style>> = {
  applied: "good",
  refused: "bad",
  unknown: "warn",
  outside: "warn",
};

export const eventRow = (event: EventView, nowMs: number, paint: Paint): readonly Word[] => [
  ...leadingCells(event, nowMs, paint),
  messageOf(event),
];

export const wideEventRow = (event: EventView, nowMs: number, paint: Paint): readonly Word[] => [
  ...leadingCells(event, nowMs, paint),
  `${event.target.kind}/${event.target.name}`,
  String(event.specGeneration),
  `${((Date.parse(event.settledAt) - Date.parse(event.at)) / 1_000).toFixed(1)}s`,
  event.id,
  messageOf(event),
];

/** The row of a sheet of one autoscaler. */
export const ownEventRow = (event: EventView, nowMs: number, paint: Paint): readonly Word[] => [
  instantText(Date.parse(event.at)),
  ageText(nowMs - Date.parse(event.at)),
  ...changeCells(event, paint),
  messageOf(event),
];
export const OWN_EVENT_HEADERS = [
  "Time",
  "Age",
  "From",
  "To",
  "Reason",
  "Outcome",
  "Message",
] as const;

const leadingCells = (event: EventView, nowMs: number, paint: Paint): readonly Word[] => [
  instantText(Date.parse(event.at)),
  ageText(nowMs - Date.parse(event.at)),
  event.cluster,
  event.namespace,
  event.name,
  ...changeCells(event, paint),
];

const changeCells = ({ from, to, reason, outcome }: EventView, paint: Paint): readonly Word[] => [
  String(from),
  String(to),
  reason,
  paint(OUTCOME_STYLES[outcome], outcome),
];

const messageOf = ({ message, detail }: EventView): string =>
  withLocalTimes(detail === undefined ? message : `${message}; ${detail}`);

/** The fields of a line of counts, which are the columns of its table and of its CSV. */
export const COUNT_FIELDS = [
  ...(["month", "cluster", "namespace", "name"] as const),
  ...(["ups", "added", "downs", "removed", "refused", "outside"] as const),
] as const satisfies readonly (keyof EventCount)[];
export const countCells = (count: EventCount): readonly string[] =>
  COUNT_FIELDS.map((field) => String(count[field]));

const CSV_COLUMNS = [
  ...([
    "id",
    "at",
    "settledAt",
    "cluster",
    "namespace",
    "name",
    "targetKind",
    "targetName",
  ] as const),
  ...(["from", "to", "reason", "outcome", "specGeneration", "message", "detail"] as const),
] as const;
export const CSV_HEADER = csvLine(CSV_COLUMNS);

export const eventCsv = ({ target, ...event }: EventView): Printed => {
  const row = { ...event, targetKind: target.kind, targetName: target.name };
  return csvLine(CSV_COLUMNS.map((column) => row[column]));
};
