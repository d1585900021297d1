import { joined, line, type Printed, type Word } from "../../report/printed.ts";

const GAP = "   ";

type Row = readonly Word[];
type PrintedRow = readonly Printed[];

/** A foreign text in a cell is escaped before it is measured. */
const printedRow = (row: Row): PrintedRow => row.map(line);

const widest = (widths: readonly number[], rows: readonly PrintedRow[]): readonly number[] =>
  rows.reduce((seen, row) => row.map((cell, column) => Math.max(seen[column] ?? 0, cell.length)), widths);

const lineOf = (row: PrintedRow, widths: readonly number[]): Printed =>
  joined(
    row.flatMap((cell, column) => (column === row.length - 1 ? [cell] : [cell, " ".repeat((widths[column] ?? 0) - cell.length) + GAP])),
    "",
  ).trimEnd();

/** Formats rows in columns as kubectl does: left-aligned, three blanks apart, no borders, the last column not padded. */
export const aligned = (rows: readonly Row[]): readonly Printed[] => {
  const shown = rows.map(printedRow);
  const widths = widest([], shown);
  return shown.map((row) => lineOf(row, widths));
};

/** The same with a header and in batches, so that a list of any length needs constant memory. A column is as wide as its widest cell so far. */
export class Table {
  readonly #headers: readonly PrintedRow[];
  #widths: readonly number[] | undefined;

  /** Without headers the first batch has only rows. */
  constructor(headers: Row | undefined) {
    this.#headers = headers ? [printedRow(headers)] : [];
  }

  /** The lines of one batch; the first batch has the header. */
  lines(batch: readonly Row[]): readonly Printed[] {
    const shown = batch.map(printedRow);
    const rows = this.#widths ? shown : [...this.#headers, ...shown];
    const widths = widest(this.#widths ?? [], rows);
    this.#widths = widths;
    return rows.map((row) => lineOf(row, widths));
  }
}
