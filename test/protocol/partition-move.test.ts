import { expect, it } from "vitest";
import { check, isRight, MOVES, missingTool } from "./check.ts";

const missing = await missingTool();
const [whole, ...rest] = MOVES;
const broken = rest.filter((question) => !question.holds);

it("has a question for each rule of a move", () => {
  expect(whole?.holds).toBe(true);
  expect(broken.length).toBeGreaterThanOrEqual(8);
});

/**
 * The smallest search that holds, and every rule that is left out; the larger ones are `npm run
 * prove -- model`. Skipped where spin is not installed.
 */
it.skipIf(missing !== undefined).each([...(whole ? [whole] : []), ...broken])(
  "the model says of $name that it holds: $holds",
  { timeout: 120_000 },
  async (question) => {
    expect(await check(question)).toSatisfy(isRight);
  },
);
