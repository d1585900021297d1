import { describe, expect, it } from "vitest";
import { testNames } from "./test-names.ts";

/**
 * A sentence has a subject, a verb and mostly an object. A placeholder of a table may stand for the
 * object, and for nothing else.
 */
const FEWEST_WORDS = 3;
const PLACEHOLDER = /^[%$]/;

const names = testNames("test");
const wrong = (isWrong: (text: string) => boolean): readonly string[] =>
  names
    .filter(({ text }) => isWrong(text))
    .map(({ path, line, text }) => `${path}:${line}: ${text}`);

describe("the names of the tests", () => {
  it("were found in every room, those of tables and of skipped blocks among them", () => {
    expect(names.length).toBeGreaterThan(2_000);
    expect(names.some(({ text }) => text.includes("%s"))).toBe(true);
    expect(names.some(({ path }) => path === "test/infra/functions.test.ts")).toBe(true);
  });

  it("have as many words as a sentence needs, the title of their block included", () => {
    const isShort = (words: readonly string[]): boolean =>
      words.length < FEWEST_WORDS ||
      words.filter((word) => !PLACEHOLDER.test(word)).length < FEWEST_WORDS - 1;
    expect(wrong((text) => isShort(text.split(/\s+/)))).toEqual([]);
  });

  it("are each given once in a file, so that a failure points to one test", () => {
    const seen = new Set<string>();
    const twice = names.filter(({ path, text }) => seen.size === seen.add(`${path} ${text}`).size);
    expect(twice.map(({ path, line, text }) => `${path}:${line}: ${text}`)).toEqual([]);
  });
});
