import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import type { GaugeWrite, MetricOutcome } from "../../lib/rules/model/decision.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";
import {
  baseOf,
  differenceBody,
  pageOfBody,
  wholeBody,
} from "../../lib/stack/store/history/journal.ts";
import { shortened, writtenOut } from "../../lib/stack/store/history/shorthand.ts";
import { compressText, packed, versionOf } from "../../lib/stack/store/table/compressed.ts";
import { rowsToShapes } from "../../lib/stack/store/table/shapes.ts";
import { RUNS } from "../runs.ts";

const evaluationOf = (
  metrics: readonly MetricOutcome[],
  { from = 6, gauges }: { readonly from?: number; readonly gauges?: readonly GaugeWrite[] } = {},
): Evaluation => ({
  ...{ uid: autoscalerUid("uid-web"), namespace: namespace("shop"), name: autoscalerName("web") },
  ...{ kind: "hold", failed: false, from, because: { reason: "WithinTarget", message: "" } },
  ...{ metrics, steps: [], events: [], ready: from },
  ...(gauges && { gauges }),
});

const measured = (
  fields: Partial<MetricOutcome & { readonly kind: "measured" }>,
): MetricOutcome => ({
  ...{ name: "load", type: "External", kind: "measured", value: "875m", target: "1", proposal: 6 },
  ...fields,
});

/** The short form as a body has it: JSON. */
const stored = (evaluation: Evaluation) =>
  JSON.parse(JSON.stringify(shortened(evaluation))) as Evaluation;

const shortMetricOf = (metric: MetricOutcome): unknown => stored(evaluationOf([metric])).metrics[0];

describe("the short form of an evaluation", () => {
  it("has a ratio as the parts and the rest of its exact quotient, and a rounded value as its digits", () => {
    const pods = { matched: 6, owned: 6 };
    const turns = { value: "0.87", below: { value: "0.84", asks: "fewer" as const } };
    const load = measured({ ratio: 5_246 / 6_000, pods, turns });
    expect(shortMetricOf(load)).toEqual({
      ...load,
      ...{ ratio: "6:4", turns: { ...turns, value: "~2" } },
    });
  });

  it("has a percentage, which is cut off, over its target", () => {
    const cpu = measured({ value: "57%", target: "60%", ratio: 57 / 60 });
    expect(shortMetricOf(cpu)).toEqual({ ...cpu, ratio: "1:0" });
  });

  it("has the series of a value as a part of the value of its metric", () => {
    const gauges = [
      { name: "dry_run", labels: {}, value: 0 },
      { name: "value", labels: { metric_name: "load" }, value: 5_293 / 6 },
    ];
    const load = measured({ value: "882m", target: "700m..1200m", pods: { matched: 6 } });
    const evaluation = evaluationOf([load], { gauges });
    expect(stored(evaluation).gauges?.map(({ value }) => value)).toEqual([0, "6:-1"]);
    expect(writtenOut(stored(evaluation))).toEqual(evaluation);
  });

  it.each([
    ["a ratio that is no quotient", measured({ ratio: Math.PI })],
    ["a target of two watermarks", measured({ target: "0.7..1.2", ratio: 0.9 })],
    ["a value that is no quantity", measured({ value: "9 of 10", ratio: 0.9 })],
    ["a target of 0", measured({ target: "0", ratio: Number.MAX_VALUE })],
    ["a metric that failed", { ...measured({}), kind: "failed", reason: "No", message: "no" }],
  ] as readonly (readonly [string, MetricOutcome])[])("leaves %s as it is", (_name, metric) => {
    expect(shortMetricOf(metric)).toEqual(metric);
  });

  it("keeps the fields of its evaluation, so that rows of one shape stay together", () => {
    const shape = (metric: MetricOutcome): readonly string[] =>
      Object.keys(shortMetricOf(metric) as object);
    const exact = measured({ ratio: 0.875, turns: { value: "0.87" } });
    const other = measured({ ratio: Math.PI, turns: { value: "0.8651" } });
    expect(shape(exact)).toEqual(shape(other));
  });
});

