import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import {
  TROUBLE_STATES,
  LASTING_MS,
  ROW_PROBLEM_KINDS,
  problemCounts,
  type SummaryRow,
} from "../../lib/rules/model/summary.ts";
import {
  decodeHeadSummary,
  encodeHeadSummary,
  type HeadSummary,
  decodeIndex,
  encodeIndex,
} from "../../lib/stack/store/summary/summary-items.ts";
import {
  decodeSummary,
  encodeSummary,
  summaryKeyOf,
} from "../../lib/stack/store/summary/summary-codec.ts";
import { compress, decompress } from "../../lib/stack/store/table/compressed.ts";
import { NOON } from "../noon.ts";

const count = fc.nat({ max: 100_000 });
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
/** Times are kept to the second. */
const time = fc.nat({ max: 40_000_000 }).map((seconds) => NOON - seconds * 1_000);
const present = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
const word = fc.constantFrom(
  "active",
  "limited",
  "ReadyForNewScale",
  "unsettled scale",
  "__proto__",
  "",
);
const totals = fc
  .record({
    ups: fc.integer({ min: 1, max: 9 }),
    added: count,
    downs: count,
    removed: count,
    refusedUps: count,
    refusedDowns: count,
  })
  .map((all) => all);
const since = fc
  .record({
    refused: optional(time),
    failing: optional(time),
    unmeasured: optional(time),
    atMax: time,
  })
  .map((times) => present(times));

const row: fc.Arbitrary<SummaryRow> = fc
  .record({
    uid: fc.uuid(),
    state: word,
    heldBy: optional(word),
    reason: word,
    current: optional(count),
    unreadMs: optional(fc.oneof(fc.constant(0), time)),
    desired: optional(count),
    min: optional(count),
    max: optional(count),
    overridden: optional(fc.constant(true as const)),
    switchedOff: optional(fc.constant(true as const)),
    hasBands: optional(fc.constant(true as const)),
    targets: fc.array(fc.constantFrom("62% (310m)/60%", "<unknown>/60%", "ü/1"), { maxLength: 2 }),
    moreTargets: optional(fc.integer({ min: 1, max: 9 })),
    missing: optional(fc.integer({ min: 1, max: 9 })),
    lastScaleMs: optional(time),
    totals: optional(totals),
    since: optional(since),
  })
  .map(
    ({ uid, ...rest }) => present({ key: summaryKeyOf(autoscalerUid(uid)), ...rest }) as SummaryRow,
  );

const head: HeadSummary = {
  atMs: NOON,
  baseEpoch: 7,
  baseMs: NOON - 15_000,
  changedEpoch: 6,
  index: { epoch: 3, hash: "abcdefgh" },
  autoscalers: 100,
  paused: 1,
  overridden: 2,
  specVersion: 4,
  tookMs: 3_200,
  problems: { atMax: { autoscalers: 2, lasting: 1, oldestMs: NOON - LASTING_MS } },
  trouble: { state: "ok", silent: false, holds: [] },
  rows: [],
};

