import { createHash } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AutoscalerUid,
  autoscalerName,
  autoscalerUid,
  namespace,
} from "../../lib/rules/model/ids.ts";
import {
  journalItem,
  baseOf,
  baseText,
  differenceBody,
  pageOfBody,
  wholeBody,
} from "../../lib/stack/store/history/journal.ts";
import { usesDictionaries, type Zstd, compress } from "../../lib/stack/store/table/compressed.ts";
import { PARTITION } from "./records.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";
import { runs } from "../runs.ts";

/** Text that hardly compresses by itself, as the numbers of many autoscalers do. */
const EVALUATIONS = Array.from(
  { length: 20 },
  (_, at): Evaluation => ({
    uid: autoscalerUid(`uid-${at}`),
    namespace: namespace("shop"),
    name: autoscalerName(`app-${at}`),
    kind: "hold",
    failed: false,
    from: 3,
    because: {
      reason: "DesiredWithinRange",
      message: createHash("sha256").update(String(at)).digest("base64"),
    },
    metrics: [],
    steps: [],
    events: [],
  }),
);

/** The zstd of Node before 24.6: it takes the option and does nothing with it. */
const WITHOUT: Zstd = {
  compress: (text) => zstdCompressSync(text),
  decompress: (body) => zstdDecompressSync(body),
};

describe("usesDictionaries()", () => {
  it("is true for the Node that runs the tests", () => {
    expect(usesDictionaries()).toBe(true);
  });

  it("is false where zstd drops the option without an error", () => {
    expect(usesDictionaries(WITHOUT)).toBe(false);
  });

  it("is false where zstd writes with a dictionary and cannot read with it, or there is no zstd", () => {
    expect(usesDictionaries({ compress: zstdCompressSync, decompress: WITHOUT.decompress })).toBe(
      false,
    );
    expect(
      usesDictionaries({ compress: undefined, decompress: undefined } as unknown as Zstd),
    ).toBe(false);
  });
});

describe("a journal page on a Node without dictionaries", () => {
  const first = { atMs: 60_000, epoch: 1, page: 0, previousMs: 45_000, evaluations: EVALUATIONS };
  const base = { atMs: first.atMs, epoch: first.epoch, body: wholeBody(first) };
  const next = { ...first, atMs: 120_000, epoch: 2 };

  it("is stored whole, also where a base is there, and read back", () => {
    const { body } = journalItem(PARTITION, next, base, false);
    expect(baseOf(body)).toBeUndefined();
    expect(pageOfBody(body)).toEqual(next);
  });

  it("is stored as a difference where there are dictionaries", () => {
    const { body } = journalItem(PARTITION, next, base);
    expect(baseOf(body)).toEqual({ atMs: base.atMs, epoch: base.epoch });
    expect(pageOfBody(body, baseText(base.body))).toEqual(next);
  });
});

describe("one evaluation of a journal page", () => {
  const uids = ["uid-1", "uid-2", 'uid-"3"', "uid-4\\"].map(autoscalerUid);
  const hostile = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(
      '{"uid":"uid-1",',
      '"evaluations":[{"uid":"uid-2",',
      "\\",
      '\\"}',
      '"}]}',
      "{{{",
      "}}}",
      '\\\\"',
    ),
  );
  const evaluation = (uid: AutoscalerUid): fc.Arbitrary<Evaluation> =>
    fc
      .record({ reason: hostile, message: hostile, detail: hostile })
      .map(({ reason, message, detail }) => ({
        uid,
        namespace: namespace("shop"),
        name: autoscalerName("web"),
        kind: "hold",
        failed: false,
        because: { reason, message },
        metrics: [],
        steps: [],
        events: [{ type: "Normal", reason: detail, message }],
        rivals: [{ kind: detail, name: message, uid: "uid-1" }],
      }));
  const page = fc
    .tuple(
      fc.subarray(uids).chain((some) => fc.tuple(...some.map(evaluation))),
      fc.boolean(),
    )
    .map(([evaluations, partial]) => ({
      atMs: 60_000,
      epoch: 1,
      page: 0,
      previousMs: 45_000,
      ...(partial && { partial: true as const }),
      evaluations,
    }));

  it("is always the one that the whole page has, whatever its texts say, also of a difference", () => {
    fc.assert(
      fc.property(page, page, fc.constantFrom(...uids), (first, second, uid) => {
        const base = { atMs: first.atMs, epoch: first.epoch, body: wholeBody(first) };
        const only = (whole: typeof first) => ({
          ...whole,
          evaluations: whole.evaluations.filter((one) => one.uid === uid),
        });
        expect(pageOfBody(base.body, undefined, uid)).toEqual(only(first));
        expect(pageOfBody(differenceBody(second, base), baseText(base.body), uid)).toEqual(
          only(second),
        );
      }),
      runs(50),
    );
  });

  it("is nothing of a page that is damaged", () => {
    const body = wholeBody({ atMs: 1, epoch: 1, page: 0, previousMs: 0, evaluations: [] });
    expect(
      pageOfBody(body.subarray(0, body.length - 3), undefined, autoscalerUid("uid-1")),
    ).toBeUndefined();
    expect(pageOfBody(compress(1, "text"), undefined, autoscalerUid("uid-1"))).toBeUndefined();
  });
});
