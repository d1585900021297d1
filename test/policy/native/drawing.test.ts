import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { phasesIn, stepsFigure } from "../../../docs/figures/native-steps.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const source = read("lib/rules/policy/native/decide.ts");

describe("the drawing of the steps in docs/pod-autoscaler.md", () => {
  it("has every step of the lists, in their order", () => {
    const listed = [...source.matchAll(/readonly NativeStep\[\] = \[(.*?)\n\];/gs)].flatMap(
      ([, list = ""]) => [...list.matchAll(/^ {2}(\w+),/gm)].map(([, step]) => step),
    );
    expect(listed.length).toBeGreaterThan(10);
    const drawn = phasesIn(source).flatMap(({ steps }) => steps);
    expect(drawn.map(({ name }) => name.replaceAll(" ", ""))).toEqual(
      listed.map((step) => step?.toLowerCase()),
    );
    expect(drawn.filter(({ says }) => says === "")).toEqual([]);
  });

  it("is the picture of the page, and the words of the page have the same order", () => {
    const same = stepsFigure(source) === read("docs/images/native-steps.svg");
    expect(same, "the steps are others now: run `npm run docs -- steps`").toBe(true);
    const [, words = ""] =
      /^## How the native rules decide\n(.*?)^## /ms.exec(read("docs/pod-autoscaler.md")) ?? [];
    expect(words).toContain("(images/native-steps.svg)");
    const titles = [...words.matchAll(/^\d+\. \*\*(.+?)\.\*\*/gm)].map(([, title = ""]) =>
      title.toLowerCase(),
    );
    const shaped = phasesIn(source)
      .slice(1)
      .flatMap(({ steps }) => steps.map(({ name }) => name));
    expect(titles.filter((title) => shaped.includes(title))).toEqual(shaped);
  });
});
