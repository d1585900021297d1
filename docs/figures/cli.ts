import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandsMarkdown } from "./cli-page.ts";
import { withTable } from "./page-table.ts";

/**
 * `npm run docs -- cli`: writes the commands of docs/cli.md from their definitions. A test compares
 * them.
 */
const PAGE = join(import.meta.dirname, "../cli.md");
writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), "commands", commandsMarkdown()));
process.stdout.write("the commands of docs/cli.md are written\n");
