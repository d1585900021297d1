import { expect, it } from "vitest";
import { coverageRows, coverageText, joinedCoverage } from "./coverage.ts";
import { play } from "./play.ts";

const PATIENCE_MS = 60_000;
/** The calls of a sync that completes and scales, in their order. */
const OF_A_SYNC = [
  "claim | claim",
  "load | read fleet",
  "observe | observe",
  "intend | store intents",
  "act | put",
  "pages | write a page",
  "release | release",
];

it("counts which fault met which call in which phase, and tells what none met", {
  timeout: PATIENCE_MS,
}, async () => {
  const { coverage } = await play(3, { faults: true, told: false });
  const rows = coverageRows(joinedCoverage([coverage, coverage]));
  const places = rows.map(({ phase, call }) => `${phase} | ${call}`);
  expect(places.filter((place) => OF_A_SYNC.includes(place))).toEqual(OF_A_SYNC);
  expect(rows.every(({ calls }) => calls > 0 && calls % 2 === 0)).toBe(true);
  expect(rows.some(({ reached }) => reached > 0)).toBe(true);
  expect(coverageText(coverage).split("\n")).toHaveLength(rows.length + 1);
});

it("meets no fault in a run without faults", { timeout: PATIENCE_MS }, async () => {
  const { coverage } = await play(3, { faults: false, told: false });
  expect(coverageRows(coverage).filter(({ reached }) => reached > 0)).toEqual([]);
});
