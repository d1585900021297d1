import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playedPage } from "../../docs/figures/first-hour-story.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");

const PAGES: Readonly<Record<string, readonly string[]>> = {
  "first-hour": ["first-hour-hold.svg", "first-hour.svg"],
  replay: ["replay.svg"],
};

describe.each(Object.entries(PAGES))(
  "the story of docs/%s.md",
  { timeout: 400_000 },
  (name, of) => {
    it("prints and draws what the page shows, to the byte", () => {
      const page = read(`${name}.md`);
      const played = playedPage(page);
      expect(played.page).toBe(page);
      expect(Object.keys(played.pictures)).toEqual(of);
      for (const [picture, svg] of Object.entries(played.pictures)) {
        expect(page).toContain(`(images/${picture})`);
        expect(
          svg === read(`images/${picture}`),
          `docs/images/${picture}: npm run docs -- ${name}`,
        ).toBe(true);
      }
    });
  },
);
