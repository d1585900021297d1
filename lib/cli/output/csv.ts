/** One record of RFC 4180 without its line end. Lines end with a plain newline, so that line tools can read them. A cell is quoted only where necessary. */
export const csvLine = (cells: readonly (string | number | undefined)[]): string => cells.map(csvCell).join(",");

const csvCell = (cell: string | number | undefined): string => {
  const text = cell === undefined ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
