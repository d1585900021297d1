import { createHash } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/model/ids.ts";
import type { Evaluation } from "../../lib/model/records.ts";
import { journalItem } from "../../lib/store/history/journal.ts";
import { baseOf, pageOfBody, wholeBody } from "../../lib/store/history/journal-codec.ts";
import { usesDictionaries, type Zstd } from "../../lib/store/history/zstd-dictionary.ts";
import { PARTITION } from "./records.ts";

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
    because: { reason: "DesiredWithinRange", message: createHash("sha256").update(String(at)).digest("base64") },
    metrics: [],
    steps: [],
    events: [],
  }),
);

/** The zstd of Node before 24.6: it takes the option and does nothing with it. */
const WITHOUT: Zstd = { compress: (text) => zstdCompressSync(text), decompress: (body) => zstdDecompressSync(body) };

describe("usesDictionaries()", () => {
  it("is true for the Node that runs the tests", () => {
    expect(usesDictionaries()).toBe(true);
  });

  it("is false where zstd drops the option without an error", () => {
    expect(usesDictionaries(WITHOUT)).toBe(false);
  });

  it("is false where zstd writes with a dictionary and cannot read with it, or there is no zstd", () => {
    expect(usesDictionaries({ compress: zstdCompressSync, decompress: WITHOUT.decompress })).toBe(false);
    expect(usesDictionaries({ compress: undefined, decompress: undefined } as unknown as Zstd)).toBe(false);
  });
});

describe("a journal page on a Node without dictionaries", () => {
  const first = { atMs: 60_000, epoch: 1, page: 0, evaluations: EVALUATIONS };
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
    expect(pageOfBody(body, base.body)).toEqual(next);
  });
});
