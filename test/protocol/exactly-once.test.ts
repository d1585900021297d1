import { expect, it } from "vitest";
import { check, isRight, missingTool, QUESTIONS } from "./check.ts";

const missing = await missingTool();
const [protocol, ...rest] = QUESTIONS;
const broken = rest.filter((question) => !question.holds);

it("has a question for each rule of the protocol", () => {
  expect(protocol?.holds).toBe(true);
  expect(broken.length).toBeGreaterThanOrEqual(9);
});

/** Skipped where spin is not installed, because it comes from the system's packages; `npm run model` says how to get it and fails without it. */
it.skipIf(missing !== undefined).each(broken)("the model breaks $name", { timeout: 120_000 }, async (question) => {
  expect(await check(question)).toSatisfy(isRight);
});
