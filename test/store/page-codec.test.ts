import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { KnownRival, KnownRivals } from "../../lib/rules/model/observation.ts";
import type { OutsideSeries, Windows } from "../../lib/rules/model/windows.ts";
import { decodePage, encodePage, PAGE_VERSION } from "../../lib/stack/store/pages/codec.ts";
import {
  PAGE_BYTES_MAX,
  PAGE_ENTRIES,
  pageOf,
  wantedPages,
} from "../../lib/stack/store/pages/plan.ts";
import { compress } from "../../lib/stack/store/table/compressed.ts";
import type { StoredWindows } from "../../lib/rules/model/scale-records.ts";
import { runs } from "../runs.ts";

const ms = fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 });
const count = fc.integer({ min: 0, max: 2_147_483_647 });
const run = fc
  .record({
    replicas: count,
    firstMs: ms,
    length: fc.nat(10_000_000),
    stepMs: fc.option(fc.integer({ min: 1, max: 900_000 })),
    windowMs: fc.option(fc.nat(3_600_000)),
  })
  .map(({ replicas, firstMs, length, stepMs, windowMs }) => ({
    replicas,
    firstMs,
    lastMs: firstMs + length,
    ...(stepMs !== null && { stepMs }),
    ...(windowMs !== null && { windowMs }),
  }));
const change = fc
  .record({
    change: count,
    atMs: ms,
    outdated: fc.boolean(),
    eventId: fc.string({ maxLength: 50 }),
  })
  .map(({ change: by, atMs, outdated, eventId }) => ({
    change: by,
    atMs,
    ...(outdated && { outdated: true }),
    ...(eventId !== "" && { eventId }),
  }));
const text = fc.string({ maxLength: 60, unit: "grapheme" });
const condition = fc.record({
  type: text,
  status: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
  reason: text,
  message: text,
  transitionMs: ms,
});
const answer = fc
  .record({
    id: fc.maxSafeNat(),
    askedMs: ms,
    value: fc.option(fc.record({ milli: fc.bigInt(), agedMs: fc.nat(3_600_000) })),
  })
  .map(({ id, askedMs, value }) => ({
    id,
    askedMs,
    ...(value !== null && { milli: value.milli.toString(), sampleMs: askedMs - value.agedMs }),
  }));
const windows: fc.Arbitrary<Windows> = fc
  .record({
    recommendations: fc.option(fc.array(run, { maxLength: 8 })),
    scaleUps: fc.array(change, { maxLength: 5 }),
    scaleDowns: fc.array(change, { maxLength: 5 }),
    selector: fc.option(text),
    answers: fc.array(answer, { maxLength: 3 }),
    conditions: fc.array(condition, { maxLength: 4 }),
    currentReplicas: count,
    desiredReplicas: count,
    lastScaleMs: fc.option(ms),
    currentMetrics: fc.option(
      fc.array(
        fc.record({
          type: text,
          resource: fc.dictionary(
            fc.string({ minLength: 1 }).filter((key) => key !== "__proto__"),
            text,
          ),
        }),
        { maxLength: 3 },
      ),
    ),
  })
  .map(({ recommendations, scaleUps, scaleDowns, selector, answers, lastScaleMs, ...status }) => ({
    memory: {
      recommendations,
      scaleUps,
      scaleDowns,
      ...(selector !== null && { selector }),
      ...(answers.length > 0 && { answers }),
    },
    status: { ...status, ...(lastScaleMs !== null && { lastScaleMs }) },
  }));
const other: fc.Arbitrary<KnownRival> = fc.record(
  { kind: fc.string(), name: fc.string(), uid: fc.string({ minLength: 1 }) },
  { requiredKeys: ["kind", "name"] },
);
const rivals: fc.Arbitrary<KnownRivals> = fc.record({
  connection: fc.nat(),
  looks: fc.array(fc.tuple(fc.string(), fc.array(other, { maxLength: 2 })), { maxLength: 3 }),
});
const totals = fc.record({ ups: count, added: count, downs: count, removed: count, epoch: count });
const outside: fc.Arbitrary<OutsideSeries> = fc.record(
  { changes: count, firstMs: ms, lastMs: ms, by: fc.string() },
  { requiredKeys: ["changes", "firstMs", "lastMs"] },
);
const entry: fc.Arbitrary<StoredWindows> = fc.record(
  { uid: fc.uuid().map(autoscalerUid), windows, open: fc.boolean(), rivals, totals, outside },
  { requiredKeys: ["uid", "windows", "open"] },
);

