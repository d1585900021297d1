import { line, lines, type Printed, text, type Word } from "../../report/printed.ts";

/** One row of a description: a label and a text, or a heading and lines. */
export type SheetRow = readonly [label: string, text: Word] | { readonly heading: string; readonly lines: readonly Word[] };

const INDENT = "  ";
const GAP = 2;

/** Formats a description as `kubectl describe` does: labels in one column, sections indented below their heading. It ends with a line end. */
export const sheet = (rows: readonly SheetRow[]): Printed => {
  const width = Math.max(0, ...rows.map((row) => ("heading" in row ? 0 : line(row[0]).length + 1))) + GAP;
  return lines(
    rows.flatMap((row) =>
      "heading" in row
        ? [text`${row.heading}:`, ...row.lines.map((each) => text`${INDENT}${each}`.trimEnd())]
        : [text`${`${row[0]}:`.padEnd(width)}${row[1]}`],
    ),
  );
};
