import { readFileSync, writeFileSync } from "node:fs";
import type { Count } from "../../test/service/world/read-counts.ts";
import { ANSWERS } from "../../test/service/world/read-questions.ts";
import {
  countsOfPage,
  goalsTable,
  measured,
  readsTable,
  realFleets,
  SPEED_PAGE,
} from "../../test/service/world/read-table.ts";
import { withTable } from "./page-table.ts";

/**
 * `npm run docs -- reads [PATTERN]`: asks fleets with a past what readers ask, and writes what each
 * answer takes into docs/speed.md. It takes some minutes. With a pattern, such as "json|history", it
 * asks only the questions whose names have it, and leaves the others as they are.
 */
const wanted = new RegExp(process.argv[3] ?? "");
const known = countsOfPage();
const all = new Map<string, Count[]>(
  Object.keys(ANSWERS).map((answer) => [
    answer,
    wanted.test(answer) ? [] : [...((known.get(answer) ?? []) as unknown as Count[])],
  ]),
);
const asked = [...all].filter(([answer]) => wanted.test(answer));
for await (const fleet of realFleets())
  for (const [answer, counts] of asked) {
    const { count } = await measured(fleet, answer);
    counts.push(count);
    process.stdout.write(`${fleet.clusters} clusters, ${answer}: ${count.join(", ")}\n`);
  }

const page = withTable(readFileSync(SPEED_PAGE, "utf8"), "reads", readsTable(all));
writeFileSync(SPEED_PAGE, withTable(page, "read goals", goalsTable(all)));
process.stdout.write("docs/speed.md is written\n");
