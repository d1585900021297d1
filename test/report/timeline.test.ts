import { describe, expect, it } from "vitest";
import { line } from "../../lib/stack/report/printed.ts";
import { timelineLines } from "../../lib/stack/report/timeline/drawing.ts";
import { timelineSvg } from "../../lib/stack/report/timeline/svg.ts";
import {
  cellsOf,
  outsideMarks,
  type Timeline,
  type TimelineMark,
  type TimelinePoint,
  ticksOf,
} from "../../lib/stack/report/timeline/timeline.ts";
import { NOON } from "../noon.ts";

const MINUTE = 60_000;
const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

/** Two hours of a load that rises and falls, one point a minute. */
const points = Array.from({ length: 120 }, (_, minute): TimelinePoint => {
  const current = minute < 40 ? 4 : minute < 90 ? 12 : 6;
  return {
    atMs: NOON + minute * MINUTE,
    current,
    wanted: minute === 35 ? 12 : current,
    min: 2,
    max: 20,
    load: minute < 40 ? 1.5 : 0.6,
    ...(minute >= 70 && minute < 90 && { held: "stabilization" as const }),
  };
});
const timeline: Timeline = {
  sinceMs: NOON,
  untilMs: NOON + 120 * MINUTE,
  loadName: "cpu of 60%",
  points,
  marks: [
    { atMs: NOON + 40 * MINUTE, kind: "up" },
    { atMs: NOON + 90 * MINUTE, kind: "down" },
    { atMs: NOON + 100 * MINUTE, kind: "edit" },
  ],
};
const drawn = (columns: number, of = timeline): readonly string[] =>
  timelineLines(of, { columns, loadRows: 4, podRows: 6, colours: false, clock }).map((each) =>
    line(each).written(),
  );

const WIDTHS = [80, 100, 200];
/** In characters, not in bytes. */
const lengthOf = (words: string): number => [...words].length;

