import { UNKNOWN } from "../../report/metric-reading.ts";
import { type Printed, type Word, joined, lines, text } from "../../report/printed.ts";
import { stateWords, type TableRow, tableRowOf } from "../../service/views/row-view.ts";
import type { AutoscalerState, AutoscalerView } from "../../views/autoscaler.ts";
import { ageText, Table } from "./text-table.ts";
import type { Paint, Style, Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText, kubernetesObject } from "./documents.ts";

/** The columns of `get`. Those that only the wide table has make the other one fit 120 columns. */
const COLUMNS = [
  { header: "CLUSTER" },
  { header: "NAMESPACE" },
  { header: "NAME" },
  { header: "REFERENCE", wide: true },
  { header: "TARGETS" },
  { header: "MIN" },
  { header: "MAX" },
  { header: "CURRENT" },
  { header: "DESIRED" },
  { header: "STATE" },
  { header: "REASON", wide: true },
  { header: "SYNCED" },
  { header: "MEASURED", wide: true },
  { header: "AGE", wide: true },
] as const satisfies readonly { readonly header: string; readonly wide?: true }[];

/** The cells of a row, or the headers, that a table shows. */
const columnsOf = <Cell extends Word>(cells: readonly Cell[], wide: boolean): readonly Cell[] =>
  wide ? cells : cells.filter((_, index) => !isWide(index));

const isWide = (index: number): boolean => {
  const column = COLUMNS[index];
  return column !== undefined && "wide" in column;
};

const autoscalerHeaders = (wide: boolean): readonly string[] =>
  columnsOf(
    COLUMNS.map(({ header }) => header),
    wide,
  );

const NONE = "<none>";

const STATE_STYLES: Readonly<Record<AutoscalerState, Style>> = {
  active: "good",
  failing: "bad",
  forbidden: "bad",
  frozen: "warn",
  held: "warn",
  invalid: "bad",
  limited: "warn",
  paused: "warn",
  shadow: "quiet",
  waiting: "quiet",
};

/** For example "held: monitor", with the cause of the hold, "active, overridden", or "active, 2 of 4 metrics missing": what was decided by the others may change when they are back. */
export const stateText = (
  view: Parameters<typeof stateWords>[0] & Pick<TableRow, "targets"> & Partial<Pick<TableRow, "moreTargets" | "missingMetrics">>,
  paint: Paint,
): Printed => {
  const { state, targets, moreTargets = 0, missingMetrics: missing = 0 } = view;
  const isPartly = DECIDED_STATES.has(state) && missing > 0;
  const words = stateWords(view);
  return paint(isPartly ? "warn" : STATE_STYLES[state], isPartly ? `${words}, ${missing} of ${targets.length + moreTargets} metrics missing` : words);
};

const DECIDED_STATES: ReadonlySet<string> = new Set(["active", "limited", "held", "shadow"]);

export const referenceText = ({ target }: Pick<AutoscalerView, "target">): string => (target ? `${target.kind}/${target.name}` : UNKNOWN);

export const countText = (count: number | undefined): string => (count === undefined ? UNKNOWN : String(count));

/** For example "9 (5m ago)": the last known count is marked with its age. */
export const currentText = ({ currentReplicas, lastKnown }: Pick<AutoscalerView, "currentReplicas" | "lastKnown">, nowMs: number): string => {
  if (!lastKnown) return countText(currentReplicas);
  return lastKnown.at === undefined ? `${lastKnown.replicas}?` : `${lastKnown.replicas} (${ageText(nowMs - Date.parse(lastKnown.at))} ago)`;
};

const targetsText = ({ targets, moreTargets }: TableRow): string => {
  if (targets.length === 0) return NONE;
  const shown = targets.join(", ");
  return moreTargets === undefined ? shown : `${shown} + ${moreTargets} more...`;
};

interface RowForm {
  readonly paint: Paint;
  readonly wide: boolean;
  /** True for an autoscaler that was deleted since it was read. */
  readonly isDeleted?: boolean;
  /** True where no run is alive: its clock stands, so that every age would look young. */
  readonly ended?: boolean;
}

const autoscalerColumns = (row: TableRow, nowMs: number, { paint, wide, isDeleted = false, ended = false }: RowForm): readonly Word[] =>
  columnsOf(autoscalerRow(row, nowMs, paint, { isDeleted, ended }), wide);

