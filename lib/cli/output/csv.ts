/** One record of RFC 4180 without its line end, which is a plain newline here so that line tools can read it; a cell is quoted only where it must be. */
export const csvLine = (cells: readonly (string | number | undefined)[]): string => cells.map(csvCell).join(",");

const csvCell = (cell: string | number | undefined): string => {
  const text = cell === undefined ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
