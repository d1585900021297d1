import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answersPage } from "./answers-page.ts";
import { openApiDocument } from "./openapi-document.ts";

/**
 * `npm run docs -- openapi`: writes docs/openapi.json from the routes, and docs/answers.md from its
 * schemas. A test compares them.
 */
const ROOT = join(import.meta.dirname, "../..");
const { version }: { readonly version: string } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
writeFileSync(
  join(ROOT, "docs/openapi.json"),
  `${JSON.stringify(openApiDocument(version), undefined, 1)}\n`,
);
writeFileSync(join(ROOT, "docs/answers.md"), answersPage());
process.stdout.write("docs/openapi.json and docs/answers.md are written\n");
