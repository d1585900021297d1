import { stripVTControlCharacters } from "node:util";

const GAP = "   ";

type Row = readonly string[];

const widthOf = (cell: string): number => stripVTControlCharacters(cell).length;

const widest = (widths: readonly number[], rows: readonly Row[]): readonly number[] =>
  rows.reduce((seen, row) => row.map((cell, column) => Math.max(seen[column] ?? 0, widthOf(cell))), widths);

const lineOf = (row: Row, widths: readonly number[]): string =>
  row
    .map((cell, column) => (column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)) + GAP))
    .join("")
    .trimEnd();

/** Formats rows in columns as kubectl does: left-aligned, three blanks apart, no borders, the last column not padded. */
export const aligned = (rows: readonly Row[]): readonly string[] => {
  const widths = widest([], rows);
  return rows.map((row) => lineOf(row, widths));
};

/** The same with a header and in batches, so that a list of any length needs constant memory. A column is as wide as its widest cell so far. */
export class Table {
  readonly #headers: readonly Row[];
  #widths: readonly number[] | undefined;

  /** Without headers the first batch has rows alone. */
  constructor(headers: Row | undefined) {
    this.#headers = headers ? [headers] : [];
  }

  /** The lines of one batch; the first batch has the header. */
  lines(batch: readonly Row[]): readonly string[] {
    const rows = this.#widths ? batch : [...this.#headers, ...batch];
    const widths = widest(this.#widths ?? [], rows);
    this.#widths = widths;
    return rows.map((row) => lineOf(row, widths));
  }
}
