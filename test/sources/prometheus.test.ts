import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PROMETHEUS } from "../../lib/rules/sources/prometheus.ts";
import type { ForeignAnswer } from "../../lib/rules/sources/source.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { native, sync } from "../policy/native/world.ts";
import { runs } from "../runs.ts";

const AT = 1_795_000_000.123;

const read = (body: unknown, status = 200, source: { readonly partialAnswers?: boolean } = {}) => {
  if (PROMETHEUS.asking.way !== "registered" || PROMETHEUS.asking.batch)
    throw new Error("a Prometheus is registered");
  return PROMETHEUS.asking.read(
    { status, bytes: 100, body },
    { for: "prometheus", source: "main", query: "up" },
    source,
  );
};
const success = (resultType: string, result: unknown) => ({
  status: "success",
  data: { resultType, result },
});
const series = (...values: readonly string[]) =>
  success(
    "vector",
    values.map((value, at) => ({ metric: { pod: `p-${at}` }, value: [AT, value] })),
  );

/** What Prometheus 2.42 answers to each kind of query (GET /api/v1/query). */
describe("the answer of a Prometheus", () => {
  it.each([
    ["1", 1_000n],
    ["0.30000000000000004", 300n],
    ["300.00000000000006", 300_000n],
    ["0.0005", 1n],
    ["0.0004", 1n],
    ["-0.0004", -1n],
    ["1.0004", 1_000n],
    ["1.0006", 1_001n],
    ["-0.0001", -1n],
    ["1e-07", 1n],
    ["100000000000000000000", undefined],
    ["1e+06", 1_000_000_000n],
    ["0", 0n],
  ])(
    "with one series of %s is a value in thousandths, the nearest one, and never 0 for another value",
    (text, milli) => {
      expect(read(series(text))).toMatchObject(
        milli === undefined
          ? { kind: "failed" }
          : { kind: "answered", items: [{ milli, timestampMs: 1_795_000_000_123 }] },
      );
    },
  );

  it("with a number and no series is a value", () => {
    expect(read(success("scalar", [AT, "42"]))).toMatchObject({
      kind: "answered",
      items: [{ milli: 42_000n }],
    });
  });

  it("with warnings is a value only of a source that takes partial answers", () => {
    const partial = { ...series("1"), warnings: ["fetch series for {}: no store matched"] };
    expect(read(partial)).toMatchObject({ kind: "failed", failure: { reason: "PartialAnswer" } });
    expect(read(partial, 200, { partialAnswers: false })).toMatchObject({ kind: "failed" });
    expect(read(partial, 200, { partialAnswers: true })).toMatchObject({
      kind: "answered",
      items: [{ milli: 1_000n }],
    });
  });

  it("without a series has no value", () => {
    expect(read(success("vector", []))).toEqual({ kind: "answered", items: [] });
  });

  it.each([
    ["two series", series("1", "2"), 200, "SeveralSeries", "the query gives 2 series"],
    ["NaN", series("NaN"), 200, "NotANumber", "the value is NaN"],
    ["+Inf", series("+Inf"), 200, "NotANumber", "the value is +Inf"],
    ["an empty text", series(""), 200, "InvalidAnswer", "cannot be read"],
    [
      "a range",
      success("matrix", [{ metric: {}, values: [[AT, "1"]] }]),
      200,
      "WrongResult",
      "neither one series nor a number",
    ],
    ["a text", success("string", [AT, "1"]), 200, "WrongResult", "neither one series nor a number"],
    [
      "warnings of Thanos",
      { ...series("1"), warnings: ["no store"] },
      200,
      "PartialAnswer",
      "has warnings",
    ],
    [
      "a parse error",
      { status: "error", errorType: "bad_data", error: "1:3: parse error: unexpected end" },
      400,
      "QueryRefused",
      "bad_data: 1:3: parse error",
    ],
    ["success with another status", series("1"), 500, "InvalidAnswer", "not one of a Prometheus"],
    ["a page of a proxy", undefined, 502, "InvalidAnswer", "(status 502, 100 bytes)"],
    ["a redirect", undefined, 302, "InvalidAnswer", "status 302"],
    ["a list", [1], 200, "InvalidAnswer", "not one of a Prometheus"],
  ])("with %s has no value", (_what, body, status, reason, words) => {
    expect(read(body, status)).toMatchObject({
      kind: "failed",
      failure: { code: status, reason, message: expect.stringContaining(words) },
    });
  });

  it("quotes at most 200 characters of an error, without what is not printable", () => {
    const answer = read(
      { status: "error", errorType: "execution", error: `\u001b[31m${"x".repeat(10_000)}` },
      422,
    );
    const { message } = answer.kind === "failed" ? answer.failure : { message: "" };
    expect(message.length).toBeLessThan(300);
    expect(message).not.toContain("\u001b");
  });

  it("is never a value and a failure at once, whatever it holds: nothing is thrown, and nothing but a finite number is a value", () => {
    const part = fc.anything({
      maxDepth: 3,
      values: [fc.constant("NaN"), fc.constant("vector"), fc.double(), fc.string()],
    });
    const answers: fc.Arbitrary<unknown> = fc.oneof(
      fc.anything({ maxDepth: 4 }),
      fc.record({
        status: fc.constantFrom("success", "error"),
        data: fc.record({
          resultType: fc.constantFrom("vector", "scalar", "matrix"),
          result: part,
        }),
      }),
      fc.array(fc.tuple(fc.double(), fc.string()), { maxLength: 2 }).map((pairs) =>
        success(
          "vector",
          pairs.map((value) => ({ value })),
        ),
      ),
    );
    fc.assert(
      fc.property(answers, fc.constantFrom(200, 200, 204, 400, 500), (body, status) => {
        const answer = read(body, status);
        if (answer.kind === "answered") {
          expect(answer.items.length).toBeLessThanOrEqual(1);
          for (const { milli } of answer.items) expect(Number.isFinite(Number(milli))).toBe(true);
        }
      }),
      runs(200),
    );
  });
});

