import { withTable } from "../../docs/figures/page-table.ts";

/** A table of a page whose rows are measured in several runs. */
export interface KeptTable {
  /** The name in the comments around it. */
  readonly name: string;
  readonly head: readonly string[];
  /** How many of the first cells tell one row from another. */
  readonly keyCells: number;
}

type Row = readonly string[];

const line = (cells: Row): string => `| ${cells.join(" | ")} |`;

/**
 * The page with these rows in the table, in the place of earlier rows with the same keys. The other
 * rows stay; all are in order of their first cell, a number.
 */
export const withRows = (
  page: string,
  { name, head, keyCells }: KeptTable,
  rows: readonly Row[],
): string => {
  const key = (row: Row): string => row.slice(0, keyCells).join(" | ");
  const all = new Map([...rowsIn(page, name), ...rows].map((row) => [key(row), row]));
  const sorted = [...all.values()].toSorted((a, b) => countIn(a[0]) - countIn(b[0]));
  return withTable(
    page,
    name,
    [line(head), line(head.map(() => "---")), ...sorted.map(line)].join("\n"),
  );
};

const rowsIn = (page: string, name: string): readonly Row[] => {
  const [, text = ""] =
    new RegExp(`<!-- ${name} -->\\n(.*?)\\n<!-- end of ${name} -->`, "s").exec(page) ?? [];
  return text
    .split("\n")
    .slice(2)
    .map((row) => row.slice(2, -2).split(" | "));
};

const countIn = (cell = ""): number => Number(cell.replaceAll(",", ""));
