import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentText } from "../../lib/command/output/documents.ts";
import { podAutoscalerDefinition } from "../../lib/rules/manifest/crd/definition.ts";
import { podAutoscalerSchema } from "../../lib/rules/manifest/native/json-schema.ts";
import { withTable } from "./page-table.ts";
import { rulesMarkdown } from "./rules-table.ts";

/**
 * `npm run docs -- crd`: writes docs/pod-autoscaler.crd.yaml, docs/pod-autoscaler.schema.json and
 * the table of rules of docs/pod-autoscaler.md from the fields and their rules. Tests compare them.
 */
const ROOT = join(import.meta.dirname, "../..");
writeFileSync(
  join(ROOT, "docs/pod-autoscaler.crd.yaml"),
  documentText(podAutoscalerDefinition(), "yaml").written(),
);
writeFileSync(
  join(ROOT, "docs/pod-autoscaler.schema.json"),
  documentText(podAutoscalerSchema(), "json").written(),
);
const PAGE = join(ROOT, "docs/pod-autoscaler.md");
writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), "rules", rulesMarkdown()));
process.stdout.write(
  "docs/pod-autoscaler.crd.yaml, docs/pod-autoscaler.schema.json and the rules in docs/pod-autoscaler.md are written\n",
);
