import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantile } from "../../../lib/embedded/view/tally.ts";
import { terminalOf } from "../../../lib/embedded/host/terminal.ts";
import { type Frame, picture } from "../../../lib/embedded/view/picture.ts";
import { summaryLines } from "../../../lib/embedded/view/summary.ts";
import { durationText } from "../../../lib/embedded/view/plain-view.ts";
import { lines } from "../../../lib/stack/report/printed.ts";
import { boundsInForce } from "../../../lib/answers/service/views/holds-view.ts";
import type { AutoscalerView } from "../../../lib/answers/views/autoscaler.ts";
import type { EventView } from "../../../lib/answers/views/event.ts";
import type { HistoryPoint } from "../../../lib/answers/views/over-time.ts";
import { runs } from "../../runs.ts";

const START_MS = Date.UTC(2026, 0, 5, 8);

const event = (more: Partial<EventView> = {}): EventView => ({
  id: "u:1",
  at: "2026-01-05T08:03:15.000Z",
  settledAt: "2026-01-05T08:03:15.000Z",
  cluster: "local",
  namespace: "shop",
  name: "daily",
  partition: "default",
  uid: "u",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "daily" },
  from: 2,
  to: 4,
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
  outcome: "applied",
  specGeneration: 1,
  metrics: [],
  steps: [],
  ...more,
});

const frame = (more: Partial<Frame> = {}): Frame => ({
  nowMs: START_MS + 200_000,
  pace: { wanted: 60, reached: 60, behind: false },
  rows: [
    {
      uid: "u",
      name: "shop/daily",
      target: "Deployment/daily",
      state: "limited",
      current: 2,
      desired: 4,
      metrics: ["cpu 91% of 60%"],
      decision:
        "2 → 4: ScaleUpLimit, the desired replica count is increasing faster than the maximum scale rate",
      min: 2,
      max: 40,
      points: [
        point("08:01:00", { current: 2, load: 0.5 }),
        point("08:02:00", { current: 2, load: 1.5, held: "stabilization" }),
        point("08:03:15", { current: 2, load: 1.2, wanted: 4 }),
      ],
      events: [event()],
    },
  ],
  events: [event()],
  ...more,
});
const point = (time: string, more: Partial<HistoryPoint>): HistoryPoint => ({
  at: `2026-01-05T${time}.000Z`,
  metrics: [],
  reason: "",
  min: 2,
  max: 40,
  ...more,
});
const drawn = (
  given: Frame,
  canvas: { columns: number; rows: number; dataOption?: string } = { columns: 150, rows: 40 },
) =>
  stripVTControlCharacters(
    lines(picture(given, { dataOption: "", ...canvas, startMs: START_MS }))
      .written()
      .slice(0, -1),
  );

