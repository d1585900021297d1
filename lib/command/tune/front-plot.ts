import type { FrontReport, TuneReport } from "./report.ts";
import { percentText } from "../replay/sheet.ts";

const GUTTER = 10;
const ROWS = 10;
const COLUMNS_MIN = 30;

/** Marks of the points: the first letter of a name, in the order in which names cover each other. */
const markOf = ({ names: [name] }: FrontReport): string => name?.charAt(0) ?? "·";

/**
 * The front as points of replica-hours and time above the target, the policy of now as a circle:
 * what is left of it and below it is better.
 */
export const frontPlot = (
  { front, now }: Pick<TuneReport, "front" | "now">,
  columns: number,
): readonly string[] => {
  const width = Math.max(COLUMNS_MIN, columns) - GUTTER - 2;
  const shown = [...front.map((one) => ({ figures: one.figures, mark: markOf(one) }))]
    // Named points are drawn above the others.
    .toSorted((one, other) => Number(one.mark !== "·") - Number(other.mark !== "·"));
  const all = [...shown, { figures: now, mark: "○" }];
  const hours = all.map(({ figures }) => figures.replicaHours);
  const aboves = all.map(({ figures }) => figures.aboveTarget ?? 0);
  const [left, right] = [Math.min(...hours), Math.max(...hours)];
  const [low, high] = [Math.min(...aboves), Math.max(...aboves)];
  const grid = Array.from({ length: ROWS }, () => new Array<string>(width).fill(" "));
  for (const { figures, mark } of all) {
    const column = placeOf(figures.replicaHours, left, right, width);
    const row = ROWS - 1 - placeOf(figures.aboveTarget ?? 0, low, high, ROWS);
    const line = grid[row];
    if (line) line[column] = mark;
  }
  const labels = new Map([
    [0, percentText(high)],
    [ROWS - 1, percentText(low)],
  ]);
  const [least, most] = [String(left), `${right} replica-hours`];
  return [
    "time above target",
    ...grid.map(
      (line, row) => `${(labels.get(row) ?? "").padStart(GUTTER - 1)} ┤${line.join("").trimEnd()}`,
    ),
    `${" ".repeat(GUTTER)}└${"─".repeat(width)}`,
    `${" ".repeat(GUTTER + 1)}${least}${most.padStart(width - least.length)}`,
    "○ as it is   c cheapest   s safest   k knee   f fewest   · others",
  ];
};

const placeOf = (value: number, least: number, most: number, places: number): number =>
  most === least ? 0 : Math.round(((value - least) / (most - least)) * (places - 1));
