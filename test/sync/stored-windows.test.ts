import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { needsNoWrite } from "../../lib/stack/sync/load/stored-windows.ts";
import { NOON } from "../noon.ts";
import { native, sync } from "../policy/native/world.ts";
import { podsOf } from "../policy/watermark/world.ts";
import type { StoredWindows } from "../../lib/rules/model/scale-records.ts";

const stored = (windows: Windows): StoredWindows => ({
  uid: autoscalerUid("u"),
  windows,
  open: false,
});

const marks = {
  metrics: [
    {
      type: "External",
      external: { metricName: "load", metricSelector: {}, highWatermark: 40, lowWatermark: 20 },
    },
  ],
};
const watermark = (more: object = {}) =>
  native({ rules: "watermark", watermark: { ...marks, ...more } });

/**
 * Syncs of a watermark on four ready pods, 15 s apart; the first one writes its count, whatever it
 * is.
 */
const play = (spec: ReturnType<typeof native>, loads: readonly number[]): readonly Windows[] => {
  let windows: Windows = NEW_WINDOWS;
  let replicas = 4;
  return loads.map((load, at) => {
    ({ windows, count: replicas } = sync(spec, {
      replicas,
      pods: podsOf(4).all,
      values: { load },
      nowMs: NOON + at * 15_000,
      windows,
    }));
    return windows;
  });
};

const written = (all: readonly Windows[]): readonly boolean[] =>
  all.slice(1).map((after, at) => !needsNoWrite(stored(all[at] ?? NEW_WINDOWS), stored(after)));

describe("needsNoWrite()", () => {
  it("writes no page for a watermark that stays as it is, though two of its conditions are set anew in every sync", () => {
    const all = play(watermark(), [30, 30, 30, 30, 30, 30]);
    const since = (windows: Windows | undefined) =>
      windows?.status.conditions.find(({ type }) => type === "ScalingActive")?.transitionMs;
    expect(since(all[4])).not.toBe(since(all[5]));
    // The back-off of the first write begins, and the upscale forbidden window ends after a minute.
    expect(written(all)).toEqual([true, false, false, true, false]);
  });

  it("writes one when a breach begins and ends, by which delays are measured", () =>
    expect(
      written(
        play(
          watermark({
            upscaleDelayAboveWatermarkSeconds: 600,
            upscaleForbiddenWindowSeconds: 1,
            downscaleForbiddenWindowSeconds: 1,
          }),
          [30, 30, 50, 50, 30, 30],
        ),
      ),
    ).toEqual([true, true, false, true, false]));

  it("writes one for a breach that begins anew under the same status", () => {
    const condition = {
      type: "BreachAbove",
      status: "True",
      reason: "Breached",
      message: "",
      transitionMs: NOON,
    } as const;
    const at = (transitionMs: number): StoredWindows =>
      stored({
        ...NEW_WINDOWS,
        status: { ...NEW_WINDOWS.status, conditions: [{ ...condition, transitionMs }] },
      });
    expect([needsNoWrite(at(NOON), at(NOON)), needsNoWrite(at(NOON), at(NOON + 1))]).toEqual([
      true,
      false,
    ]);
  });
});
