import { joined, line, type Printed, type Word, lines, text } from "../../stack/report/printed.ts";

const GAP = "   ";

type Row = readonly Word[];
type PrintedRow = readonly Printed[];

const widest = (widths: readonly number[], rows: readonly PrintedRow[]): readonly number[] =>
  rows.reduce(
    (seen, row) => row.map((cell, column) => Math.max(seen[column] ?? 0, cell.length)),
    widths,
  );

const lineOf = (row: PrintedRow, widths: readonly number[]): Printed =>
  joined(
    row.flatMap((cell, at) =>
      at === row.length - 1 ? [cell] : [cell, " ".repeat((widths[at] ?? 0) - cell.length) + GAP],
    ),
  ).trimEnd();

/**
 * Formats rows in columns as kubectl does: left-aligned, three blanks apart, no borders, the last
 * column not padded.
 */
export const aligned = (rows: readonly Row[]): readonly Printed[] => {
  // A foreign text in a cell is escaped before it is measured.
  const shown = rows.map((row) => row.map(line));
  const widths = widest([], shown);
  return shown.map((row) => lineOf(row, widths));
};

/**
 * The same with a header and in batches, so that a list of any length needs constant memory. A
 * column is as wide as its widest cell so far.
 */
export class Table {
  readonly #headers: readonly PrintedRow[];
  #widths: readonly number[] | undefined;

  /** Without headers the first batch has only rows. */
  constructor(headers: Row | undefined) {
    this.#headers = headers ? [headers.map(line)] : [];
  }

  /** The lines of one batch; the first batch has the header. */
  lines(batch: readonly Row[]): readonly Printed[] {
    const shown = batch.map((row) => row.map(line));
    const rows = this.#widths ? shown : [...this.#headers, ...shown];
    const widths = widest(this.#widths ?? [], rows);
    this.#widths = widths;
    return rows.map((row) => lineOf(row, widths));
  }
}

/** One row of a description: a label and a text, or a heading and lines. */
export type SheetRow =
  | readonly [label: string, text: Word]
  | { readonly heading: string; readonly lines: readonly Word[] };

const INDENT = "  ";
const SHEET_GAP = 2;

/**
 * Formats a description as `kubectl describe` does: labels in one column, sections indented below
 * their heading. It ends with a line end.
 */
export const sheet = (rows: readonly SheetRow[]): Printed => {
  const width =
    Math.max(0, ...rows.map((row) => ("heading" in row ? 0 : line(row[0]).length + 1))) + SHEET_GAP;
  return lines(
    rows.flatMap((row) =>
      "heading" in row
        ? [text`${row.heading}:`, ...row.lines.map((each) => text`${INDENT}${each}`.trimEnd())]
        : [text`${`${row[0]}:`.padEnd(width)}${row[1]}`],
    ),
  );
};

/**
 * One record of RFC 4180 without its line end. Lines end with a plain newline, so that line tools
 * can read them. A cell is quoted only where necessary. Unprintable characters are escaped as in a
 * table.
 */
export const csvLine = (cells: readonly (string | number | undefined)[]): Printed =>
  joined(cells.map(csvCell), ",");

/**
 * A spreadsheet takes a cell for a formula when its text begins with one of these. A quote before
 * it makes it a text.
 */
const FORMULA = /^[=+\-@]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

const csvCell = (cell: string | number | undefined): string => {
  const shown = cell === undefined ? "" : line(cell).written();
  const safe = FORMULA.test(shown) && !NUMBER.test(shown) ? `'${shown}` : shown;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
