import { UNKNOWN } from "../../stack/report/metric-reading.ts";
import { type Printed, type Word, joined, lines, text } from "../../stack/report/printed.ts";
import type { TableRow } from "../../answers/service/views/row-view.ts";
import { stateWords } from "../../answers/words/state-words.ts";
import type { AutoscalerState, AutoscalerView } from "../../answers/views/autoscaler.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { Table } from "./text-table.ts";
import type { Paint, Style, Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText, kubernetesObject, type Writer } from "./documents.ts";

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

/**
 * For example "held: monitor", with the cause of the hold, "active, overridden", or "active, 2 of 4
 * metrics missing": what was decided by the others may change when they are back.
 */
export const stateText = (
  view: Parameters<typeof stateWords>[0] &
    Pick<TableRow, "targets"> &
    Partial<Pick<TableRow, "moreTargets" | "missingMetrics">>,
  paint: Paint,
): Printed => {
  const { state, targets, moreTargets = 0, missingMetrics: missing = 0 } = view;
  const isPartly = DECIDED_STATES.has(state) && missing > 0;
  const words = stateWords(view);
  return paint(
    isPartly ? "warn" : STATE_STYLES[state],
    isPartly ? `${words}, ${missing} of ${targets.length + moreTargets} metrics missing` : words,
  );
};

const DECIDED_STATES: ReadonlySet<string> = new Set(["active", "limited", "held", "shadow"]);

export const referenceText = ({ target }: Pick<AutoscalerView, "target">): string =>
  target ? `${target.kind}/${target.name}` : UNKNOWN;

export const countText = (count: number | undefined): string =>
  count === undefined ? UNKNOWN : String(count);

/** For example "9 (5m ago)": the last known count is marked with its age. */
export const currentText = (
  { currentReplicas, lastKnown }: Pick<AutoscalerView, "currentReplicas" | "lastKnown">,
  nowMs: number,
): string => {
  if (!lastKnown) return countText(currentReplicas);
  return lastKnown.at === undefined
    ? `${lastKnown.replicas}?`
    : `${lastKnown.replicas} (${ageText(nowMs - Date.parse(lastKnown.at))} ago)`;
};

const targetsText = ({ targets, moreTargets }: TableRow): string => {
  if (targets.length === 0) return NONE;
  const shown = targets.join(", ");
  return moreTargets === undefined ? shown : `${shown} + ${moreTargets} more...`;
};

interface RowForm {
  readonly nowMs: number;
  readonly paint: Paint;
  /** True for an autoscaler that was deleted since it was read. */
  readonly isDeleted?: boolean;
  /** True where no run is alive: its clock stands, so that every age would look young. */
  readonly ended?: boolean;
}

const agoText = (ageMs: number | undefined, { ended }: RowForm): string =>
  ageMs === undefined ? "never" : ended ? "no run" : `${ageText(ageMs)} ago`;

/** The columns of `get`. Those that only the wide table has make the other one fit 120 columns. */
const COLUMNS: readonly {
  readonly header: string;
  readonly wide?: true;
  readonly cell: (row: TableRow, form: RowForm) => Word;
}[] = [
  { header: "CLUSTER", cell: ({ cluster }) => cluster },
  { header: "NAMESPACE", cell: ({ namespace }) => namespace },
  { header: "NAME", cell: ({ name }) => name },
  { header: "REFERENCE", wide: true, cell: (row) => referenceText(row) },
  { header: "TARGETS", cell: (row) => targetsText(row) },
  { header: "MIN", cell: ({ minInForce, minReplicas }) => countText(minInForce ?? minReplicas) },
  { header: "MAX", cell: ({ maxInForce, maxReplicas }) => countText(maxInForce ?? maxReplicas) },
  { header: "CURRENT", cell: (row, { nowMs }) => currentText(row, nowMs) },
  { header: "DESIRED", cell: ({ desiredReplicas }) => countText(desiredReplicas) },
  {
    header: "STATE",
    cell: (row, { isDeleted, paint }) =>
      isDeleted ? paint("quiet", "deleted") : stateText(row, paint),
  },
  { header: "REASON", wide: true, cell: ({ reason }) => reason ?? NONE },
  {
    header: "FINDINGS",
    wide: true,
    cell: ({ findings = 0, measuredAt }) => (measuredAt === undefined ? NONE : String(findings)),
  },
  {
    header: "SYNCED",
    cell: ({ ageSeconds }, form) =>
      agoText(ageSeconds === undefined ? undefined : ageSeconds * 1000, form),
  },
  {
    header: "MEASURED",
    wide: true,
    cell: ({ measuredAt }, form) =>
      agoText(
        measuredAt === undefined ? undefined : Math.max(0, form.nowMs - Date.parse(measuredAt)),
        form,
      ),
  },
  {
    header: "AGE",
    wide: true,
    cell: ({ createdAt }, { nowMs }) => ageText(nowMs - Date.parse(createdAt)),
  },
];

