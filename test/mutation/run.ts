import Table from "cli-table3";
import { measure, readReport } from "./measure.ts";
import { PARTS } from "./parts.ts";
import { leftOver, type PartSummary, scoreOf, summaryOf, totalOf } from "./summary.ts";

/**
 * `npm run mutation [-- PART…]`: changes lib/policy and lib/model in small ways, one part after the other, and runs their tests against each change. Each part's result is
 * left in reports/mutation; last come what was not killed and a table of all parts measured so far. Exit code 1 if a part cannot be measured.
 */
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const row = (name: string, summary: PartSummary): string[] => {
  const { mutants, killed, endless, slow, survived, uncovered, broken, ignored } = summary;
  return [name, ...[mutants, killed, endless, slow, survived, uncovered, broken, ignored].map(String), scoreOf(summary)?.toFixed(1) ?? "none"];
};

const printTable = (): void => {
  const measured = Object.keys(PARTS).flatMap((part) => {
    const report = readReport(part);
    return report ? [{ part, summary: summaryOf(report) }] : [];
  });
  const table = new Table({
    head: ["part", "mutants", "killed", "endless", "timed out", "survived", "not reached", "broken", "not tried", "score"],
    style: { head: [], border: [] },
  });
  for (const { part, summary } of measured) table.push(row(part, summary));
  table.push(row("all", totalOf(measured.map(({ summary }) => summary))));
  say(table.toString());
};

const main = async (wanted: readonly string[]): Promise<void> => {
  const unknown = wanted.filter((part) => !(part in PARTS));
  if (unknown.length > 0) {
    process.stderr.write(`Cannot measure "${unknown.join('", "')}": the parts are ${Object.keys(PARTS).join(", ")}\n`);
    process.exitCode = 1;
    return;
  }
  const parts = wanted.length > 0 ? wanted : Object.keys(PARTS);
  for (const part of parts) {
    const startedMs = performance.now();
    const report = await measure(part);
    say(`\n${part}: ${Math.round((performance.now() - startedMs) / 60_000)} minutes; not killed:`);
    for (const line of leftOver(report)) say(`  ${line}`);
  }
  printTable();
};

await main(process.argv.slice(2));