describe("a metric of a Prometheus", () => {
  const QUERY = 'sum(rate(http_requests_total{app="web"}[2m]))';
  const spec = (more: object = {}) =>
    native({
      metrics: [
        { prometheus: { source: "main", query: QUERY, ...more }, measure: "Total", target: 10 },
      ],
    });
  const key = queryKey({ for: "prometheus", source: "main", query: QUERY } as {
    readonly for: string;
  });
  const decided = (answer: ForeignAnswer["body"] | undefined, more: object = {}) =>
    sync(spec(more), {
      replicas: 4,
      observed: { answers: new Map(answer === undefined ? [] : [[key, read(answer)]]) },
      unstored: true,
    });

  it("is decided as an external metric is", () => {
    expect(decided(series("20")).count).toBe(8);
  });

  it("is shown as an input of a formula with its value, or why it is missing, and the age of its sample", () => {
    const metrics = [
      {
        name: "requests",
        prometheus: { source: "main", query: QUERY },
        everySeconds: 120,
        input: true,
      },
      { name: "load", formula: { expression: "(requests ?? 5) + absent ?? 1" }, target: 10 },
      { name: "absent", prometheus: { source: "main", query: "absent" }, input: true },
    ];
    const answers = new Map([[key, read(series("20"))]]);
    const first = sync(native({ metrics }), { replicas: 4, observed: { answers }, unstored: true });
    expect(first.decision.metrics).toMatchObject([
      {
        name: "load",
        value: "21",
        inputs: [
          { name: "requests", value: "20", ageSeconds: 0 },
          {
            name: "absent",
            message:
              'unable to get the value of a query from source "main": the metric was not asked for in this sync',
          },
        ],
      },
    ]);
  });

  it("without a series holds and says what to write", () => {
    const { count, decision } = decided(success("vector", []));
    expect(count).toBe(4);
    expect(decision).toMatchObject({ kind: "hold", failed: true });
    expect(JSON.stringify(decision.events)).toContain("whenEmpty");
  });

  it("without a series is what whenEmpty says", () => {
    expect(decided(success("vector", []), { whenEmpty: 5 }).count).toBe(2);
  });

  it("that fails keeps the count also where whenEmpty is 0: a failure is not an empty answer", () => {
    expect(
      decided({ status: "error", errorType: "timeout", error: "query timed out" }, { whenEmpty: 0 })
        .count,
    ).toBe(4);
  });

  it("with a query that is too long is refused at its field", () => {
    expect(() => spec({ query: "x".repeat(4_097) })).toThrow(
      /query must have at most 4096 characters, and has 4097/,
    );
    // Characters, and not their code units.
    expect(() => spec({ query: "𝔵".repeat(4_096) })).not.toThrow(/characters/);
    expect(() => spec({ query: "𝔵".repeat(4_097) })).toThrow(
      /query must have at most 4096 characters, and has 4097/,
    );
  });
});
