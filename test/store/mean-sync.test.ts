import { describe, expect, it } from "vitest";
import {
  meanOf,
  type MeanSyncs,
  meanText,
  meanWith,
} from "../../lib/stack/store/head/mean-sync.ts";

const SYNC = { autoscalers: 100, changed: 10, pods: 400, bytes: 50_000, tookMs: 120 };
const PERIOD_MS = 15_000;
const A_DAY = 5_760;

const after = (syncs: readonly (typeof SYNC)[], before?: MeanSyncs): MeanSyncs | undefined =>
  syncs.reduce<MeanSyncs | undefined>((mean, sync) => meanWith(mean, sync, PERIOD_MS), before);

describe("the mean of the syncs of a partition", () => {
  it("is the plain mean until there are syncs of a day", () => {
    const mean = after([SYNC, { ...SYNC, changed: 20 }, { ...SYNC, changed: 0, tookMs: 180 }]);
    expect(mean?.syncs).toBe(3);
    expect(mean?.mean).toEqual({ ...SYNC, changed: 10, tookMs: 140 });
  });

  it("follows a change within days, and one sync of a day moves it little", () => {
    const quiet = after(Array.from({ length: A_DAY * 2 }, () => SYNC));
    expect(quiet?.syncs).toBe(A_DAY);
    const busy = { ...SYNC, changed: 50 };
    const once = after([busy], quiet);
    expect(once?.mean.changed).toBeCloseTo(10 + 40 / A_DAY);
    const lately = after(
      Array.from({ length: A_DAY * 3 }, () => busy),
      quiet,
    );
    expect(lately?.mean.changed).toBeGreaterThan(47);
  });

  it("is stored and read, and each sync of a day moves what is stored", () => {
    const quiet = after(Array.from({ length: A_DAY }, () => SYNC));
    if (!quiet) throw new TypeError("no mean");
    const read = meanOf(meanText(quiet));
    expect(read?.syncs).toBe(A_DAY);
    for (const field of ["autoscalers", "changed", "pods", "bytes", "tookMs"] as const)
      expect(read?.mean[field]).toBeCloseTo(quiet.mean[field], 3);
    const moved = after([{ ...SYNC, changed: 11 }], quiet);
    expect(moved && meanText(moved)).not.toBe(meanText(quiet));
  });

  it.each([[undefined], [""], ["5 1 2 3 4"], ["5 1 2 x 4 5"], ["5 1 -2 3 4 5"]])(
    "is none where %j is stored",
    (text) => {
      expect(meanOf(text)).toBeUndefined();
    },
  );
});