describe("a summary", () => {
  it("in a head says each state that a partition can have", () => {
    const said = TROUBLE_STATES.map((state) =>
      decodeHeadSummary(
        encodeHeadSummary({ ...head, trouble: { state, silent: false, holds: [] } }),
      ),
    );
    expect(said.map((summary) => summary?.trouble.state)).toEqual([...TROUBLE_STATES]);
  });

  it("always says the same after it was stored, whole and in a head", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const body = encodeSummary(rows, NOON);
        expect(body && decodeSummary(body)).toEqual({ atMs: NOON, rows });
        expect(decodeHeadSummary(encodeHeadSummary({ ...head, rows }))).toEqual({ ...head, rows });
      }),
    );
  });

  it("that is damaged, of a later version or absent is none", () => {
    const body = encodeSummary([], NOON) ?? new Uint8Array();
    const later = Buffer.concat([Buffer.of(0x82), body.subarray(1)]);
    expect([
      decodeSummary(body.subarray(0, -2)),
      decodeSummary(later),
      decodeHeadSummary(undefined),
      decodeHeadSummary(Buffer.of(1)),
    ]).toEqual([undefined, undefined, undefined, undefined]);
    expect([decodeIndex(Buffer.of(9, 9)), decodeHeadSummary(body)]).toEqual([undefined, undefined]);
  });

  it("of which a row, a column, a key or a word is cut off is none, and never shows the number of another autoscaler", () => {
    const kept = z.tuple([
      z.number(),
      z.tuple(
        [z.number(), z.array(z.string())],
        z.union([z.number(), z.string(), z.array(z.unknown())]),
      ),
    ]);
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), fc.nat(), (rows, choice) => {
        const body = encodeSummary(rows, NOON) ?? new Uint8Array();
        const [atMs, [size, words, keys, ...columns]] = kept.parse(decompress(body).value);
        const places = columns.flatMap((column, place) => (Array.isArray(column) ? [place] : []));
        const place = places[choice % places.length] ?? 0;
        const column = columns[place] as readonly unknown[];
        const whole = [size, words, keys, ...columns];
        const damaged: readonly unknown[] = [
          [
            ...[size, words, keys],
            ...columns.with(place, column.toSpliced(choice % column.length, 1)),
          ],
          [size, words, keys, ...columns.with(place, [...column, column[0]])],
          [size, words, String(keys).slice(1), ...columns],
          [size, words, String(keys).slice(0, -8), ...columns],
          [size, words.slice(0, -1), keys, ...columns],
          [size + 1, words, keys, ...columns],
        ];
        for (const value of damaged)
          expect(decodeSummary(compress(1, [atMs, value]))).toBeUndefined();
        expect(decodeSummary(compress(2, [atMs, whole]))).toBeUndefined();
        expect(decodeSummary(compress(1, [atMs, whole]))).toEqual({
          atMs: NOON,
          rows,
        });
      }),
    );
  });

  it("of foreign bytes is none", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect([decodeSummary(bytes), decodeHeadSummary(bytes), decodeIndex(bytes)]).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
      }),
    );
  });

  it("of 100 autoscalers with every number random takes at most three write units, and some sixty bytes of a head at rest", () => {
    let seed = 7;
    const random = (most: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % most;
    };
    const rows = Array.from({ length: 100 }, (_, at): SummaryRow => {
      const current = 2 + random(20);
      const ups = random(3_000);
      const downs = random(3_000);
      return {
        key: summaryKeyOf(autoscalerUid(`uid-${at}`)),
        state: random(10) < 7 ? "active" : "limited",
        reason: ["ReadyForNewScale", "WithinTarget", "ScaleDownStabilized"][random(3)] ?? "",
        current,
        desired: current,
        targets: [`${20 + random(80)}% (${100 + random(800)}m)/60%`],
        lastScaleMs: NOON - random(86_400) * 1_000,
        totals: {
          ups,
          added: ups + random(5_000),
          downs,
          removed: downs + random(5_000),
          refusedUps: 0,
          refusedDowns: 0,
        },
      };
    });
    expect(encodeSummary(rows, NOON)?.length).toBeLessThan(3 * 1_024 - 70);
    expect(encodeHeadSummary({ ...head, problems: {} }).length).toBeLessThan(70);
  });

  it("of more autoscalers than an item holds leaves the targets out, and is not written where that is not enough", () => {
    const target = (at: number): string => `${at}${"x".repeat(500)}${(at * 7_919) % 1_000_003}`;
    const rows = Array.from(
      { length: 3_000 },
      (_, at): SummaryRow => ({
        key: summaryKeyOf(autoscalerUid(`uid-${at}`)),
        state: "active",
        reason: "",
        targets: [Array.from({ length: 20 }, (_part, part) => target(at * 20 + part)).join("")],
      }),
    );
    const body = encodeSummary(rows, NOON);
    expect(body && decodeSummary(body)?.rows.every(({ targets }) => targets.length === 0)).toBe(
      true,
    );
  });

  it("counts problems, and those that last", () => {
    const rows = [
      { since: { refused: NOON - LASTING_MS } },
      { since: { refused: NOON - 1, atMax: NOON } },
      {},
    ];
    expect(problemCounts(rows, NOON)).toEqual({
      refused: { autoscalers: 2, lasting: 1, oldestMs: NOON - LASTING_MS },
      atMax: { autoscalers: 1, lasting: 0, oldestMs: NOON },
    });
    expect(ROW_PROBLEM_KINDS).toContain("failing");
  });
});

describe("an index", () => {
  it("always says the same after it was stored, with one hash for one content", () => {
    const common = {
      labels: { app: "web" },
      createdMs: NOON,
      generation: 3,
      kind: "HorizontalPodAutoscaler",
    };
    const target = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    const index = {
      specVersion: 4,
      clusterIncarnation: "uid:2",
      rows: [
        {
          ...common,
          namespace: "shop",
          name: "web",
          uid: "u1",
          target,
          minReplicas: 1,
          maxReplicas: 9,
          owner: "ada",
        },
        {
          ...common,
          namespace: "shop",
          name: "old",
          uid: "u2",
          problem: "no",
          paused: { by: "ada", atMs: NOON, untilMs: NOON },
        },
      ],
    };
    const { body, hash } = encodeIndex(index);
    expect(decodeIndex(body)).toEqual({ ...index, hash });
    expect([
      encodeIndex({ ...index }).hash === hash,
      encodeIndex({ ...index, specVersion: 5 }).hash === hash,
    ]).toEqual([true, false]);
  });
});
