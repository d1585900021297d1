import { report } from "./report.ts";

/** `npm run conformance -- PATH…`: runs every vector file below the paths. Exit code 1 if any case failed or none ran. */
const paths = process.argv.slice(2);
if (paths.length === 0) {
  process.stderr.write("Cannot run conformance: give files or folders of vectors, for example test/conformance/vectors/hpa\n");
  process.exitCode = 1;
} else process.exitCode = report(paths, (text) => process.stdout.write(`${text}\n`)) ? 0 : 1;