describe("picture()", () => {
  it("shows each autoscaler with counts, bounds, state, metric, a drawing with its scale and axis, and its last decision in words, and the events below", () => {
    const text = drawn(frame());
    for (const part of [
      "08:03:20",
      "3 min played",
      "shop/daily",
      "2 → 4 pods (2 to 40)",
      "limited",
      "cpu 91% of 60%",
      "ScaleUpLimit, the desired",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/^ +load ┤ .*[▁-█] +to 1\.5$/m);
    expect(text).toMatch(/^ +pods ┤ .*[▁-█○] +to 4$/m);
    expect(text).toMatch(/^held by .*s.*▲/m);
    expect(text).toMatch(/^ +07:44 +07:46 .* 08:02$/m);
    expect(text).toContain("08:03:15  shop/daily 2 → 4 applied: ScaleUpLimit");
  });

  it("marks a count as changed from outside only where an event says so: of many autoscalers, and in a sync that has just ended, not every event is read", () => {
    const [row] = frame().rows;
    if (!row) throw new Error("a frame has a row");
    const points = [
      point("08:01:00", { current: 2 }),
      point("08:02:00", { current: 3 }),
      point("08:03:15", { current: 5 }),
    ];
    const held = (events: typeof row.events) =>
      drawn(frame({ rows: [{ ...row, points, events }] })).match(/^held by.*$/m)?.[0];
    expect(held([])).not.toContain("H");
    expect(
      held([event({ outcome: "outside", at: "2026-01-05T08:02:00.000Z", from: 2, to: 3 })]),
    ).toContain("H");
  });

  it("says that the run falls behind, what went wrong, and how long it still goes", () => {
    const text = drawn(
      frame({
        pace: { wanted: 600, reached: 41.3, behind: true },
        trouble: "A sync failed",
        endMs: START_MS + 7_400_000,
      }),
    );
    expect(text).toContain("falling behind: 41x of 600x");
    expect(text).toContain("A sync failed");
    expect(text).toContain("2 h 00 min to go");
  });

  it.each([
    [60, 20, 2],
    [80, 24, 2],
    [120, 30, 4],
    [200, 60, 10],
  ])(
    "fits a terminal of %d by %d: the newest events, the rows that have room, and no line too long",
    (columns, rows, shown) => {
      const events = Array.from({ length: 100 }, (_, at) => event({ id: `u:${at}`, to: at }));
      const many = frame().rows.flatMap((row) => Array.from({ length: 30 }, () => row));
      const drawnLines = drawn(frame({ events, rows: many }), { columns, rows }).split("\n");
      expect(drawnLines).toHaveLength(rows - 1);
      expect(Math.max(...drawnLines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(drawnLines.join("\n")).toContain("2 → 99");
      expect(drawnLines.filter((line) => line.startsWith("shop/daily "))).toHaveLength(shown);
      expect(drawnLines.join("\n")).toContain(`and ${30 - shown} more`);
    },
  );

  it("draws a stretch that it did not look at as it was before, and marks no restart there", () => {
    const [row] = frame().rows;
    const points = [
      point("08:00:00", { current: 2, load: 0.5 }),
      point("08:16:00", { current: 4, load: 1 }),
    ];
    const text = drawn(
      frame({ nowMs: START_MS + 960_000, rows: row ? [{ ...row, points }] : [] }),
      { columns: 80, rows: 24 },
    );
    const held = text.split("\n").find((line) => line.startsWith("held by"));
    expect(held).not.toContain("R");
    expect(text).toMatch(/^ +┤ +█{40,}$/m);
  });

  it("shows the bounds of its rows, whatever sets them", () => {
    const view = { minReplicas: 2, maxReplicas: 40 };
    const by = { kind: "schedule", name: "office", until: "2026-01-05T17:00:00.000Z" } as const;
    expect(boundsInForce(view)).toEqual({ min: 2, max: 40 });
    expect(
      boundsInForce({ ...view, bounds: { min: { replicas: 10, by }, max: { replicas: 12, by } } }),
    ).toEqual({ min: 10, max: 12 });
  });

  const words = fc
    .array(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 30 })
    .map((all) => all.join(" "));
  const row = fc.record({
    name: fc.constantFrom(
      "shop/daily",
      "a-namespace-with-a-long-name/an-autoscaler-with-a-long-name",
    ),
    state: fc.constantFrom("active", "limited", "failing", "held: unreadable intent"),
    current: fc.nat({ max: 100_000 }),
    desired: fc.nat({ max: 100_000 }),
    metrics: fc.array(words, { maxLength: 3 }),
    decision: words,
    points: fc.array(
      fc.record({
        at: fc
          .integer({ min: 0, max: 7_200_000 })
          .map((ago) => new Date(START_MS - ago).toISOString()),
        current: fc.nat(),
        load: fc.double({ min: 0, max: 1e9, noNaN: true }),
        wanted: fc.nat(),
        metrics: fc.constant([]),
        reason: fc.constant(""),
      }),
      { maxLength: 50 },
    ),
  });
  const size = fc.record({
    columns: fc.integer({ min: 40, max: 200 }),
    rows: fc.integer({ min: 10, max: 70 }),
  });

  it("never breaks a line nor moves one below it, whatever the rows say", () => {
    const base = frame().rows[0];
    if (!base) throw new Error("a frame has a row");
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 6 }),
        fc.array(row, { minLength: 6, maxLength: 6 }),
        size,
        (one, other, canvas) => {
          const shown = (rows: typeof one) =>
            drawn(
              frame({ rows: rows.map((more) => ({ ...base, ...more })), events: [event()] }),
              canvas,
            ).split("\n");
          const [before, after] = [shown(one), shown(other.slice(0, one.length))];
          for (const frameLines of [before, after]) {
            expect(frameLines).toHaveLength(canvas.rows - 1);
            expect(Math.max(...frameLines.map((line) => line.length))).toBeLessThanOrEqual(
              canvas.columns,
            );
          }
          const place = (frameLines: readonly string[]) =>
            frameLines.findIndex((line) => line.startsWith("Scale events"));
          expect(place(after)).toBe(place(before));
          expect(after.at(-1)).toBe(before.at(-1));
        },
      ),
      runs(50),
    );
  });

  it("explains its letters in whole words, and before them the marks of scales where there is no room", () => {
    const [first] = frame().rows;
    if (!first) throw new RangeError("there is no row");
    const points = [
      ...first.points,
      point("08:03:30", { current: 4, load: 1, held: "missing" }),
      point("08:03:45", { current: 4, load: 1, held: "stabilization" }),
    ];
    const heading = (columns: number): string | undefined =>
      drawn(frame({ rows: [{ ...first, points }] }), { columns, rows: 24 })
        .split("\n")
        .find((line) => line.startsWith("Scale events"));
    expect(heading(80)).toBe(
      "Scale events   m a metric or the count could not be read   s stabilization",
    );
    expect(heading(100)).toContain("▲ scaled up");
    expect(heading(40)).toBe("Scale events   s stabilization");
  });

  it("says behind the heading what each letter of the drawings means, in no line of its own", () => {
    const text = drawn(frame(), { columns: 80, rows: 24 });
    const heading = text.split("\n").find((line) => line.startsWith("Scale events"));
    expect(heading).toBe("Scale events   s stabilization   ▲ scaled up");
    const none = drawn(frame({ rows: [], events: [] }), { columns: 80, rows: 24 });
    expect(none).toContain("\nNo scale events yet\n");
  });

  it("leaves out an older event that has no room, and cuts none", () => {
    const events = Array.from({ length: 4 }, (_, at) =>
      event({ id: `u:${at}`, at: `2026-01-05T08:0${at}:15.000Z` }),
    );
    for (let rows = 17; rows < 40; rows++) {
      const text = drawn(frame({ events }), { columns: 80, rows });
      const [, after = ""] = text.split("\nScale events");
      expect(after.split("\n").slice(1).join("\n")).not.toContain("…");
      expect(after).toContain("08:03:15");
    }
  });

  it("tells the reasons and the footer in full while lines are free", () => {
    const text = drawn(frame(), { columns: 80, rows: 30 });
    const whole = text.replaceAll(/\n +/g, " ").replaceAll(/ \n|\n/g, " ");
    expect(whole).toContain(
      "the desired replica count is increasing faster than the maximum scale rate",
    );
    expect(whole).toContain("events --all");
    expect(text).not.toContain("…");
  });
});

