import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { reasonsPage } from "./reasons-page.ts";

/**
 * `npm run docs -- reasons`: writes docs/reasons.md from the list of reasons. A test compares it.
 */
writeFileSync(join(import.meta.dirname, "../../docs/reasons.md"), reasonsPage());
process.stdout.write("docs/reasons.md is written\n");
