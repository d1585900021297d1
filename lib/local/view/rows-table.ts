import { styleText } from "node:util";
import Table from "cli-table3";
import type { Row } from "./frame.ts";
import { sparkline } from "./sparkline.ts";

interface Widths {
  /** Name over target, replicas, metric, sparklines. */
  readonly fixed: readonly [number, number, number, number];
  readonly spark: number;
  /** False where only the reason has room, not its sentence. */
  readonly sentences: boolean;
}

const WIDE_FROM = 110;
const WIDE: Widths = { fixed: [22, 11, 20, 26], spark: 24, sentences: true };
const NARROW: Widths = { fixed: [17, 10, 16, 12], spark: 10, sentences: false };
const BORDERS = 6;
const MIN_DECISION_WIDTH = 12;

/** The autoscalers as the lines of a table of at most the given width, from 72 columns on. */
export const rowsTable = (rows: readonly Row[], columns: number): string[] => {
  const widths = columns >= WIDE_FROM ? WIDE : NARROW;
  const used = widths.fixed.reduce((sum, width) => sum + width, BORDERS);
  const table = new Table({
    head: ["autoscaler", "replicas", "metric", widths.sentences ? "load / replicas" : "load", "last decision"],
    colWidths: [...widths.fixed, Math.max(MIN_DECISION_WIDTH, columns - used)],
    wordWrap: true,
    style: { head: ["bold"], border: ["dim"] },
  });
  for (const row of rows)
    table.push([`${row.name}\n${styleText("dim", row.target)}`, replicas(row), row.metrics.join("\n"), sparks(row, widths), decision(row, widths)]);
  return table.toString().split("\n");
};

const replicas = ({ current, desired }: Row): string => {
  if (current === undefined) return "-";
  return desired === undefined || desired === current ? `${current}` : styleText("cyan", `${current} → ${desired}`);
};

const sparks = ({ load, replicas: counts }: Row, { spark }: Widths): string =>
  [styleText("blue", sparkline(load, spark)), styleText("green", sparkline(counts, spark))].join("\n");

const decision = ({ state, decision: text }: Row, { sentences }: Widths): string => {
  const said = sentences ? text : (text.split(", ")[0] ?? text);
  return state === "failing" ? styleText("yellow", said) : said;
};
