import { parseArgs } from "node:util";
import { play } from "../play.ts";
import { playSeed } from "../seed.ts";
import { reasonOf } from "./clause-reasons.ts";
import { CLAUSES, type Clause, mutated } from "./clauses.ts";

/**
 * `npm run clauses [-- --seeds N]`: takes away every clause of every condition in lib/store, one at a time, plays seeds until an invariant breaks, and prints the table of
 * docs/proofs.md, "Every clause of every condition". Ends with 1 where none breaks and no sentence says why the clause is kept.
 */
const { values } = parseArgs({ options: { seeds: { type: "string", default: "20" }, only: { type: "string", default: "" } } });
const seeds = Number(values.seeds);

const broken = async (clause: Clause): Promise<string | undefined> => {
  const planted = { leftOut: clause.clause, sent: (command: unknown) => mutated(command, clause) };
  for (let seed = 0; seed < seeds; seed++) {
    // What is never allowed any more shows in what is not done: that needs the run without faults to compare with.
    const { violation } = await (clause.becomes === "never"
      ? playSeed(seed, { told: false, planted })
      : play(seed, { faults: true, told: false, planted }));
    if (violation) return `${violation.invariant} (seed ${seed})`;
  }
  return undefined;
};

let empty = 0;
process.stdout.write("| write | clause | becomes | what then breaks |\n|---|---|---|---|\n");
for (const clause of CLAUSES) {
  if (!`${clause.write} ${clause.clause}`.includes(values.only)) continue;
  const told = (await broken(clause)) ?? reasonOf(clause);
  if (told === undefined) empty++;
  process.stdout.write(`| ${clause.write} | \`${clause.clause}\` | ${clause.becomes} | ${told ?? ""} |\n`);
}
process.stderr.write(`${CLAUSES.length} clauses, ${empty} without an answer\n`);
process.exitCode = empty > 0 ? 1 : 0;
