import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import {
  JOURNAL_BYTES_MAX,
  journalItem,
  pageOfBody,
} from "../../lib/stack/store/history/journal.ts";
import { PARTITION } from "./records.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

/** Text that hardly compresses, the same every time. */
const scattered = (chars: number, seed: number): string =>
  createHash("shake256", { outputLength: chars })
    .update(String(seed))
    .digest("base64")
    .slice(0, chars);

const evaluation = (at: number, chars: number): Evaluation => ({
  uid: autoscalerUid(`uid-${at}`),
  namespace: namespace("shop"),
  name: autoscalerName(`app-${at}`),
  kind: "hold",
  failed: false,
  from: 3,
  because: { reason: "DesiredWithinRange", message: scattered(chars, at * 3) },
  metrics: [
    {
      name: scattered(chars, at * 3 + 1),
      type: "Resource",
      kind: "measured",
      value: "1",
      target: "2",
      proposal: 3,
    },
  ],
  steps: [{ step: scattered(chars, at * 3 + 2), before: 3, after: 3 }],
  events: [],
});

const stored = (chars: number) =>
  storedOf(Array.from({ length: 150 }, (_, at) => evaluation(at, chars)));

const storedOf = (given: readonly Evaluation[]) => {
  const { body } = journalItem(PARTITION, {
    atMs: 1,
    epoch: 2,
    page: 0,
    previousMs: 0,
    evaluations: given,
  });
  if (typeof body === "string") throw new TypeError("a journal page is bytes");
  return { bytes: body.length, evaluations: pageOfBody(body)?.evaluations ?? [] };
};

describe("a journal page", () => {
  it("that grew too large gives up its series first, and nothing else", () => {
    const gauges = Array.from({ length: 20 }, (_, at) => ({
      name: "value",
      labels: { metric_name: scattered(120, at) },
      value: at,
    }));
    const whole = { ...evaluation(1, 100), gauges };
    expect(storedOf([whole]).evaluations).toEqual([whole]);
    const many = Array.from({ length: 150 }, (_, at) => ({
      ...evaluation(at, 100),
      gauges: gauges.map((gauge, index) => ({
        ...gauge,
        labels: { metric_name: scattered(200, at * 100 + index) },
      })),
    }));
    const { bytes, evaluations } = storedOf(many);
    expect(bytes).toBeLessThanOrEqual(JOURNAL_BYTES_MAX);
    expect(evaluations).toEqual(many.map(({ gauges: _dropped, ...rest }) => rest));
  });

  it("tells everything while it fits", () => {
    expect(stored(100).evaluations[149]).toEqual(evaluation(149, 100));
  });

  it.each([
    [1_200, (one: Evaluation) => one.steps.length === 0 && one.metrics.length === 1],
    [5_000, (one: Evaluation) => one.metrics.length === 0 && one.because.message.length === 200],
  ])(
    "of evaluations with texts of %d characters tells less, and stays below the limit",
    (chars, isLighter) => {
      const { bytes, evaluations } = stored(chars);
      expect(bytes).toBeLessThanOrEqual(JOURNAL_BYTES_MAX);
      expect(evaluations).toHaveLength(150);
      expect(evaluations.every(isLighter)).toBe(true);
    },
  );
});
