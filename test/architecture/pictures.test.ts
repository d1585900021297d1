import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DRAWN, drawnArrows, planOf } from "../../docs/figures/rooms-picture.ts";
import { parsedFiles, ROOT } from "./source.ts";

const files = parsedFiles(["lib", "functions"]);
const DRAW_ANEW = "npm run docs -- rooms draws it anew";

describe.each(Object.entries(DRAWN))("docs/images/%s.svg", (name, room) => {
  const svg = readFileSync(join(ROOT, "docs/images", `${name}.svg`), "utf8");
  const drawn = [...svg.matchAll(/data-from="(.*?)" data-to="(.*?)" data-count="(\d+)"/g)].map(
    ([, from = "", to = "", count]) => ({ from, to, count: Number(count) }),
  );
  const plan = planOf(files, room);
  const arrows = drawnArrows(plan.arrows);
  const pairs = (
    some: readonly { readonly from: string; readonly to: string }[],
  ): readonly string[] => some.map(({ from, to }) => `${from} -> ${to}`).sort();

  it("has the boxes and arrows of the code, and no other", () => {
    const boxes = [...svg.matchAll(/data-box="(.*?)"/g)].map(([, box]) => box);
    expect(boxes, DRAW_ANEW).toEqual(plan.boxes.map((box) => box.name));
    expect(arrows.length).toBeGreaterThan(5);
    expect(pairs(drawn), DRAW_ANEW).toEqual(pairs(arrows));
  });

  it("has counts that are near those of the code: within three, or a quarter", () => {
    const countOf = new Map(arrows.map((arrow) => [`${arrow.from} ${arrow.to}`, arrow.count]));
    const wrong = drawn.filter(({ from, to, count }) => {
      const present = countOf.get(`${from} ${to}`) ?? 0;
      return Math.abs(present - count) > Math.max(3, present / 4);
    });
    expect(wrong, DRAW_ANEW).toEqual([]);
  });
});

describe("a drawing", () => {
  it("leaves out only what a path of other arrows says, and nothing that points up", () => {
    const arrow = (from: string, to: string, upward = false) => ({ from, to, count: 1, upward });
    const all = [arrow("c", "b"), arrow("b", "a"), arrow("c", "a"), arrow("a", "c", true)];
    expect(drawnArrows(all)).toEqual([arrow("c", "b"), arrow("b", "a"), arrow("a", "c", true)]);
  });
});
