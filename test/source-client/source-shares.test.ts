import { describe, expect, it } from "vitest";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { questionTo } from "../../lib/rules/sources/sources.ts";
import type { RegisteredQuery } from "../../lib/rules/sources/source.ts";
import { overSourceShare, type SourceAsker } from "../../lib/stack/source-client/source-shares.ts";
import { ask, sourceRecord } from "./scene.ts";

const DUE = { dueMs: 1_800_000_000_000, periodMs: 15_000 };

const asker = (
  namespace: string,
  name: string,
  asked: readonly RegisteredQuery[],
  everyMs?: number,
): SourceAsker => ({
  ...{ key: `${namespace}/${name}`, namespace, asked },
  uses: () => asked.map((query) => ({ query, ...(everyMs !== undefined && { everyMs }) })),
});

const asking = (namespace: string, name: string, count: number): SourceAsker =>
  asker(
    namespace,
    name,
    Array.from({ length: count }, (_, at) => ask(`${namespace} ${name} ${at}`)),
  );

const overOf = (
  more: Partial<MetricSourceRecord>,
  askers: readonly SourceAsker[],
  due = DUE,
): readonly string[] => [...overSourceShare(sourceRecord(more), askers, due).keys()];

describe("the share of a namespace of maxMetrics", () => {
  it("is all that the others leave: one namespace may ask everything", () => {
    expect(overOf({ maxMetrics: 100 }, [asking("shop", "web", 100)])).toEqual([]);
  });

  it("holds only the autoscalers of the namespace that asks for more, as many as do not fit", () => {
    const hostile = Array.from({ length: 21 }, (_, at) => asking("hostile", `web-${at}`, 50));
    const others = Array.from({ length: 200 }, (_, at) => asking(`team-${at}`, "web", 1));
    const over = overOf({ maxMetrics: 1_000 }, [...hostile, ...others]);
    expect(over.every((key) => key.startsWith("hostile/"))).toBe(true);
    expect(over).toHaveLength(21 - 800 / 50);
  });

  it("turns with the due time, so that each autoscaler beyond it is asked within a few syncs", () => {
    const askers = Array.from({ length: 10 }, (_, at) => asking("shop", `web-${at}`, 10));
    const held = Array.from(
      { length: 6 },
      (_, at) =>
        new Set(overOf({ maxMetrics: 50 }, askers, { ...DUE, dueMs: DUE.dueMs + at * 15_000 })),
    );
    expect(held.map(({ size }) => size)).toEqual([5, 5, 5, 5, 5, 5]);
    expect(askers.filter(({ key }) => held.every((one) => one.has(key)))).toEqual([]);
  });

  it("counts a question that several ask once, and asks smaller autoscalers after one that does not fit", () => {
    const shared = [ask("all")];
    const askers = ["a", "b", "c"].map((namespace) => asker(namespace, "web", shared));
    expect(overOf({ maxMetrics: 1 }, askers)).toEqual([]);
    const large = [asking("shop", "large", 5), asking("shop", "one", 1), asking("shop", "two", 1)];
    expect(overOf({ maxMetrics: 4 }, large)).toEqual(["shop/large"]);
  });
});

describe("the share of a namespace of the dollars of a month", () => {
  const metricOf = (metric: string): RegisteredQuery => {
    const query = questionTo("cloudwatch", {
      ...{ source: "main", namespace: "AWS/SQS", metric, periodSeconds: 1 },
      ...{ offsetSeconds: 0, stat: "Sum" },
    });
    if (!query) throw new Error("no question");
    return query;
  };
  const metrics = (of: string): readonly RegisteredQuery[] =>
    Array.from({ length: 50 }, (_, at) => metricOf(`${of}-${at}`));
  const hostile = Array.from({ length: 20 }, (_, at) =>
    asker("hostile", `web-${at}`, metrics(`hostile-${at}`)),
  );
  const others = Array.from({ length: 100 }, (_, at) =>
    asker(`team-${at}`, "web", [metricOf(`team-${at}`)], 60_000),
  );

  it("holds the namespace alone that costs more, and says its dollars and its share", () => {
    const over = overSourceShare(
      sourceRecord({ kind: "cloudwatch" }),
      [...hostile, ...others],
      DUE,
    );
    // 5 of its 20 autoscalers cost $438 a month of the $456 that the others leave.
    expect(over.size).toBe(15);
    expect([...over.keys()].every((key) => key.startsWith("hostile/"))).toBe(true);
    expect([...over.values()][0]).toBe(
      'the questions of namespace "hostile" cost $1752.00 a month by list prices, and its share of the $500 of a partition (maxDollars) is $456.20; ask fewer metrics or less often (everySeconds), or let an administrator raise --max-dollars',
    );
  });

  it("stays with the same autoscalers for an hour: what was not asked for a while is due at once", () => {
    const at = (dueMs: number): readonly string[] =>
      overOf({ kind: "cloudwatch" }, hostile, { ...DUE, dueMs });
    expect(at(DUE.dueMs + 15_000)).toEqual(at(DUE.dueMs));
    expect(at(DUE.dueMs + 3_600_000)).not.toEqual(at(DUE.dueMs));
  });

  it("is what the source says, and none where AWS charges nothing", () => {
    expect(overOf({ kind: "cloudwatch", maxDollars: 2_000 }, hostile)).toEqual([]);
    expect(overOf({ kind: "prometheus", maxMetrics: 10_000 }, hostile)).toEqual([]);
  });
});
