import { readdirSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * `npm run bench [-- name…]`: runs the benches of this folder one after the other, all of them or
 * those named. Each exports `run()` and prints its figures as a table. Figures are printed, never
 * asserted: a slower machine is no failure.
 */
const FOLDER = import.meta.dirname;
const ENDING = ".bench.ts";

interface Bench {
  readonly run: () => Promise<void>;
}

const known = readdirSync(FOLDER)
  .filter((file) => file.endsWith(ENDING))
  .map((file) => basename(file, ENDING))
  .sort();

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Cannot run bench "${unknown[0]}": there are ${known.join(", ")}\n`);
  process.exitCode = 1;
} else {
  for (const name of wanted.length > 0 ? wanted : known) {
    process.stdout.write(`\n${name}\n`);
    const bench: Bench = await import(join(FOLDER, `${name}${ENDING}`));
    await bench.run();
  }
}
