import { describe, expect, it } from "vitest";
import type { Scale } from "../../../lib/rules/model/decision.ts";
import type { Condition } from "../../../lib/rules/model/windows.ts";
import { withScale } from "../../../lib/rules/policy/dialects.ts";
import {
  afterWatermarkWrite,
  withWatermarkScale,
} from "../../../lib/rules/policy/watermark/steps/after-write.ts";
import { newestFirst } from "../../../lib/rules/policy/watermark/steps/sync.ts";
import {
  condition,
  dropGauge,
  gauge,
} from "../../../lib/rules/policy/watermark/steps/sentences.ts";
import { NOON } from "../../noon.ts";
import { said, scaledAt, wpa } from "./world.ts";

const EARLIER: Condition = {
  type: "ScalingActive",
  status: "True",
  reason: "ValidMetricFound",
  message: "",
  transitionMs: NOON - 60_000,
};
const windows = {
  ...scaledAt(NOON - 3_600_000),
  status: { ...scaledAt(NOON - 3_600_000).status, conditions: [EARLIER] },
};

const scale = (from: number, to: number): Scale => ({
  kind: "scale",
  from,
  to,
  trigger: "lag above target",
  because: { reason: "Proposal", message: "lag above target" },
  metrics: [],
  steps: [],
  events: [],
  windows,
});

describe("afterWatermarkWrite()", () => {
  it.each([
    ["up", 6, 9, { name: "upscale_replicas_total", labels: {}, value: 3 }],
    ["down", 9, 6, { name: "downscale_replicas_total", labels: {}, value: 3 }],
    [
      "the first, without a change",
      6,
      6,
      { name: "downscale_replicas_total", labels: {}, value: 0 },
    ],
  ])("an applied write counts its step: %s", (_, from, to, counter) =>
    expect(
      afterWatermarkWrite({
        decision: scale(from, to),
        outcome: { kind: "applied" },
        atMs: NOON + 999,
      }),
    ).toStrictEqual({
      windows: {
        ...windows,
        status: {
          ...windows.status,
          desiredReplicas: to,
          lastScaleMs: NOON,
          conditions: [
            {
              type: "AbleToScale",
              status: "True",
              reason: "SuccessfulScale",
              message: `the WPA controller was able to update the target scale to ${to}`,
              transitionMs: NOON,
            },
            EARLIER,
          ],
        },
      },
      events: [
        { type: "Normal", reason: "Scaling", message: `New size: ${to}; reason: lag above target` },
      ],
      gauges: [
        { name: "conditions", labels: { condition: "able_to_scale" }, value: 1 },
        { name: "replicas_scaling_effective", labels: {}, value: to },
        counter,
      ],
    }),
  );

  it("what may have happened counts as applied", () =>
    expect(
      afterWatermarkWrite({
        decision: scale(6, 9),
        outcome: { kind: "unknown", message: "?" },
        atMs: NOON,
      }).windows.status,
    ).toMatchObject({
      desiredReplicas: 9,
      lastScaleMs: NOON,
    }));

  it("a refusal leaves count and last scale as they were", () =>
    expect(
      afterWatermarkWrite({
        decision: scale(6, 9),
        outcome: { kind: "refused", message: "no" },
        atMs: NOON + 999,
      }),
    ).toStrictEqual({
      windows: {
        ...windows,
        status: {
          ...windows.status,
          conditions: [
            {
              type: "AbleToScale",
              status: "False",
              reason: "FailedScale",
              message: "the WPA controller was unable to update the target scale: no",
              transitionMs: NOON,
            },
            EARLIER,
          ],
        },
      },
      events: [{ type: "Warning", reason: "FailedScale", message: "no" }],
      gauges: [{ name: "conditions", labels: { condition: "able_to_scale" }, value: 0 }],
    }));
});

describe("withWatermarkScale()", () => {
  it.each([
    ["later than the last", NOON - 3_599_001, NOON - 3_600_000 + 0],
    ["a second later", NOON - 3_599_000, NOON - 3_599_000],
    ["earlier", NOON - 9_000_000, NOON - 3_600_000],
  ])("never moves the last scale back: %s", (_, atMs, lastScaleMs) =>
    expect(withWatermarkScale(windows, { from: 6, to: 9, atMs }).status).toMatchObject({
      desiredReplicas: 9,
      lastScaleMs,
    }),
  );

  it("is the first where there was none", () => {
    const { lastScaleMs: _, ...status } = windows.status;
    expect(
      withWatermarkScale({ ...windows, status }, { from: 6, to: 9, atMs: NOON }).status.lastScaleMs,
    ).toBe(NOON);
  });

  it("is what settles a scale of this dialect", () => {
    const change = { from: 6, to: 9, atMs: NOON };
    expect(withScale(windows, wpa(), change)).toEqual(withWatermarkScale(windows, change));
  });

  it("puts its condition behind the newer ones", () =>
    expect(
      withWatermarkScale(windows, { from: 6, to: 9, atMs: NOON - 120_000 }).status.conditions.map(
        ({ type }) => type,
      ),
    ).toEqual(["ScalingActive", "AbleToScale"]));
});

describe("newestFirst()", () => {
  it("keeps the transition of a status that stays, and the place among equals", () => {
    const first = { ...EARLIER, type: "A" };
    const second = { ...EARLIER, type: "B" };
    const sentence = newestFirst(
      [first, second],
      { type: "B", status: "True", reason: "r", message: "m" },
      NOON,
    );
    expect(sentence).toEqual([first, { ...second, reason: "r", message: "m" }]);
  });
});

describe("what is said in one sync", () => {
  it("keeps the last write of each series, told apart by name and labels", () =>
    expect(
      said([
        gauge("value", 1, { metric_name: "a" }),
        gauge("value", 2, { metric_name: "b" }),
        gauge("other", 3, { metric_name: "a" }),
        gauge("value", 4, { metric_name: "a" }),
        gauge("bare", 5),
        dropGauge("bare"),
      ]).gauges,
    ).toEqual([
      { name: "value", labels: { metric_name: "b" }, value: 2 },
      { name: "other", labels: { metric_name: "a" }, value: 3 },
      { name: "value", labels: { metric_name: "a" }, value: 4 },
      { name: "bare", labels: {}, value: null },
    ]));

  it("gives a series to three conditions only", () => {
    const types = ["AbleToScale", "ScalingActive", "ScalingLimited", "ScalingBlocked"];
    const { gauges } = said(
      types.map((type) => condition({ type, status: "True", reason: "", message: "" })),
    );
    expect(gauges.map(({ labels }) => labels)).toEqual([
      { condition: "able_to_scale" },
      { condition: "scaling_limited" },
      { condition: "scaling_blocked" },
    ]);
  });
});