describe("the head of an autoscaler", () => {
  it("leaves out the amount per pod before it cuts a metric", () => {
    const [row] = frame().rows;
    const given = frame({ rows: row ? [{ ...row, metrics: ["cpu 72% (362m) of 60%"] }] : [] });
    const headAt = (columns: number) => drawn(given, { columns, rows: 24 }).split("\n")[1];
    expect(headAt(80)).toBe("shop/daily   2 → 4 pods (2 to 40)   limited   cpu 72% (362m) of 60%");
    expect(headAt(60)).toBe("shop/daily   2 → 4 pods (2 to 40)   limited   cpu 72% of 60%");
  });
});

const END = {
  endMs: START_MS + 7_200_000,
  autoscalers: [],
  taken: {
    memoryBytes: 200 * 2 ** 20,
    disk: { bytes: 12.4 * 2 ** 20, tablesBytes: 2.5 * 2 ** 20, logBytes: 9 * 2 ** 20 },
  },
};

describe("summaryLines()", () => {
  it("says how long the count was at its maximum, since when, and where the most demand was not served", () => {
    const at = (time: string, from: number, to: number) =>
      event({ at: `2026-01-05T${time}.000Z`, from, to });
    const events = [at("08:10:00", 4, 12), at("08:40:00", 12, 9), at("09:30:00", 9, 12)];
    const scaled = {
      namespace: "shop",
      name: "daily",
      target: event().target,
      minReplicas: 2,
      maxReplicas: 12,
      updatedAt: "2026-01-05T08:00:00.000Z",
    } as AutoscalerView;
    const pace = { wanted: 60, reached: 60, behind: false };
    const lost = { ...statistics, worst: { atMs: START_MS + 1_500_000, unserved: 7 } };
    const linesOf = (all: readonly EventView[], updatedAt = scaled.updatedAt) =>
      summaryLines({
        ...END,
        autoscalers: [{ ...scaled, updatedAt }],
        playedMs: 7_200_000,
        wallMs: 1,
        events: all,
        tally,
        pace,
        statistics: [lost],
        deadLetters: 0,
      }).at(-1);
    expect(linesOf(events)).toContain(
      "not served (50 calls), most at 2026-01-05T08:25:00Z, 1 h 00 min at its maximum of 12, first at 2026-01-05T08:10:00Z",
    );
    expect(linesOf(events.slice(0, 0))).toContain("never at its maximum of 12");
    // The maximum may have been another one before an edit.
    expect(linesOf(events, "2026-01-05T08:20:00.000Z")).toContain(
      "50 min at its maximum of 12 since its edit at 2026-01-05T08:20:00Z, first at 2026-01-05T08:20:00Z",
    );
    expect(linesOf(events, "2026-01-05T09:00:00.000Z")).toContain(
      "30 min at its maximum of 12 since its edit at 2026-01-05T09:00:00Z, first at 2026-01-05T09:30:00Z",
    );
  });

  const tally = { syncs: 4, failed: 1, stateWrites: 10, historyWrites: 2, wallMs: [1, 2, 3, 100] };
  const statistics = {
    namespace: "shop",
    name: "daily",
    unit: "calls per minute (sum)",
    stepMs: 60_000,
    elapsedMs: 7_200_000,
    replicaMs: 18_000_000,
    readyMs: 1,
    demand: 1000,
    served: 950,
    unserved: 50,
    aboveTargetMs: 1_800_000,
    targetCpuPercent: 60,
  };

  it("names events, replica-hours, time above the target, demand not served, syncs, writes and wall times", () => {
    const events = [event(), event({ outcome: "refused" })];
    const pace = { wanted: 60, reached: 60, behind: false };
    expect(
      summaryLines({
        ...END,
        playedMs: 7_200_000,
        wallMs: 120_000,
        events,
        tally,
        pace,
        statistics: [statistics],
        deadLetters: 1,
      }),
    ).toEqual([
      "played              2 h 00 min in 2 min, 60x of at most 60x",
      "scale events        2, 1 refused",
      "syncs               4, 1 failed",
      "writes per sync     2.5, and 0.5 to history",

      "wall time per sync  p50 2.0 ms, p99 100.0 ms",
      "dead letters        1",
      "memory              200 MiB at most",
      "disk                12 MiB: tables 2.5 MiB, logs 9.0 MiB",
      "shop/daily          5.0 replica-hours, 25.0 % of the time above target, 5.0 % of the demand not served (50 calls), 1 scale, 0 reversals",
    ]);
  });

  it("of a resumed run, counts the workloads over the one span of their figures, and says so", () => {
    const pace = { wanted: 60, reached: 60, behind: false };
    const earlier = [event({ from: 2, to: 4 }), event({ from: 4, to: 3 })];
    const sinceBeginning = { playedMs: 7_200_000, events: [...earlier, event({ from: 3, to: 5 })] };
    const printed = summaryLines({
      ...END,
      playedMs: 600_000,
      wallMs: 10_000,
      events: [event({ from: 3, to: 5 })],
      sinceBeginning,
      tally,
      pace,
      statistics: [statistics],
      deadLetters: 0,
    });
    expect(printed[0]).toMatch(/^played +10 min in 10 s/);
    expect(printed[1]).toMatch(/^scale events +1$/);
    expect(printed.at(-2)).toMatch(
      /^since the beginning +2 h 00 min, 3 scale events, and for each workload:$/,
    );
    expect(printed.at(-1)).toMatch(/5\.0 replica-hours.*3 scales, 2 reversals$/);
  });

  it("of many workloads, has a line for all and one for each of the twenty with the largest share of their demand not served", () => {
    const pace = { wanted: 60, reached: 60, behind: false };
    const many = Array.from({ length: 300 }, (_, at) => ({
      ...statistics,
      name: `web-${at}`,
      unserved: at % 2 === 0 ? 0 : at,
    }));
    const printed = summaryLines({
      ...END,
      playedMs: 1,
      wallMs: 1,
      events: [],
      tally,
      pace,
      statistics: many,
      deadLetters: 0,
    });
    const at = printed.findIndex((line) => line.startsWith("workloads "));
    expect(printed[at]).toMatch(
      /^workloads +300, 1500\.0 replica-hours, 150 with demand not served; the 20 with the largest share of it:$/,
    );
    expect(printed.slice(at + 1).map((line) => line.split(" ")[0])).toEqual(
      Array.from({ length: 20 }, (_, rank) => `shop/web-${299 - 2 * rank}`),
    );
  });

  it("goes on below a value that is longer than the terminal is wide", () => {
    const pace = { wanted: 60, reached: 60, behind: false };
    const printed = summaryLines(
      {
        ...END,
        playedMs: 1,
        wallMs: 1,
        events: [],
        tally,
        pace,
        statistics: [statistics],
        deadLetters: 0,
      },
      60,
    );
    expect(printed.every((line) => line.length <= 60)).toBe(true);
    expect(printed.slice(-3)).toEqual([
      "shop/daily          5.0 replica-hours, 25.0 % of the time",
      "                    above target, 5.0 % of the demand not",
      "                    served (50 calls), 0 scales, 0 reversals",
    ]);
  });

  it("says nothing of a target where there is none", () => {
    const { targetCpuPercent: _none, ...without } = statistics;
    const pace = { wanted: 60, reached: 60, behind: false };
    const printed = summaryLines({
      ...END,
      playedMs: 1,
      wallMs: 1,
      events: [],
      tally,
      pace,
      statistics: [without],
      deadLetters: 0,
    });
    expect(printed.at(-1)).toBe(
      "shop/daily          5.0 replica-hours, 5.0 % of the demand not served (50 calls), 0 scales, 0 reversals",
    );
  });

  it.each([
    [[], "0 scales, 0 reversals"],
    [[[2, 4]], "1 scale, 0 reversals"],
    [
      [
        [2, 4],
        [4, 6],
      ],
      "2 scales, 0 reversals",
    ],
    [
      [
        [2, 4],
        [4, 3],
        [3, 3],
        [3, 5],
      ],
      "3 scales, 2 reversals",
    ],
  ])("counts a reversal for each scale against the one before: %j", (moves, expected) => {
    const events = moves.map(([from = 0, to = 0]) => event({ from, to }));
    const pace = { wanted: 60, reached: 60, behind: false };
    const printed = summaryLines({
      ...END,
      playedMs: 1,
      wallMs: 1,
      events,
      tally,
      pace,
      statistics: [statistics],
      deadLetters: 0,
    });
    expect(printed.at(-1)).toContain(expected);
  });

  it("has something to say of a run in which nothing happened", () => {
    const none = {
      ...END,
      playedMs: 0,
      wallMs: 0,
      events: [],
      tally: { syncs: 0, failed: 0, stateWrites: 0, historyWrites: 0, wallMs: [] },
      pace: { wanted: 1, reached: 1, behind: false },
      deadLetters: 0,
    };
    expect(summaryLines(none)).toContain("wall time per sync  p50 -, p99 -");
  });
});

