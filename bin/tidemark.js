#!/usr/bin/env node

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const WANTED_MAJOR = 24;

// Older Node cannot load the command and reports that as a syntax error. This file loads on any
// Node and reports what to do.
const { node: version } = process.versions;
if (Number.parseInt(version, 10) < WANTED_MAJOR) {
  process.stderr.write(
    `error: Cannot run tidemark on Node ${version}: it needs Node ${WANTED_MAJOR} or newer\n`,
  );
  process.exitCode = 1;
} else if (process.argv[2] === "start") {
  // A run has a process to itself: it sets up the heap and the signals before it loads anything
  // else.
  process.argv.splice(2, 1);
  await import("../lib/embedded/start.ts");
} else if (process.argv.length === 3 && process.argv[2] === "--version") {
  // Loads no module but this one.
  process.stdout.write(
    `${JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version}\n`,
  );
} else {
  // Caches the code of everything imported after this line, also the JavaScript made of TypeScript:
  // then Node need not load its TypeScript compiler.
  const { enableCompileCache } = await import("node:module");
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/tidemark", import.meta.url)));
  // Also "--data DIR start" starts a run.
  const { startArgs } = process.argv.includes("start")
    ? await import("../lib/command/program.ts")
    : {};
  const args = startArgs?.(process.argv.slice(2));
  if (args) {
    process.argv.splice(2, Infinity, ...args);
    await import("../lib/embedded/start.ts");
  } else await import("../lib/command/tidemark.ts");
}