describe("a timeline in the terminal", () => {
  it.each(WIDTHS)(
    "fits %d columns exactly, in characters, with every row on one axis",
    (columns) => {
      const all = drawn(columns);
      expect(Math.max(...all.map(lengthOf))).toBe(columns);
      for (const full of ["└", "held by"])
        expect(lengthOf(all.find((each) => each.includes(full)) ?? "")).toBe(columns);
      const axisAt = all.findIndex((each) => each.includes("└"));
      expect(all[axisAt]?.indexOf("└")).toBe(all.find((each) => each.includes("┤"))?.indexOf("┤"));
    },
  );

  it.each(WIDTHS)(
    "fits %d columns also where its metric has a long name, which is cut",
    (columns) => {
      const loadName = `sqs_messages_visible{queue=${"ö".repeat(180)}} of 30`;
      const all = drawn(columns, { ...timeline, loadName });
      expect(Math.max(...all.map(lengthOf))).toBe(columns);
      expect(all[0]).toMatch(/^ +load {2}sqs_messages_visible\{queue=ö+…$/);
      expect(all[1]).toMatch(/^ +highest 1\.5 times the target, which is the dashed line$/);
    },
  );

  it("shows the pods that no metric counts as the light part of a bar, and says so", () => {
    const some = points.map((point) => ({
      ...point,
      counted: Math.min(6, point.current ?? 0),
    }));
    const all = drawn(80, { ...timeline, points: some });
    const rows = all.filter((each) => each.includes("░") && each.includes("┤"));
    // Six rows are 12 pods: in the lowest three are the pods that count.
    expect(rows.length).toBeGreaterThanOrEqual(3);
    expect(rows[0]).not.toMatch(/[▁▂▃▄▅▆▇█]/);
    expect(rows.at(-1)).toMatch(/█/);
    expect(all.some((each) => each.includes("░ pods that no metric counts"))).toBe(true);
    expect(drawn(80).join("")).not.toContain("░");
    expect(Math.max(...all.map(lengthOf))).toBe(80);
  });

  it("shows what held, what happened and what the letters mean, and no others", () => {
    const text = drawn(80).join("\n");
    expect(text).toContain("s stabilization");
    expect(text).toContain("▲ scaled up   ▼ scaled down");
    expect(text).toContain("E an edit by a person");
    expect(text).not.toContain("another controller");
    expect(text).toContain("highest 12, between 2 and 20");
    expect(text).toContain("○");
    expect(text).toContain("12:30");
  });

  it("says so where nothing is stored", () => {
    expect(drawn(80, { ...timeline, points: [], marks: [] })).toEqual([
      "nothing is stored of this time",
    ]);
  });
});

describe("the columns of a timeline", () => {
  it("keep a peak, and stay empty after a silence", () => {
    const peak = [...points.slice(0, 10), { atMs: NOON + 9.5 * MINUTE, current: 4, load: 9 }];
    const cells = cellsOf({ ...timeline, points: peak }, 12);
    expect(cells[0]?.load).toBe(9);
    expect([cells[1]?.current, cells[4]?.current]).toEqual([4, undefined]);
  });

  it("name whole steps of the clock", () => {
    expect(ticksOf({ sinceMs: NOON + MINUTE, untilMs: NOON + 121 * MINUTE }, 6).map(clock)).toEqual(
      ["12:30", "13:00", "13:30", "14:00"],
    );
  });
});

describe("what nobody told", () => {
  const at = (minute: number, current: number): TimelinePoint => ({
    atMs: NOON + minute * MINUTE,
    current,
  });

  it("is a count that changed without a scale of this autoscaler", () => {
    expect(outsideMarks([at(0, 4), at(1, 7)], [])).toEqual([
      { atMs: NOON + MINUTE, kind: "by hand" },
    ]);
    expect(outsideMarks([at(0, 4), at(1, 7)], [{ atMs: NOON + 30_000, to: 7 }])).toEqual([]);
  });

  it("is a record that began anew after a silence", () => {
    expect(outsideMarks([at(0, 4), at(9, 4)], [])).toEqual([
      { atMs: NOON + 9 * MINUTE, kind: "restart" },
    ]);
    // A step of 21 minutes, or a sync period of 15, leaves as much between its points.
    expect(
      outsideMarks(
        [0, 21, 42, 63].map((minute) => at(minute, 4)),
        [],
      ),
    ).toEqual([]);
    expect(
      outsideMarks(
        [0, 21, 42, 126].map((minute) => at(minute, 4)),
        [],
      ),
    ).toEqual([{ atMs: NOON + 126 * MINUTE, kind: "restart" }]);
  });
});

describe("a timeline as a picture", () => {
  it("is one SVG without script or link, and escapes foreign words", () => {
    const svg = timelineSvg('shop/<script>&"web"', timeline, clock);
    expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 960 488"[\s\S]*<\/svg>\n$/);
    expect(svg).not.toMatch(/<script|href|NaN|undefined/);
    expect(svg).toContain("shop/&lt;script&gt;&amp;&quot;web&quot;");
    expect(svg).toContain("stabilization");
  });

  it("has a line for each kind of mark, each mark at its instant, counts those that would cover each other, and says what they mean", () => {
    const at = (minute: number, kind: TimelineMark["kind"]): TimelineMark => ({
      atMs: NOON + minute * MINUTE,
      kind,
    });
    const crowded = [at(40, "up"), at(40.5, "up"), at(41, "down"), at(41, "up"), at(60, "edit")];
    const svg = timelineSvg("web", { ...timeline, marks: crowded }, clock);
    const labels = [
      ...svg.matchAll(/<text x="([\d.]+)" y="(\d+)" font-size="10">([^<]*)<\/text>/g),
    ].map(([, x, y, words]) => [Number(x), Number(y), words]);
    expect(labels).toEqual([
      [496, 386, "E"],
      [349.3, 397, "▲3"],
      [356.7, 408, "▼"],
    ]);
    expect(svg).toContain(
      "E an edit by a person;  ▲ scaled up;  ▼ scaled down;  a number: so many of them",
    );
    const lonely = timelineSvg(
      "web",
      { ...timeline, marks: Array.from({ length: 200 }, (_, minute) => at(minute / 2, "down")) },
      clock,
    );
    const places = [...lonely.matchAll(/<text x="([\d.]+)" y="386"/g)].map(([, x]) => Number(x));
    expect(places.slice(1).every((x, index) => x - (places[index] ?? 0) >= 23.9)).toBe(true);
  });
});
