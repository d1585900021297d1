import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentText } from "../../lib/cli/output/document-text.ts";
import { podAutoscalerDefinition } from "../../lib/manifest/crd/definition.ts";
import { podAutoscalerSchema } from "../../lib/manifest/native/json-schema.ts";

/** `npm run docs -- crd`: writes docs/pod-autoscaler.crd.yaml and docs/pod-autoscaler.schema.json from the fields and their rules. Tests compare both. */
const ROOT = join(import.meta.dirname, "../..");
writeFileSync(join(ROOT, "docs/pod-autoscaler.crd.yaml"), documentText(podAutoscalerDefinition(), "yaml").written());
writeFileSync(join(ROOT, "docs/pod-autoscaler.schema.json"), documentText(podAutoscalerSchema(), "json").written());
process.stdout.write("docs/pod-autoscaler.crd.yaml and docs/pod-autoscaler.schema.json are written\n");