/** The row of the wide table. */
export const autoscalerRow = (
  row: TableRow,
  nowMs: number,
  paint: Paint,
  { isDeleted = false, ended = false }: Pick<RowForm, "isDeleted" | "ended"> = {},
): readonly Word[] => [
  row.cluster,
  row.namespace,
  row.name,
  referenceText(row),
  targetsText(row),
  countText(row.minInForce ?? row.minReplicas),
  countText(row.maxInForce ?? row.maxReplicas),
  currentText(row, nowMs),
  countText(row.desiredReplicas),
  isDeleted ? paint("quiet", "deleted") : stateText(row, paint),
  row.reason ?? NONE,
  row.ageSeconds === undefined ? "never" : ended ? "no run" : `${ageText(row.ageSeconds * 1000)} ago`,
  row.measuredAt === undefined ? "never" : ended ? "no run" : `${ageText(Math.max(0, nowMs - Date.parse(row.measuredAt)))} ago`,
  ageText(nowMs - Date.parse(row.createdAt)),
];

type RowFormat = "table" | "wide" | "name";

export interface RowOptions {
  readonly output: RowFormat | DocumentFormat;
  readonly showLabels?: true;
  /** Each autoscaler comes with its event: in a first column, or around the document. */
  readonly outputWatchEvents?: true;
  /** False for --no-headers. */
  readonly headers?: boolean;
}

/** What happened to an autoscaler while it is watched, in the words of the Kubernetes API. */
export type WatchEvent = "ADDED" | "MODIFIED" | "DELETED";

/** An autoscaler, and while it is watched what happened to it. A document needs the whole autoscaler, a table its row. */
export interface Shown<Form = AutoscalerView> {
  readonly view: Form;
  readonly event?: WatchEvent;
}

export const isDocument = (format: RowFormat | DocumentFormat): format is DocumentFormat =>
  format !== "table" && format !== "wide" && format !== "name";

/** Prints autoscalers batch by batch: rows of one table, or each as a document. */
export const autoscalerPrinter = (session: Session, printer: Printer, options: RowOptions): ((batch: readonly Shown[]) => Promise<boolean>) => {
  const { output, outputWatchEvents } = options;
  if (isDocument(output)) return (batch) => printer.print(documentsText(batch, output, outputWatchEvents === true));
  const print = rowPrinter(session, printer, { ...options, output });
  return (batch) => print(batch.map(({ view, ...shown }) => ({ ...shown, view: tableRowOf(view) })));
};

/** Prints rows batch by batch, as one table. With `-o name` it is the path of each, which every command takes as a name. */
export const rowPrinter = (
  { clock, ended }: Session,
  { print, paint }: Printer,
  { output, headers, showLabels, outputWatchEvents }: RowOptions & { readonly output: RowFormat },
): ((batch: readonly Shown<TableRow>[]) => Promise<boolean>) => {
  const withEvent = outputWatchEvents === true;
  if (output === "name") return (batch) => print(lines(batch.map((shown) => joined([...eventCell(shown, withEvent), pathOf(shown.view)], "   "))));
  const wide = output === "wide";
  const header = [...(withEvent ? ["EVENT"] : []), ...autoscalerHeaders(wide), ...(showLabels ? ["LABELS"] : [])];
  const table = new Table(headers === false ? undefined : header);
  return (batch) => {
    const nowMs = clock();
    const row = (shown: Shown<TableRow>): readonly Word[] => [
      ...eventCell(shown, withEvent),
      ...autoscalerColumns(shown.view, nowMs, { paint, wide, isDeleted: shown.event === "DELETED", ended: ended === true }),
      ...(showLabels ? [labelsText(shown.view)] : []),
    ];
    return print(lines(table.lines(batch.map(row))));
  };
};

const eventCell = ({ event }: Pick<Shown, "event">, withEvent: boolean): readonly string[] => (withEvent && event !== undefined ? [event] : []);

const pathOf = ({ cluster, namespace, name }: TableRow): string => `${cluster}/${namespace}/${name}`;

const documentsText = (batch: readonly Shown[], format: DocumentFormat, withEvent: boolean): Printed =>
  joined(
    batch.map(({ view, event }) => {
      const object = kubernetesObject(view);
      return text`${format === "yaml" ? text`---\n` : ""}${documentText(withEvent ? { type: event, object } : object, format)}`;
    }),
    "",
  );

/** As kubectl shows labels: "app=web,tier=front". */
const labelsText = ({ labels = {} }: TableRow): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(",") || "<none>";
