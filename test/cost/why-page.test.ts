import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../architecture/source.ts";

const page = (name: string): string => readFileSync(join(ROOT, "docs", name), "utf8");
const [, section = ""] = /\n## What it costs and holds\n([\s\S]*?)\n## /.exec(page("why.md")) ?? [];
/** The rows with the page that each figure comes from. */
const rows = [...section.matchAll(/^\| (.*?) \| (.*?) \| \[[^\]]*\]\(([a-z-]+\.md)/gm)].map(
  ([, question = "", answer = "", source = ""]) => ({
    figures: [...answer.matchAll(/\$?\d[\d,.]*\d/g)].map(([figure]) => figure),
    question,
    source,
  }),
);

it("the figures of docs/why.md are those of the pages that it names, which are made from the code or measured", () => {
  expect(rows.flatMap(({ figures }) => figures).length).toBeGreaterThan(4);
  for (const { figures, question, source } of rows) {
    const of = page(source);
    expect([question, figures.filter((figure) => !of.includes(figure))]).toEqual([question, []]);
  }
});
