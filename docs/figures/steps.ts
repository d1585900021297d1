import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stepsFigure } from "./native-steps.ts";

/**
 * `npm run docs -- steps`: draws docs/images/native-steps.svg from the lists of steps of the native
 * rules. A test compares it.
 */
const ROOT = join(import.meta.dirname, "../..");
writeFileSync(
  join(ROOT, "docs/images/native-steps.svg"),
  stepsFigure(readFileSync(join(ROOT, "lib/rules/policy/native/decide.ts"), "utf8")),
);
process.stdout.write("docs/images/native-steps.svg is drawn\n");
