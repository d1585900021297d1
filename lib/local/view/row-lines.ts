import { joined, type Printed, styled, text, type Word } from "../../report/printed.ts";
import type { Row } from "./frame.ts";
import { sparkline } from "./sparkline.ts";
import { cut, wrapped } from "./wrapped.ts";

const INDENT = "  ";
const GAP = "   ";
/** From this width on load and replicas stand side by side. */
const WIDE_FROM = 100;
const SPARK_MAX = 40;

/** Lines that one autoscaler takes: the same for all of them and at all times, so that nothing below moves when a sentence becomes longer. */
export const rowHeight = (columns: number, reasonLines: number): number => (columns >= WIDE_FROM ? 2 : 3) + reasonLines;

/** One autoscaler: name, counts, state and metrics; load and replicas over time with their scale; the last decision in words. */
export const rowLines = (row: Row, columns: number, reasonLines: number): readonly Word[] => {
  const reason = wrapped(row.decision, columns - INDENT.length, reasonLines).map((line) => text`${INDENT}${painted(row.state, line)}`);
  return [head(row, columns), ...sparks(row, columns), ...reason, ...Array.from({ length: reasonLines - reason.length }, () => "")];
};

/** The amount per pod behind a percentage: "cpu 72% (362m) of 60%". */
const RAW_AMOUNT = / \([^)]*\)/g;

/** All of it where there is room, else without the amounts per pod, which `describe` shows too. */
const fitted = (metrics: string, room: number): string => (metrics.length <= room ? metrics : cut(metrics.replaceAll(RAW_AMOUNT, ""), room));

/** The metrics come last and are cut before the name is. */
const head = (row: Row, columns: number): Printed => {
  const { name, state, metrics } = row;
  const plain = [name, counts(row), state].join(GAP);
  const room = columns - plain.length - GAP.length;
  const metricsText = room > 0 ? fitted(metrics.join(", "), room) : "";
  if (plain.length > columns) return styled("bold", cut(plain, columns));
  const shown = isMoving(row) ? styled("cyan", counts(row)) : counts(row);
  return joined([styled("bold", name), shown, painted(state, state), metricsText], GAP).trimEnd();
};

const isMoving = ({ current, desired }: Row): boolean => current !== undefined && desired !== undefined && current !== desired;

const counts = (row: Row): string => {
  const { current, desired, lastKnown, min, max } = row;
  const now = current === undefined ? (lastKnown ?? "?") : isMoving(row) ? `${current} → ${desired}` : String(current);
  return `${now} pods${min === undefined || max === undefined ? "" : ` (${min} to ${max})`}`;
};

const sparks = (row: Row, columns: number): readonly Word[] => {
  const wide = columns >= WIDE_FROM;
  const width = wide ? Math.floor((columns - GAP.length) / 2) : columns;
  const load = spark("load", row.load, row.loadUnit, { width, colour: "blue" });
  const replicas = spark("pods", row.replicas, "", { width, colour: "green" });
  return wide ? [text`${load}${" ".repeat(Math.max(0, width - load.length) + GAP.length)}${replicas}`] : [load, replicas];
};

/** "load 345 ▁▂▃▅▇ 0 to 412 calls per minute": bars begin at zero, and the scale says where they end. */
const spark = (
  label: string,
  values: readonly number[],
  unit: string,
  { width, colour }: { readonly width: number; readonly colour: "blue" | "green" },
): Printed => {
  if (values.length === 0) return text``;
  const before = `${INDENT}${label} ${String(Math.round(values.at(-1) ?? 0)).padStart(5)} `;
  const scale = ` 0 to ${Math.round(Math.max(...values))}`;
  const cells = Math.max(1, Math.min(SPARK_MAX, width - before.length - scale.length - unit.length - 1));
  const after = cut(`${scale}${unit === "" ? "" : ` ${unit}`}`, Math.max(0, width - before.length - cells));
  const bars = sparkline(values, cells).padStart(cells);
  return text`${before}${styled(colour, bars)}${after}`;
};

const painted = (state: string, words: string): Word => (/^(failing|invalid)/.test(state) ? styled("yellow", words) : words);
