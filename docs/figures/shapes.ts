import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shapesTable } from "../../test/manifest/import/keda-shapes/outcomes.ts";
import { fieldsTable } from "../../test/manifest/import/keda-shapes/schema.ts";
import { withTable } from "./page-table.ts";

/** `npm run docs -- shapes`: writes what becomes of ScaledObjects and of their fields, in docs/migrating.md. */
const page = join(import.meta.dirname, "../migrating.md");
const written = withTable(readFileSync(page, "utf8"), "ScaledObjects by type", shapesTable());
writeFileSync(page, withTable(written, "fields of triggers", fieldsTable()));
process.stdout.write("docs/migrating.md is written\n");
