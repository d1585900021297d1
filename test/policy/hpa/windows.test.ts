import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../../lib/rules/model/spec-common.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { windowStates } from "../../../lib/rules/policy/dialects.ts";
import { NOON } from "../../noon.ts";
import { hpa } from "../multi-threshold/world.ts";
import { specOf } from "../spec-of.ts";

const EXTERNAL = {
  type: "External",
  external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue: "1" } },
};
const moment = { settings: DEFAULT_SETTINGS, nowMs: NOON, count: 3 };

describe("the windows of an autoscaler that was never decided", () => {
  it("hold nothing; without behavior only the way down has one, of the length that the cluster sets (hpa.md 2.6.1)", () => {
    expect(windowStates(specOf(hpa({ metrics: [EXTERNAL] })), NEW_WINDOWS, moment)).toEqual({
      recommendations: [],
      stabilization: [{ direction: "scaleDown", windowMs: 300_000 }],
      rates: [],
    });
  });

  it("hold nothing; with behavior both ways have one, and nothing counts for any policy yet", () => {
    const policies = [{ type: "Pods", value: 2, periodSeconds: 60 }];
    const behavior = {
      scaleUp: { stabilizationWindowSeconds: 30, policies },
      scaleDown: { selectPolicy: "Disabled" },
    };
    expect(
      windowStates(specOf(hpa({ metrics: [EXTERNAL], behavior })), NEW_WINDOWS, moment),
    ).toMatchObject({
      recommendations: [],
      stabilization: [
        { direction: "scaleUp", windowMs: 30_000 },
        { direction: "scaleDown", windowMs: 300_000 },
      ],
      rates: [
        {
          direction: "scaleUp",
          type: "Pods",
          value: 2,
          periodSeconds: 60,
          limiting: [],
          giving: [],
        },
      ],
    });
  });
});

describe("the windows of an HPA", () => {
  const at = (replicas: number, secondsAgo: number) => ({
    replicas,
    firstMs: NOON - secondsAgo * 1000,
    lastMs: NOON - secondsAgo * 1000,
  });
  const scaled = (change: number, secondsAgo: number) => ({
    change,
    atMs: NOON - secondsAgo * 1000,
  });
  const windows: Windows = {
    ...NEW_WINDOWS,
    memory: {
      recommendations: [at(7, 40), at(3, 15)],
      scaleUps: [scaled(2, 70), scaled(1, 20)],
      scaleDowns: [scaled(4, 10)],
    },
  };

  it("show what is remembered, and the recommendation that holds the way down until it has left (hpa.md 3.8.1)", () => {
    expect(
      windowStates(specOf(hpa({ metrics: [EXTERNAL] })), windows, { ...moment, count: 7 }),
    ).toEqual({
      recommendations: windows.memory.recommendations,
      stabilization: [
        {
          direction: "scaleDown",
          windowMs: 300_000,
          held: {
            direction: "down",
            replicas: 7,
            untilMs: NOON + 260_000,
            wantedMs: NOON - 40_000,
          },
        },
      ],
      rates: [],
    });
  });

  it("show for each policy the scales that use its limit up, and those of the other direction that give room (hpa.md 3.8.4)", () => {
    const policies = [{ type: "Pods", value: 2, periodSeconds: 60 }];
    const behavior = {
      scaleUp: { policies },
      scaleDown: { policies: [{ type: "Percent", value: 50, periodSeconds: 15 }] },
    };
    const policy = { countedChanges: undefined, value: 2, type: "Pods", periodSeconds: 60 };
    const down = { change: 4, atMs: NOON - 10_000 };
    expect(
      windowStates(specOf(hpa({ metrics: [EXTERNAL], behavior })), windows, moment).rates,
    ).toEqual([
      {
        ...policy,
        direction: "scaleUp",
        limiting: [{ change: 1, atMs: NOON - 20_000, leavesMs: NOON + 40_000 }],
        giving: [{ ...down, leavesMs: NOON + 50_000 }],
      },
      {
        ...policy,
        direction: "scaleDown",
        type: "Percent",
        value: 50,
        periodSeconds: 15,
        limiting: [{ ...down, leavesMs: NOON + 5_000 }],
        giving: [],
      },
    ]);
  });

  it("are no stabilization where all metrics have watermarks and there is no behavior (proposals.md §5)", () => {
    const marked = {
      type: "Pods",
      pods: { metric: { name: "jobs" }, highWatermark: "10", lowWatermark: "5" },
    };
    const specs = [
      { metrics: [marked] },
      { metrics: [marked, EXTERNAL] },
      { metrics: [marked], behavior: {} },
    ].map((fields) => specOf(hpa(fields)));
    const lengths = specs.map((spec) =>
      windowStates(spec, windows, moment).stabilization.map(({ windowMs }) => windowMs),
    );
    expect(lengths).toEqual([[], [300_000], [0, 300_000]]);
  });
});
