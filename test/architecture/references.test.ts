import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

const REFERENCE =
  /\b(hpa|watermark|proposals)\.md,? §?(\d+(?:\.\d+)*)((?:(?:,| and| to) §?\d+(?:\.\d+)+)*)/g;

/** "3.8.4" of every heading "#### 3.8.4 Rate limits and bounds", per page. */
const sectionsOf = (page: string): ReadonlySet<string> => {
  const text = readFileSync(join(ROOT, "docs/spec", `${page}.md`), "utf8");
  return new Set([...text.matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map(([, number = ""]) => number));
};
const SECTIONS = new Map(["hpa", "watermark", "proposals"].map((page) => [page, sectionsOf(page)]));

interface Reference {
  readonly file: string;
  readonly page: string;
  readonly section: string;
}

const referencesIn = (file: string): readonly Reference[] =>
  [...readFileSync(join(ROOT, file), "utf8").matchAll(REFERENCE)].flatMap(
    ([, page = "", first = "", more = ""]) =>
      [first, ...(more.match(/\d+(?:\.\d+)+/g) ?? [])].map((section) => ({ file, page, section })),
  );

describe("references to the specifications", () => {
  const files = ["lib", "functions", "test"]
    .flatMap((folder) => filesBelow(folder, ".ts"))
    .concat(filesBelow("docs", ".md"));
  const references = files.flatMap(referencesIn);

  it("were seen, to each page", () => {
    expect(references.length).toBeGreaterThan(150);
    expect(new Set(references.map(({ page }) => page))).toEqual(
      new Set(["hpa", "watermark", "proposals"]),
    );
  });

  it("name a section of docs/spec", () => {
    const lost = references.filter(({ page, section }) => !SECTIONS.get(page)?.has(section));
    expect(lost.map(({ file, page, section }) => `${file}: ${page}.md ${section}`)).toEqual([]);
  });
});
