import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playedPage } from "../../docs/figures/first-hour-story.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");

describe("the story of docs/first-hour.md", { timeout: 400_000 }, () => {
  it("prints and draws what the page shows, to the byte", () => {
    const page = read("first-hour.md");
    const played = playedPage(page);
    expect(played.page).toBe(page);
    expect(Object.keys(played.pictures)).toEqual(["first-hour-hold.svg", "first-hour.svg"]);
    for (const [name, svg] of Object.entries(played.pictures)) {
      expect(page).toContain(`(images/${name})`);
      expect(
        svg === read(`images/${name}`),
        `docs/images/${name}: npm run docs -- first-hour`,
      ).toBe(true);
    }
  });
});
