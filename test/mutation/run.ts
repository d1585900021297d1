import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Table from "cli-table3";
import { withTable } from "../../docs/figures/page-table.ts";
import { measure, readReport } from "./measure.ts";
import { mutationTable } from "./mutation-table.ts";
import { PARTS, ROOMS } from "./parts.ts";
import { leftOver, type PartSummary, scoreOf, summaryOf, totalOf } from "./summary.ts";

/**
 * `npm run prove -- mutation [PART…]`: changes lib/rules/policy and lib/rules/model (a part that is
 * named: another room too) in small ways, one part after the other, and runs their tests against
 * each change. Each part's result is left in reports/mutation; last come what was not killed and a
 * table of all parts measured so far. Once all are, the table of docs/proofs-report.md is written.
 * Exit code 1 if a part cannot be measured.
 */
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const PROOFS = join(import.meta.dirname, "../../docs/proofs-report.md");

interface MeasuredPart {
  readonly part: string;
  readonly summary: PartSummary;
}

const measuredParts = (): readonly MeasuredPart[] =>
  Object.keys(PARTS).flatMap((part) => {
    const report = readReport(part);
    return report ? [{ part, summary: summaryOf(report) }] : [];
  });

const row = ({ part, summary }: MeasuredPart): string[] => {
  const { mutants, killed, endless, slow, survived, uncovered, broken, ignored } = summary;
  return [
    part,
    ...[mutants, killed, endless, slow, survived, uncovered, broken, ignored].map(String),
    scoreOf(summary)?.toFixed(1) ?? "none",
  ];
};

const printTable = (measured: readonly MeasuredPart[]): void => {
  const table = new Table({
    head: [
      "part",
      "mutants",
      "killed",
      "endless",
      "timed out",
      "survived",
      "not reached",
      "broken",
      "not tried",
      "score",
    ],
    style: { head: [], border: [] },
  });
  table.push(
    ...measured.map(row),
    row({ part: "all", summary: totalOf(measured.map(({ summary }) => summary)) }),
  );
  say(table.toString());
};

const writePage = (measured: readonly MeasuredPart[]): void => {
  const page = readFileSync(PROOFS, "utf8");
  writeFileSync(PROOFS, withTable(page, "mutation", mutationTable(measured)));
  say("docs/proofs-report.md is written");
};

const main = async (wanted: readonly string[]): Promise<void> => {
  const unknown = wanted.filter((part) => !(part in PARTS) && !(part in ROOMS));
  if (unknown.length > 0) {
    process.stderr.write(
      `Cannot measure "${unknown.join('", "')}": the parts are ${[...Object.keys(PARTS), ...Object.keys(ROOMS)].join(", ")}\n`,
    );
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
  const measured = measuredParts();
  printTable(measured);
  if (measured.length === Object.keys(PARTS).length) writePage(measured);
};

await main(process.argv.slice(2));
