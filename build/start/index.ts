import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { requireIn } from "./bundled-files.ts";
import { CODE_FILE, MAIN_FILE, NODE_HERE, readCodeFile } from "./code-file.ts";

/**
 * What Lambda loads of each function: it loads the bundle with the code that was compiled when the
 * function was packaged. Where V8 refuses the code (another V8, another architecture), the bundle
 * is compiled as without it, and a line of the log says so once. With source maps Node itself
 * loads the bundle, because it reads maps only of what it loads itself.
 */
const loadMain = (): Readonly<Record<string, unknown>> => {
  const path = join(__dirname, CODE_FILE);
  if (process.sourceMapsEnabled || !existsSync(path))
    return createRequire(__filename)(`./${MAIN_FILE}`);
  const { node, codeOf } = readCodeFile(readFileSync(path));
  let isRefused = false;
  return requireIn(__dirname, codeOf, ({ script: { cachedDataRejected } }) => {
    if (isRefused || cachedDataRejected !== true) return;
    isRefused = true;
    process.stdout.write(
      `${JSON.stringify({
        level: "INFO",
        message: `The compiled code of this package was made by Node ${node}, and Node ${NODE_HERE} refuses it, so that a start takes longer: package it with the Node of the function`,
      })}\n`,
    );
  })(MAIN_FILE);
};

export const { handler } = loadMain();
