import { UNKNOWN } from "../../report/metric-reading.ts";
import type { Printed, Word } from "../../report/printed.ts";
import { stateWords, type TableRow } from "../../service/views/row-view.ts";
import type { AutoscalerState, AutoscalerView } from "../../views/autoscaler.ts";
import { ageText } from "./age-text.ts";
import type { Paint, Style } from "../io.ts";

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

export const autoscalerHeaders = (wide: boolean): readonly string[] =>
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
export const stateText = (view: Parameters<typeof stateWords>[0] & Partial<Pick<AutoscalerView, "metrics">>, paint: Paint): Printed => {
  const { state, metrics = [] } = view;
  const missing = metrics.filter(({ kind }) => kind === "failed").length;
  const isPartly = DECIDED_STATES.has(state) && missing > 0;
  const words = stateWords(view);
  return paint(isPartly ? "warn" : STATE_STYLES[state], isPartly ? `${words}, ${missing} of ${metrics.length} metrics missing` : words);
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

/** The row of the table. */
export const autoscalerColumns = (row: TableRow, nowMs: number, { paint, wide, isDeleted = false, ended = false }: RowForm): readonly Word[] =>
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
