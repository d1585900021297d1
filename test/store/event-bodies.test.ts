import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { eventBody, eventOf } from "../../lib/stack/store/history/events.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import { compress } from "../../lib/stack/store/table/compressed.ts";
import { dayEventKey, eventKey, type Key } from "../../lib/stack/store/table/keys.ts";
import { event } from "./records.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { runs } from "../runs.ts";

const UID = "0b0cf6ee-57de-4a07-8d6e-4f1d1a9c2b73";

/** An event as a sync of an HPA with one metric stores it. */
const TYPICAL = event({
  id: `${UID}:81234`,
  uid: autoscalerUid(UID),
  message: "cpu resource utilization (percentage of request) above target",
  metrics: [
    {
      kind: "measured",
      name: "cpu resource utilization (percentage of request)",
      type: "Resource",
      value: "83%",
      target: "60%",
      ratio: 1.3833333333333333,
      proposal: 7,
    },
  ],
  steps: [
    { step: "propose", before: 5, after: 7 },
    { step: "stabilize", before: 7, after: 7 },
    { step: "limit", before: 7, after: 7 },
  ],
});

const keysOf = (one: ScaleEventRecord): readonly Key[] => [
  eventKey(one, one),
  dayEventKey(one.cluster, one),
];
const itemAt = (key: Key, body: HistoryItem["body"]): HistoryItem => ({
  ...key,
  body,
  ttlSeconds: 0,
});

describe("the body of a scale event", () => {
  it("takes a fifth of its JSON text, because its key says the rest", () => {
    for (const key of keysOf(TYPICAL))
      expect(eventBody(key, TYPICAL).length).toBeLessThan(JSON.stringify(TYPICAL).length / 5);
  });

  it("is read back whole under both keys, whatever the event holds", () => {
    const texts = fc.string({ unit: "binary" });
    const parts = fc.record({
      message: texts,
      detail: texts,
      from: fc.nat(),
      to: fc.nat(),
      settledMs: fc.nat(),
      id: fc.constantFrom(`${UID}:7`, "other", "a#b:3"),
    });
    fc.assert(
      fc.property(parts, (some) => {
        const one = event(some);
        for (const key of keysOf(one))
          expect(eventOf(itemAt(key, eventBody(key, one)))).toEqual(one);
      }),
      runs(10),
    );
  });

  it("is refused where it is text, as no release stored it", () => {
    for (const key of keysOf(TYPICAL))
      expect(() => eventOf(itemAt(key, JSON.stringify(TYPICAL)))).toThrow("its body is text");
  });

  it("is refused where a later release stored it, or its bytes are damaged", () => {
    const [key] = keysOf(TYPICAL);
    if (!key) throw new Error("an event has keys");
    expect(() => eventOf(itemAt(key, compress(2, {})))).toThrow(
      /Cannot read the scale event "autoscaler#.*": its version is 2, and 1 is known/,
    );
    expect(() => eventOf(itemAt(key, eventBody(key, TYPICAL).subarray(0, 20)))).toThrow(
      /its bytes are damaged/,
    );
  });
});
