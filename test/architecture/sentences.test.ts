import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NOTES } from "../../lib/command/notes.ts";
import { filesBelow, ROOT } from "./source.ts";

const MAX_CHARACTERS = 300;
const MAX_WORDS = 35;

/** The specifications that the dialects follow, cited by section. */
const EXCEPTED = /^docs\/spec\//;
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...filesBelow("docs", ".md")]
  .filter((path) => !EXCEPTED.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

/**
 * The lines of prose. Code and outputs are as programs write them; a row of a table must be one
 * line, so its cells have no other limit than the reader.
 */
const prose = (text: string): readonly string[] =>
  text
    .replaceAll(/^ *```.*?^ *```$/gms, "")
    .split("\n")
    .filter((line) => !line.startsWith("|"));

const longLines = (text: string): readonly string[] =>
  prose(text).filter((line) => line.length > MAX_CHARACTERS);

/** What ends by a colon or a semicolon is read in one breath, too. */
const longSentences = (text: string): readonly string[] =>
  prose(text)
    .flatMap((line) => line.split(/(?<=[.!?:;])\s/))
    .filter((sentence) => sentence.trim().split(/\s+/).length > MAX_WORDS);

describe("the prose of the pages", () => {
  it("was seen", () => {
    expect(pages.length).toBeGreaterThan(40);
    expect(pages.flatMap(({ text }) => prose(text)).length).toBeGreaterThan(3_000);
  });

  it(`has no line above ${MAX_CHARACTERS} characters: one sentence a line`, () => {
    expect(
      pages.flatMap(({ path, text }) => longLines(text).map((line) => `${path}: ${line}`)),
    ).toEqual([]);
  });

  it(`has no sentence of more than ${MAX_WORDS} words`, () => {
    expect(
      pages.flatMap(({ path, text }) => longSentences(text).map((line) => `${path}: ${line}`)),
    ).toEqual([]);
  });

  it("is as short in the help of the commands", () => {
    const notes = Object.values(NOTES).join("\n");
    expect([...longLines(notes), ...longSentences(notes)]).toEqual([]);
  });

  it("is found where it is too long", () => {
    const words = `${"word ".repeat(MAX_WORDS)}word.`;
    expect(longSentences(words)).toHaveLength(1);
    expect(longSentences(`\`\`\`text\n${words}\n\`\`\``)).toEqual([]);
    expect(longLines("x".repeat(MAX_CHARACTERS + 1))).toHaveLength(1);
  });
});
