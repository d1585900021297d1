import { describe, expect, it } from "vitest";
import { WEEK_MISTAKES } from "./mistakes.ts";
import { playWeeks } from "./play.ts";

/** A seed takes four seconds of the CPU: nineteen days, a day a minute of other seeds. */
const PATIENCE_MS = 300_000;
/** The third has tables that go back. */
const SEEDS = [0, 1, 2];

describe("what readers are shown over weeks", { timeout: PATIENCE_MS }, () => {
  it.each(SEEDS)("is what was true, seed %i", async (seed) => {
    const { violation, observations, completed, truth } = await playWeeks(seed);
    expect(violation).toBeUndefined();
    expect(completed).toBeGreaterThan(200);
    expect(truth.events.size).toBeGreaterThan(40);
    const shown = observations.flatMap((one) => (one.kind === "rows" ? one.partitions : []));
    for (const how of ["shown", "304", "unchanged"])
      expect(shown.filter((one) => one.how === how).length).toBeGreaterThan(10);
    const kinds = [
      ...["rows", "events", "counts", "history", "changes"],
      ...["describe", "explain", "sparklines", "series"],
    ];
    for (const kind of kinds)
      expect(observations.filter((one) => one.kind === kind).length).toBeGreaterThan(5);
  });

  it("is the same twice, so that a seed replays alone", async () => {
    const [one, other] = [
      await playWeeks(3, { told: true, days: 3 }),
      await playWeeks(3, { told: true, days: 3 }),
    ];
    expect(one.story.length).toBeGreaterThan(100);
    expect(other.story).toEqual(one.story);
    expect(other.observations).toEqual(one.observations);
  });

  it.each(WEEK_MISTAKES.map((mistake) => [mistake.leftOut, mistake] as const))(
    "shows a mistake: left out %s",
    async (_words, mistake) => {
      const { violation } = await playWeeks(mistake.seed, { mistake, days: mistake.days });
      expect(violation?.invariant).toBe(mistake.caughtBy);
    },
  );
});
