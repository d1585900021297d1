import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

const PARTS = ["What", "Why", "What was refused", "What it costs"];
/** Half a screen: a decision that needs more is a page of its own beside it, with a link. */
const MAX_LINES = 50;
const INDEX = "docs/decisions/README.md";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const pages = filesBelow("docs/decisions", ".md").filter((path) => path !== INDEX);

/** The texts below the headings of the second order, in their order. */
const partsOf = (text: string): readonly { readonly part: string; readonly body: string }[] =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [part = "", ...body] = section.split("\n");
      return { part, body: body.join("\n").trim() };
    });

describe("the pages of decisions", () => {
  it("were seen", () => {
    expect(pages.length).toBeGreaterThan(9);
  });

  it.each(pages)("say what, why, what was refused and what it costs: %s", (path) => {
    const text = read(path);
    const parts = partsOf(text);
    expect(parts.map(({ part }) => part)).toEqual(PARTS);
    expect(parts.filter(({ body }) => body.length < 80)).toEqual([]);
    expect(text.split("\n").length).toBeLessThan(MAX_LINES);
    expect(parts[2]?.body.match(/^- \*\*/gm)?.length ?? 0).toBeGreaterThan(1);
  });

  it("are all in the index, under their titles", () => {
    const index = read(INDEX);
    const titles = pages.map((path) => {
      const [, title = ""] = /^# (.+)$/m.exec(read(path)) ?? [];
      return `[${title}](${path.slice("docs/decisions/".length)})`;
    });
    expect(titles.filter((title) => !index.includes(title))).toEqual([]);
    expect(index.match(/^\| \[/gm)).toHaveLength(pages.length);
  });
});
