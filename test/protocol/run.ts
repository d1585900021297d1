import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { withTable } from "../../docs/figures/page-table.ts";
import { check, DEEPER_MOVES, isRight, MOVES, missingTool, type Verdict } from "./check.ts";
import { DEEPER, QUESTIONS } from "./questions.ts";

/**
 * `npm run prove -- model [--deep] [--only TEXT] [--write]`: asks spin every question, prints a
 * table and a last line `N passed, N failed`; exit 1 on any wrong answer. With --write it writes
 * what was asked of the first model into docs/proofs-report.md.
 */
const { values } = parseArgs({
  options: {
    deep: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    write: { type: "boolean", default: false },
  },
});
const missing = await missingTool();
if (missing !== undefined) {
  process.stderr.write(`Cannot check the model of the protocol: ${missing}\n`);
  process.exit(1);
}

const verdicts: Verdict[] = [];
const all = [...QUESTIONS, ...MOVES, ...(values.deep ? [...DEEPER, ...DEEPER_MOVES] : [])];
for (const question of all.filter(({ name, model }) => `${model}: ${name}`.includes(values.only))) {
  if (process.stderr.isTTY) process.stderr.write(`asking: ${question.name}\n`);
  verdicts.push(await check(question));
}

const table = new Table({
  head: ["question", "must", "does", "states", "seconds", "first violation"],
  style: { head: [], border: [] },
});
for (const verdict of verdicts) {
  const { asked, held, complete, states, seconds, violated } = verdict;
  table.push([
    asked.name,
    asked.holds ? "hold" : "break",
    complete ? (held ? "holds" : "breaks") : "not run to the end",
    states,
    seconds,
    violated ?? "",
  ]);
}
if (values.write) {
  const PAGE = "docs/proofs-report.md";
  const rows = verdicts
    .filter(({ asked, complete }) => asked.model === "exactly-once" && complete)
    .map(
      ({ asked, held, states, violated }) =>
        `| ${asked.name} | ${held ? "every promise is kept" : violated} | ${states.toLocaleString("en-US")} |`,
    );
  const printed = ["| asked | answer | states |", "|---|---|---|", ...rows].join("\n");
  writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), "model", printed));
}
const failed = verdicts.filter((verdict) => !isRight(verdict)).length;
process.stdout.write(`${table.toString()}\n${verdicts.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
