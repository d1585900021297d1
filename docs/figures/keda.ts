import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stepsTable } from "../../test/sources/keda/steps/differences.ts";
import { readRecorded } from "../../test/sources/keda/steps/recorded.ts";
import { withTable } from "./page-table.ts";

/** `npm run docs -- keda`: writes what differs from KEDA, in docs/migrating.md. */
const page = join(import.meta.dirname, "../migrating.md");
writeFileSync(
  page,
  withTable(readFileSync(page, "utf8"), "steps beside KEDA", stepsTable(readRecorded())),
);
process.stdout.write("docs/migrating.md is written\n");
