import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { comparedTable } from "../../test/compared/compared.ts";
import { withTable } from "./page-table.ts";

/** `npm run docs -- compared`: writes the table of docs/compared.md from the list of reports. */
const page = join(import.meta.dirname, "../compared.md");
writeFileSync(page, withTable(readFileSync(page, "utf8"), "reports", comparedTable()));
process.stdout.write("docs/compared.md is written\n");
