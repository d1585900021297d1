import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { costTable, targetTable } from "../../lib/cost/cost-tables.ts";

/** `npm run cost`: writes the tables of docs/cost.md from the units and prices of lib/cost. A test compares them. */
const PAGE = join(import.meta.dirname, "../cost.md");

const between = (page: string, name: string, table: string): string =>
  page.replace(
    new RegExp(`(<!-- ${name} -->\\n).*?(\\n<!-- end of ${name} -->)`, "s"),
    (_all, begin: string, end: string) => `${begin}${table}${end}`,
  );

const page = readFileSync(PAGE, "utf8");
writeFileSync(PAGE, between(between(page, "targets", targetTable()), "costs", costTable()));
process.stdout.write("docs/cost.md is written\n");
