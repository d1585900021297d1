import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentText } from "../../lib/command/output/documents.ts";
import { clusterDocumentSchema } from "../../lib/rules/manifest/native/json-schema.ts";
import { clusterFieldsMarkdown } from "./cluster-fields.ts";
import { withTable } from "./page-table.ts";

/**
 * `npm run docs -- cluster`: writes docs/cluster.schema.json and the table of fields of
 * docs/clusters-in-git.md. Tests compare them.
 */
const ROOT = join(import.meta.dirname, "../..");
writeFileSync(
  join(ROOT, "docs/cluster.schema.json"),
  documentText(clusterDocumentSchema(), "json").written(),
);
const PAGE = join(ROOT, "docs/clusters-in-git.md");
writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), "fields", clusterFieldsMarkdown()));
process.stdout.write(
  "docs/cluster.schema.json and the fields in docs/clusters-in-git.md are written\n",
);
