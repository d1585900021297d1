import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withTable } from "./page-table.ts";
import { sizeRows, sizesMarkdown } from "./sizes-table.ts";

/**
 * `npm run docs -- sizes`: writes the sizes of the functions into docs/api.md. A test compares them
 * with the code.
 */
const PAGE = join(import.meta.dirname, "../api.md");

writeFileSync(
  PAGE,
  withTable(readFileSync(PAGE, "utf8"), "sizes", sizesMarkdown(await sizeRows())),
);
process.stdout.write("docs/api.md is written\n");
