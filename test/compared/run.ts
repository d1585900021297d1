import { played } from "./compared.ts";

/**
 * `npm run prove -- reports`: plays the inputs of public reports of other autoscalers by the rules of
 * production, prints what became of each, and fails where one differs from what docs/compared.md
 * rests on.
 */
const results = played();
const width = Math.max(...results.map(({ group }) => group.reports[0]?.length ?? 0));
for (const { group, expected, got } of results) {
  const [first = "", ...more] = group.reports;
  const others = more.length > 0 ? ` (and ${more.length} more)` : "";
  const outcome = got === expected ? got : `${got}, and ${expected} was expected`;
  process.stdout.write(
    `${got === expected ? "ok  " : "DIFFERS"} ${first.padEnd(width)} ${outcome}${others}\n`,
  );
}
const differing = results.filter(({ expected, got }) => got !== expected);
process.stdout.write(`${results.length} played, ${differing.length} differ\n`);
process.exitCode = differing.length > 0 ? 1 : 0;
