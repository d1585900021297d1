import { joined, line, type Printed } from "../../report/printed.ts";

/**
 * One record of RFC 4180 without its line end. Lines end with a plain newline, so that line tools can read them. A cell is quoted only where necessary. Unprintable characters are escaped as in a table.
 */
export const csvLine = (cells: readonly (string | number | undefined)[]): Printed => joined(cells.map(csvCell), ",");

/** A spreadsheet takes a cell for a formula when its text begins with one of these. A quote before it makes it a text. */
const FORMULA = /^[=+\-@]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

const csvCell = (cell: string | number | undefined): string => {
  const text = cell === undefined ? "" : line(cell).written();
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