describe("terminalOf()", () => {
  const stream = (isTTY: boolean, columns = 80) =>
    ({ isTTY, columns, rows: 24, write: () => true }) as unknown as NodeJS.WriteStream;
  it("is not live for a terminal that does not know its size", () =>
    expect(terminalOf(stream(true, 0), {}).live).toBe(false));
  it.each([
    ["a terminal", true, {}, true],
    ["a pipe", false, {}, false],
    ["NO_COLOR", true, { NO_COLOR: "1" }, false],
    ["an empty NO_COLOR, which counts for nothing", true, { NO_COLOR: "" }, true],
    ["a dumb terminal", true, { TERM: "dumb" }, false],
    ["the log of a build", true, { CI: "true" }, false],
    ["CI=false, which counts for nothing", true, { CI: "false" }, true],
  ])("decides whether to be live for %s", (_, tty, environment, live) =>
    expect(terminalOf(stream(tty), environment).live).toBe(live),
  );
});

describe("words", () => {
  it.each([
    [0, "0 s"],
    [59_400, "59 s"],
    [60_000, "1 min"],
    [3_599_000, "59 min"],
    [3_600_000, "1 h 00 min"],
    [7_500_000, "2 h 05 min"],
  ])("durationText(%d) is %s", (ms, text) => expect(durationText(ms)).toBe(text));

  it.each([
    [[], 0.5, undefined],
    [[7], 0.99, 7],
    [[1, 2, 3, 4], 0.5, 2],
    [[1, 2, 3, 4], 1, 4],
  ])("quantile(%j, %d) is %s", (values, share, expected) =>
    expect(quantile(values, share)).toBe(expected),
  );
});
