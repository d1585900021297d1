import { parseArgs } from "node:util";
import { PLANTED } from "./all.ts";
import { firstSeed, shownBy } from "./search.ts";

/**
 * `node test/simulation/planted/first-seeds.ts [--seeds N] [--all]`: the first seed that shows each
 * planted mistake; for the table in docs/proofs-report.md. Without --all only of those that the
 * seed of their row does not show any more.
 */
const { values } = parseArgs({
  options: { seeds: { type: "string", default: "250" }, all: { type: "boolean", default: false } },
});
const limits = { seeds: Number(values.seeds), searchMs: Number.POSITIVE_INFINITY };

for (const planted of PLANTED) {
  const isKnown = !values.all && (await shownBy(planted, planted.seed));
  const seed = isKnown ? planted.seed : await firstSeed(planted, limits);
  const said = isKnown
    ? `seed ${planted.seed} still shows it`
    : seed === undefined
      ? `not in ${limits.seeds} seeds`
      : `seed ${seed}`;
  process.stdout.write(`${planted.leftOut}: ${said}\n`);
}
