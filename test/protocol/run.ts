import { parseArgs } from "node:util";
import Table from "cli-table3";
import { check, DEEPER, isRight, MOVES, missingTool, QUESTIONS, type Verdict } from "./check.ts";

/** `npm run model [-- --deep]`: asks spin every question, prints a table and a last line `N passed, N failed`; exit 1 on any wrong answer. */
const { values } = parseArgs({ options: { deep: { type: "boolean", default: false } } });
const missing = await missingTool();
if (missing !== undefined) {
  process.stderr.write(`Cannot check the model of the protocol: ${missing}\n`);
  process.exit(1);
}

const verdicts: Verdict[] = [];
for (const question of [...QUESTIONS, ...MOVES, ...(values.deep ? DEEPER : [])]) {
  if (process.stderr.isTTY) process.stderr.write(`asking: ${question.name}\n`);
  verdicts.push(await check(question));
}

const table = new Table({ head: ["question", "must", "does", "states", "seconds", "first violation"], style: { head: [], border: [] } });
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
const failed = verdicts.filter((verdict) => !isRight(verdict)).length;
process.stdout.write(`${table.toString()}\n${verdicts.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
