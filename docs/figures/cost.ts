import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { busyTable, costTable, targetTable } from "./cost-tables.ts";
import { withTable } from "./page-table.ts";

/**
 * `npm run docs -- cost`: writes the tables of docs/cost.md from the units and prices of
 * lib/command/cost.
 * A test compares them.
 */
const PAGE = join(import.meta.dirname, "../cost.md");

const page = readFileSync(PAGE, "utf8");
writeFileSync(
  PAGE,
  [
    ["targets", targetTable()],
    ["busy", busyTable()],
    ["costs", costTable()],
  ].reduce((text, [name = "", table = ""]) => withTable(text, name, table), page),
);
process.stdout.write("docs/cost.md is written\n");
