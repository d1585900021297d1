import { parseArgs } from "node:util";
import { play } from "../play.ts";
import { STEP } from "../watch/model-steps.ts";
import { PLANTED } from "./all.ts";

/** `node test/simulation/planted/first-seeds.ts [--seeds N]`: the first seed that shows each planted mistake, and the invariant that it breaks; for the table in docs/proofs-report.md. */
const { values } = parseArgs({ options: { seeds: { type: "string", default: "200" } } });
const seeds = Number(values.seeds);

for (const planted of PLANTED) {
  let found = `not in ${seeds} seeds`;
  for (let seed = 0; seed < seeds; seed++) {
    const unwatched = planted.caughtBy.includes(STEP) ? {} : { unwatched: STEP };
    const { violation } = await play(seed, { faults: true, told: false, planted, ...unwatched });
    // A mistake may lead to others; the table is of what it is known for.
    if (!violation || !planted.caughtBy.includes(violation.invariant)) continue;
    found = `seed ${seed}: ${violation.invariant}`;
    break;
  }
  process.stdout.write(`${planted.leftOut}: ${found}\n`);
}
