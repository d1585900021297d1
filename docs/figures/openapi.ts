import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "./openapi-document.ts";

/** `npm run docs -- openapi`: writes docs/openapi.json from the routes. A test compares it. */
const ROOT = join(import.meta.dirname, "../..");
const { version }: { readonly version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
writeFileSync(join(ROOT, "docs/openapi.json"), `${JSON.stringify(openApiDocument(version), undefined, 1)}\n`);
process.stdout.write("docs/openapi.json is written\n");
