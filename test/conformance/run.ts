import { existsSync } from "node:fs";
import { report } from "./report.ts";

/**
 * `npm run prove -- conformance PATH…`: runs every vector file below the paths. Exit code 1 if any
 * case failed or none ran.
 */
const paths = process.argv.slice(2);
const lost = paths.find((path) => !existsSync(path));
if (paths.length === 0 || lost !== undefined) {
  const problem = lost === undefined ? "" : `there is no "${lost}"; `;
  process.stderr.write(
    `Cannot run conformance: ${problem}give files or folders of vectors, for example test/conformance/vectors/hpa\n`,
  );
  process.exitCode = 1;
} else process.exitCode = report(paths, (text) => process.stdout.write(`${text}\n`)) ? 0 : 1;
