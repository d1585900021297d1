import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { check, isRight, missingTool } from "./check.ts";
import { QUESTIONS } from "./questions.ts";

const missing = await missingTool();
const [protocol, ...rest] = QUESTIONS;
const broken = rest.filter((question) => !question.holds);

it("has a question for each rule of the protocol", () => {
  expect(protocol?.holds).toBe(true);
  expect(broken.length).toBeGreaterThanOrEqual(22);
});

it("the table of docs/proofs-report.md has each question, and for each rule that is left out the promise that breaks", () => {
  const page = readFileSync("docs/proofs-report.md", "utf8");
  for (const { name, holds } of QUESTIONS) {
    const answer = page.split("\n").find((line) => line.startsWith(`| ${name} | `)) ?? "";
    expect(answer.length, name).toBeGreaterThan(name.length + 20);
    expect(answer.includes("| every promise is kept |"), name).toBe(holds);
  }
});

/**
 * Skipped where spin is not installed, because it comes from the system's packages; `npm run prove
 * -- model` says how to get it and fails without it.
 */
it.skipIf(missing !== undefined).each(broken)(
  "the model breaks $name",
  { timeout: 120_000 },
  async (question) => {
    expect(await check(question)).toSatisfy(isRight);
  },
);