const columnsOf = (wide: boolean) => (wide ? COLUMNS : COLUMNS.filter((column) => !column.wide));

/** The cells of a row, by default of the wide table. */
export const autoscalerRow = (
  row: TableRow,
  nowMs: number,
  paint: Paint,
  { wide = true, ...form }: Pick<RowForm, "isDeleted" | "ended"> & { readonly wide?: boolean } = {},
): readonly Word[] => columnsOf(wide).map(({ cell }) => cell(row, { nowMs, paint, ...form }));

type RowFormat = "table" | "wide" | "name";

export interface RowOptions {
  readonly output: RowFormat | DocumentFormat;
  readonly showLabels?: true;
  /** Each autoscaler comes with its event: in a first column, or around the document. */
  readonly outputWatchEvents?: true;
  /** False for --no-headers. */
  readonly headers?: boolean;
}

/**
 * An autoscaler, and while it is watched what happened to it, in the words of the Kubernetes API. A
 * document needs the whole autoscaler, a table its row.
 */
export interface Shown<Form> {
  readonly view: Form;
  readonly event?: "ADDED" | "MODIFIED" | "DELETED";
}

export const isDocument = (format: RowFormat | DocumentFormat): format is DocumentFormat =>
  format !== "table" && format !== "wide" && format !== "name";

/**
 * Formats rows batch by batch, as one table. With `-o name` it is the path of each, which every
 * command takes as a name.
 */
export const rowWriter = (
  { clock, ended }: Session,
  { paint }: Printer,
  { output, headers, showLabels, outputWatchEvents }: RowOptions & { readonly output: RowFormat },
): Writer<Shown<TableRow>> => {
  const eventCell = ({ event }: Shown<TableRow>): readonly string[] =>
    outputWatchEvents && event !== undefined ? [event] : [];
  if (output === "name") {
    const pathOf = ({ cluster, namespace, name }: TableRow): string =>
      `${cluster}/${namespace}/${name}`;
    return {
      batch: (batch) =>
        lines(batch.map((shown) => joined([...eventCell(shown), pathOf(shown.view)], "   "))),
    };
  }
  const wide = output === "wide";
  const header = [
    ...(outputWatchEvents ? ["EVENT"] : []),
    ...columnsOf(wide).map((column) => column.header),
    ...(showLabels ? ["LABELS"] : []),
  ];
  const table = new Table(headers === false ? undefined : header);
  const rowOf = (shown: Shown<TableRow>, nowMs: number): readonly Word[] => [
    ...eventCell(shown),
    ...autoscalerRow(shown.view, nowMs, paint, {
      wide,
      isDeleted: shown.event === "DELETED",
      ended: ended === true,
    }),
    ...(showLabels ? [labelsText(shown.view)] : []),
  ];
  return {
    batch: (batch) => {
      const nowMs = clock();
      return lines(table.lines(batch.map((shown) => rowOf(shown, nowMs))));
    },
  };
};

/** Formats each autoscaler as a document of its own, with its event around it. */
export const documentsText = (
  batch: readonly Shown<AutoscalerView>[],
  format: DocumentFormat,
  withEvent: boolean,
): Printed =>
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
    .join(",") || NONE;
