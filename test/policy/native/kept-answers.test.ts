import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Answer, Answers, MetricValue } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { registeredQuestions } from "../../../lib/rules/policy/dialects.ts";
import { refused } from "../../manifest/manifests.ts";
import { NOON } from "../../noon.ts";
import { NO_METRICS } from "../../observation.ts";
import { hpa } from "../multi-threshold/world.ts";
import { specOf } from "../spec-of.ts";
import { manifest, native, sync } from "./world.ts";

const metric = (more: object = {}) => ({
  prometheus: { source: "main", query: "depth" },
  measure: "Average",
  target: 10,
  ...more,
});
const specWith = (more: object = {}) => native({ metrics: [metric(more)] });
const QUERY = queryKey({ for: "prometheus", source: "main", query: "depth" } as never);

const value = (of: number, timestampMs = 0): Answer<readonly MetricValue[]> => ({
  kind: "answered",
  items: [{ milli: BigInt(of * 1_000), timestampMs }],
});
const answers = (answer: Answer<readonly MetricValue[]> | undefined): Answers =>
  new Map(answer === undefined ? [] : [[QUERY, answer]]);

/** One sync at so many seconds after noon. */
const at = (
  seconds: number,
  answer: Answer<readonly MetricValue[]> | undefined,
  windows: Windows,
  more: object = { everySeconds: 60 },
) =>
  sync(specWith(more), {
    replicas: 5,
    nowMs: NOON + seconds * 1_000,
    windows,
    observed: { answers: answers(answer) },
  });

const due = (seconds: number, windows: Windows, more: object = { everySeconds: 60 }): number =>
  registeredQuestions(specWith(more), {
    kept: windows.memory.answers,
    nowMs: NOON + seconds * 1_000,
  }).length;

describe("a metric with everySeconds", () => {
  it("is asked once in the time, goes on with the kept answer between, and is asked again a little early rather than late", () => {
    expect(due(0, NEW_WINDOWS)).toBe(1);
    const asked = at(0, value(70), NEW_WINDOWS);
    expect(asked.count).toBe(7);
    expect([15, 30, 45, 53.9, 54, 60].map((seconds) => due(seconds, asked.windows))).toEqual([
      0, 0, 0, 0, 1, 1,
    ]);
    const between = at(45, undefined, asked.windows);
    expect(between.count).toBe(7);
    expect(between.windows.memory.answers).toEqual(asked.windows.memory.answers);
  });

  it("never decides on a kept answer where the source was asked and failed, and asks again in the next sync", () => {
    const asked = at(0, value(10), NEW_WINDOWS);
    const failed = at(30, NO_METRICS, asked.windows);
    expect(failed.count).toBe(5);
    expect(failed.decision).toMatchObject({ kind: "hold", failed: true });
    expect(failed.windows.memory.answers).toBeUndefined();
    expect(due(31, failed.windows)).toBe(1);
  });

  it("keeps no answer to another question, and none without everySeconds", () => {
    const asked = at(0, value(10), NEW_WINDOWS);
    const edited = registeredQuestions(
      specWith({ everySeconds: 60, prometheus: { source: "main", query: "other" } }),
      {
        kept: asked.windows.memory.answers,
        nowMs: NOON + 15_000,
      },
    );
    expect(edited).toHaveLength(1);
    expect(at(0, value(10), NEW_WINDOWS, {}).windows.memory.answers).toBeUndefined();
    expect(due(15, asked.windows, {})).toBe(1);
  });

  it("asks again after a clock that went back", () => {
    const asked = at(0, value(10), NEW_WINDOWS);
    expect(due(-1, asked.windows)).toBe(1);
  });

  it("keeps an empty answer, which is what whenEmpty says", () => {
    const more = {
      everySeconds: 60,
      prometheus: { source: "main", query: "depth", whenEmpty: 20 },
    };
    const asked = at(0, { kind: "answered", items: [] }, NEW_WINDOWS, more);
    expect(asked.count).toBe(2);
    expect(due(30, asked.windows, more)).toBe(0);
    expect(at(30, undefined, asked.windows, more).count).toBe(2);
  });

  it("never shrinks on a kept answer that is older than maxAgeSeconds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000 }),
        fc.integer({ min: 0, max: 40 }),
        fc.boolean(),
        (seconds, depth, isEmpty) => {
          // An empty answer has no sample whose age could be looked at.
          const more = {
            everySeconds: 60,
            ...(isEmpty && { prometheus: { source: "main", query: "depth", whenEmpty: depth } }),
          };
          const answer = isEmpty ? ({ kind: "answered", items: [] } as const) : value(depth);
          const asked = at(0, answer, NEW_WINDOWS, more);
          const later = at(seconds, undefined, asked.windows, more);
          if (seconds > 180) expect(later.count).toBe(5);
          else expect(later.count).toBe(Math.max(1, Math.ceil(depth / 10)));
        },
      ),
    );
  });

  it("keeps nothing under the rules of an HPA", () => {
    const asked = at(0, value(10), NEW_WINDOWS);
    const spec = specOf(
      hpa({
        metrics: [
          {
            type: "External",
            external: { metric: { name: "load" }, target: { type: "Value", value: "1" } },
          },
        ],
      }),
    );
    expect(
      sync(spec, { replicas: 5, values: { load: 1 }, windows: asked.windows }).windows.memory
        .answers,
    ).toBeUndefined();
  });

  it.each([
    [
      metric({ everySeconds: 60, maxAgeSeconds: 30 }),
      "maxAgeSeconds",
      "must be greater than or equal to everySeconds",
    ],
    [metric({ everySeconds: 0 }), "everySeconds", "must be greater than or equal to 1"],
    [metric({ maxAgeSeconds: 3_601 }), "maxAgeSeconds", "must be less than or equal to 3600"],
    [
      { external: { metric: "load" }, target: 1, everySeconds: 60 },
      "everySeconds",
      "may only be set for a metric of a registered source",
    ],
  ])("is refused with the field: %j", (given, field, detail) => {
    expect(refused(manifest({ metrics: [given] })).problems).toContainEqual(
      expect.objectContaining({ field: `spec.metrics[0].${field}`, detail }),
    );
  });
});