describe("a page from before the short forms", () => {
  it("is read as it is, whole or as a difference, and a version of that time passes over a page of now", () => {
    const load = measured({ ratio: 5_246 / 6_000, turns: { value: "0.87" } });
    const page = { atMs: 1_000, epoch: 1, page: 0, previousMs: 0 };
    const evaluations = [evaluationOf([load])];
    const text = Buffer.from(`[${JSON.stringify(page)},${rowsToShapes(evaluations)}]`);
    const before = compressText(1, text);
    expect(pageOfBody(before)?.evaluations).toEqual(evaluations);
    const head = Buffer.alloc(13);
    head.writeUInt8(2);
    head.writeUIntBE(1_000, 1, 6);
    head.writeUIntBE(1, 7, 6);
    const difference = Buffer.concat([head, packed(text, text)]);
    expect(baseOf(difference)).toEqual({ atMs: 1_000, epoch: 1 });
    expect(pageOfBody(difference, text)?.evaluations).toEqual(evaluations);
    const now = wholeBody({ ...page, evaluations });
    expect([
      versionOf(now),
      differenceBody({ ...page, evaluations }, { ...page, body: now })[0],
    ]).toEqual([3, 4]);
  });
});

const numbers = fc.integer({ min: 0, max: 10_000_000 });
const few = fc.integer({ min: 0, max: 40 });
const quantity = fc.oneof(
  numbers.map((milli) => `${milli}m`),
  numbers.map(String),
  fc.integer({ min: 0, max: 1_000 }).map((percent) => `${percent}%`),
  numbers.map((mebi) => `${mebi}Mi`),
  fc.constantFrom("", "0.7..1.2", "n/a", "-5", "1e3", "9223372036854775807"),
);
const turnText = fc.oneof(
  quantity,
  fc.tuple(numbers, fc.integer({ min: 0, max: 4 })).map(([n, digits]) => `${n / 10 ** digits}`),
);

/** Metrics as the rules make them, and with numbers that nothing explains. */
const metric = fc
  .record({
    value: quantity,
    target: quantity,
    parts: few,
    total: numbers,
    over: numbers,
    strange: fc.double(),
    isStrange: fc.boolean(),
    turn: turnText,
  })
  .map(({ value, target, parts, total, over, strange, isStrange, turn }) => {
    const quotient = total / (over * parts);
    const ratio = isStrange || !Number.isFinite(quotient) ? strange : quotient;
    return measured({
      ...{ value, target, pods: { matched: parts }, turns: { value: turn } },
      ...(Number.isFinite(ratio) && !Object.is(ratio, -0) && { ratio }),
    });
  });

/** A value of several pods, rounded up or down as the rules do, and its ratio. */
const ordinary = fc
  .record({ total: numbers, pods: fc.integer({ min: 1, max: 40 }), target: few, up: fc.boolean() })
  .map(({ total, pods, target, up }) =>
    measured({
      value: `${up ? Math.ceil(total / pods) : Math.floor(total / pods)}m`,
      target: `${target + 1}`,
      ratio: total / ((target + 1) * 1_000 * pods),
      pods: { matched: pods },
      turns: { value: `${Math.floor(total / pods / 10) / 100}` },
    }),
  );

const gauge = fc.record({
  name: fc.constantFrom("value", "dry_run"),
  labels: fc.constant({}),
  value: fc.oneof(
    fc.constant(null),
    few,
    numbers,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
});

it("has a ratio of nothing and a target below zero in full: JSON has no -0", () => {
  const nothing = measured({ value: "0%", target: "-5", pods: { matched: 0 }, ratio: 0 });
  expect(shortMetricOf(nothing)).toMatchObject({ ratio: 0 });
});

describe("every evaluation", () => {
  it("comes back to the last bit from the body of a page", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(metric, ordinary), { maxLength: 4 }),
        fc.option(fc.array(gauge, { maxLength: 4 }), { nil: undefined }),
        few,
        (metrics, gauges, from) => {
          const evaluation = evaluationOf(metrics, { from, ...(gauges && { gauges }) });
          const asJson = JSON.parse(JSON.stringify(evaluation)) as Evaluation;
          const body = wholeBody({
            ...{ atMs: 0, epoch: 1, page: 0, previousMs: 0 },
            evaluations: [evaluation],
          });
          expect(pageOfBody(body)?.evaluations).toEqual([asJson]);
        },
      ),
      RUNS,
    );
  });

  it("has no ratio in full where its value is one of whole thousandths", () => {
    fc.assert(
      fc.property(ordinary, (one) => {
        const { ratio } = shortMetricOf(one) as { readonly ratio?: unknown };
        expect(typeof ratio).toBe("string");
      }),
      RUNS,
    );
  });
});
