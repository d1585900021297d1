import { expect, it } from "vitest";
import { coverageRows } from "../coverage.ts";
import { play } from "../play.ts";
import { hasObjects } from "./plan-objects.ts";

const SEED = 22;
const PATIENCE_MS = 60_000;
/** The calls of a sync that reads what its cluster holds, stores it and tells the objects. */
const CALLS = [
  "specs | list objects",
  "specs | insert history",
  "specs | create a record",
  "specs | edit a record",
  "specs | mark a gone object",
];

it("a seed whose clusters hold their autoscalers gives the same story twice, and its syncs read, store and tell the objects", {
  timeout: PATIENCE_MS,
}, async () => {
  expect(hasObjects(SEED)).toBe(true);
  const [one, other] = [
    await play(SEED, { faults: true, told: true }),
    await play(SEED, { faults: true, told: true }),
  ];
  expect(other).toEqual(one);
  expect(one.violation).toBeUndefined();
  const places = coverageRows(one.coverage).map(({ phase, call }) => `${phase} | ${call}`);
  expect([...CALLS, "tell | tell objects"].filter((place) => !places.includes(place))).toEqual([]);
});