describe("a windows page", () => {
  it("always gives back what was stored", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(entry, { selector: ({ uid }) => uid, maxLength: 6 }),
        (entries) => {
          expect(decodePage(encodePage(entries))).toEqual({
            kind: "read",
            entries: new Map(entries.map((one) => [one.uid, one])),
          });
        },
      ),
      runs(50),
    );
  });

  it.each([
    [
      "a later version",
      compress(PAGE_VERSION + 1, []),
      `RangeError: version ${PAGE_VERSION + 1} is not known`,
    ],
    [
      "parts that would be lost when it is written again",
      compress(2, [
        ["u", 0, [], [], [], null, [], [1, 1], null, null, null, [1, 2, 0, 0, 3], [], null, "more"],
      ]),
      "RangeError: an entry has 15 parts, and 14 are known",
    ],
    [
      "totals with parts that would be lost",
      compress(2, [["u", 0, [], [], [], null, [], [1, 1], null, null, null, [1, 2, 0, 0, 3, 4]]]),
      "RangeError: an entry has 6 parts, and 5 are known",
    ],
    [
      "an answer with parts that would be lost",
      compress(2, [
        ["u", 0, [], [], [], null, [], [1, 1], null, null, null, null, [[1, 2, "3", 4, 5]]],
      ]),
      "RangeError: an entry has 5 parts, and 4 are known",
    ],
    [
      "a run with parts that would be lost",
      compress(2, [["u", 0, [[1, 2, 3, 4, 5, 6]], [], [], null, [], [1, 1], null, null]]),
      "RangeError: an entry has 6 parts, and 5 are known",
    ],
    ["something else", compress(2, "text"), "RangeError: its body is not a list"],
    ["nothing", new Uint8Array(), /Error/],
    ["damage", Buffer.of(2, 0xff, 0xff, 0xff), /Error/],
  ])("that holds %s is unreadable, never an exception", (_what, body, words) => {
    expect(decodePage(body)).toEqual({ kind: "unreadable", message: expect.stringMatching(words) });
  });

  it("never differs between two encodings of the same windows", () => {
    fc.assert(
      fc.property(entry, (one) => {
        expect(Buffer.compare(encodePage([one]), encodePage([structuredClone(one)]))).toBe(0);
      }),
      runs(20),
    );
  });
});

describe("wantedPages()", () => {
  const HUNDRED_KB = 100_000;
  it.each([
    [0, 0, 0, 0],
    [1, 0, 0, 1],
    [100, 0, 0, 1],
    [101, 0, 0, 2],
    [125, 1, 0, 1],
    [126, 1, 0, 2],
    [250, 2, 0, 2],
    [251, 2, 0, 3],
    [25, 1, 0, 1],
    [0, 1, 0, 1],
    [50, 2, 0, 2],
    [49, 2, 0, 1],
    [49, 2, PAGE_BYTES_MAX / 2, 2],
    [49, 2, HUNDRED_KB - 1, 1],
    [5_000, 0, 0, 50],
  ])(
    "of %d autoscalers on %d pages with %d bytes is %d where a page is to have 100",
    (autoscalers, now, bytes, wanted) => {
      expect(wantedPages(autoscalers, now, bytes, 100)).toBe(wanted);
    },
  );

  it("divides a page of 100 autoscalers, and leaves its own", () => {
    expect(wantedPages(100, 1, 5_000)).toBe(Math.ceil(100 / PAGE_ENTRIES));
    expect(wantedPages(100, Math.ceil(100 / PAGE_ENTRIES), 5_000)).toBe(
      Math.ceil(100 / PAGE_ENTRIES),
    );
  });

  it("always keeps a number that it wanted a moment ago", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000 }),
        fc.nat(300),
        fc.nat(1_000_000),
        (autoscalers, now, bytes) => {
          const wanted = wantedPages(autoscalers, now, bytes);
          expect(wantedPages(autoscalers, wanted, bytes)).toBe(wanted);
        },
      ),
    );
  });

  it("spreads autoscalers evenly enough for a page's size to be bounded", () => {
    const pages = Array.from({ length: 5_000 }, (_, at) =>
      pageOf(autoscalerUid(`0b0cf6ee-57de-4a07-${at}`), 50),
    );
    expect(
      Math.max(...[...Map.groupBy(pages, (page) => page).values()].map(({ length }) => length)),
    ).toBeLessThan(150);
  });
});
