import { describe, expect, it } from "vitest";
import { timelineOf } from "../../lib/answers/words/timeline-of.ts";
import type { EventView } from "../../lib/answers/views/event.ts";
import type { HistoryView } from "../../lib/answers/views/over-time.ts";
import { NOON } from "../noon.ts";

const at = (seconds: number): string => new Date(NOON + seconds * 1_000).toISOString();
const point = (seconds: number, current: number) => ({
  at: at(seconds),
  current,
  metrics: [],
  reason: "WithinTolerance",
});
const history: HistoryView = {
  cluster: "eu-1",
  namespace: "shop",
  name: "web",
  uid: "1",
  since: at(0),
  until: at(60),
  stepSeconds: 15,
  points: [point(0, 10), point(15, 4), point(30, 6)],
};
const event = (
  seconds: number,
  from: number,
  to: number,
  outcome: EventView["outcome"],
): EventView => ({ at: at(seconds), from, to, outcome }) as EventView;

describe("timelineOf()", () => {
  it("marks a change outside Tidemark as one by hand, once, and never as a scale", () => {
    const { marks } = timelineOf(
      history,
      [event(15, 10, 4, "outside"), event(20, 4, 6, "applied"), event(40, 6, 8, "refused")],
      [],
    );
    expect(marks).toEqual([
      { atMs: NOON + 15_000, kind: "by hand" },
      { atMs: NOON + 20_000, kind: "up" },
      { atMs: NOON + 40_000, kind: "refused" },
    ]);
  });
});
