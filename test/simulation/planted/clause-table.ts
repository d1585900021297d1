import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { withTable } from "../../../docs/figures/page-table.ts";
import { play } from "../play.ts";
import { playSeed } from "../seed.ts";
import type { Invariant } from "../watch/ledger.ts";
import { STEP } from "../watch/model-steps.ts";
import { reasonOf } from "./clause-reasons.ts";
import { CLAUSES, type Clause, mutated } from "./clauses.ts";

/**
 * `npm run prove -- clauses [--seeds N] [--only PART]`: takes away every clause of every condition
 * in lib/stack/store, one at a time, plays seeds until an invariant breaks, prints a row for each,
 * and writes the table of docs/proofs-report.md, "Every clause of every condition" (with --only
 * nothing is written). Ends with 1 where none breaks and no sentence says why the clause is kept.
 */
const { values } = parseArgs({
  options: { seeds: { type: "string", default: "20" }, only: { type: "string", default: "" } },
});
const seeds = Number(values.seeds);

/**
 * The check against the model often tells first, and not of what it leads to. So it is silent at
 * first.
 */
const broken = async (clause: Clause): Promise<string | undefined> =>
  (await firstBroken(clause, STEP)) ?? firstBroken(clause);

const firstBroken = async (clause: Clause, unwatched?: Invariant): Promise<string | undefined> => {
  const planted = { leftOut: clause.clause, sent: (command: unknown) => mutated(command, clause) };
  const options = { told: false, planted, ...(unwatched && { unwatched }) };
  for (let seed = 0; seed < seeds; seed++) {
    // What is never allowed any more shows in what is not done: that needs the run without faults
    // to compare with.
    const { violation } = await (clause.becomes === "never"
      ? playSeed(seed, options)
      : play(seed, { ...options, faults: true }));
    if (violation) return `${violation.invariant} (seed ${seed})`;
  }
  return undefined;
};

const PAGE = "docs/proofs-report.md";
const rows = ["| write | clause | becomes | what then breaks |", "|---|---|---|---|"];
let empty = 0;
for (const clause of CLAUSES) {
  if (!`${clause.write} ${clause.clause}`.includes(values.only)) continue;
  const told = (await broken(clause)) ?? reasonOf(clause);
  if (told === undefined) empty++;
  const row = `| ${clause.write} | \`${clause.clause}\` | ${clause.becomes} | ${told ?? ""} |`;
  rows.push(row);
  process.stdout.write(`${row}\n`);
}
if (values.only === "" && empty === 0)
  writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), "clauses", rows.join("\n")));
process.stderr.write(`${CLAUSES.length} clauses, ${empty} without an answer\n`);
process.exitCode = empty > 0 ? 1 : 0;
