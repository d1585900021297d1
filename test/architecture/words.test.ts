import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

const CODE = ["functions", "lib", "test"];
const PAGES = [...filesBelow("docs", ".md"), "README.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/** Words for an unknown person leave the reader to guess which part of the system is meant. They are put together here, so that this file passes its own test. */
const PARTS = ["no", "some", "any", "every"].flatMap((part) => [`${part}body`, `${part}one`]);
const UNKNOWN_PERSON = new RegExp(`\\b(${[...PARTS, `who${"ever"}`].join("|")})\\b`, "i");

const lines = [...CODE.flatMap((folder) => filesBelow(folder)), ...PAGES].flatMap((path) =>
  readFileSync(join(ROOT, path), "utf8")
    .split("\n")
    .map((text, at) => ({ place: `${path}:${at + 1}`, text })),
);

describe("the words of code, tests and pages", () => {
  it("were found in every folder and on every page", () => {
    for (const folder of CODE) expect(lines.filter(({ place }) => place.startsWith(`${folder}/`)).length).toBeGreaterThan(100);
    for (const page of PAGES) expect(lines.filter(({ place }) => place.startsWith(`${page}:`)).length).toBeGreaterThan(10);
  });

  it("name the sync, the caller or the editor, and no unknown person", () => {
    expect(lines.filter(({ text }) => UNKNOWN_PERSON.test(text)).map(({ place, text }) => `${place}: ${text.trim()}`)).toEqual([]);
  });
});
