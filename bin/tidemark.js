#!/usr/bin/env node

const WANTED_MAJOR = 24;

// Older Node cannot load the command and reports that as a syntax error. This file loads on any Node and reports what to do.
const { node: version } = process.versions;
if (Number.parseInt(version, 10) < WANTED_MAJOR) {
  process.stderr.write(`error: Cannot run tidemark on Node ${version}: it needs Node ${WANTED_MAJOR} or newer\n`);
  process.exitCode = 1;
} else {
  await import("../lib/cli/tidemark.ts");
}
