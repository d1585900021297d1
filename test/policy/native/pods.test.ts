import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Pod } from "../../../lib/rules/model/observation.ts";
import type { MetricOutcome } from "../../../lib/rules/model/decision.ts";
import { metricsInDetail } from "../../../lib/rules/policy/decide.ts";
import { answersOf } from "../../answers.ts";
import { NOON } from "../../noon.ts";
import { podUsage, readyPod } from "../../observation.ts";
import { runs } from "../../runs.ts";
import { native, sync } from "./world.ts";

interface Beside extends Partial<Pod> {
  /** Thousandths of a core, or of a byte; absent for a pod without a sample. */
  readonly uses?: bigint;
  readonly ageSeconds?: number;
}

let next = 0;
/** So many pods of the target, each of which requests 100 of CPU and memory. */
const pods = (count: number, { uses, ageSeconds = 10, ...more }: Beside = {}) =>
  Array.from({ length: count }, () => {
    const pod = readyPod(`web-${next++}`, 100n, more);
    return { pod, uses, ageSeconds };
  });
type Listed = ReturnType<typeof pods>;

const revision = (hash: string): Partial<Pod> => ({
  owners: [{ kind: "ReplicaSet", name: `web-${hash}` }],
  labels: { app: "web", "pod-template-hash": hash },
});
const FOREIGN: Partial<Pod> = { owners: [{ kind: "ReplicaSet", name: "api-1" }] };
const UNREADY: Partial<Pod> = {
  ready: { status: "False", transitionMs: 0 },
  startMs: NOON - 5_000,
};

const specOf = (
  rule: "owned" | "stable" | "asHpa",
  { resource = "cpu", target = 50, ...more }: Readonly<Record<string, unknown>> = {},
) =>
  native({ pods: rule, metrics: [{ name: "use", resource: { name: resource }, target, ...more }] });

const synced = (
  replicas: number,
  listed: Listed,
  spec = specOf("owned"),
  gone: Listed = [],
  resource = "cpu",
) =>
  sync(spec, {
    replicas,
    pods: listed.map(({ pod }) => pod),
    observed: {
      answers: answersOf({
        resource: {
          kind: "answered",
          items: labelIndex(
            [...listed, ...gone].flatMap(({ pod: { name }, uses, ageSeconds }) =>
              uses === undefined
                ? []
                : [podUsage(name, { [resource]: uses }, { timestampMs: NOON - ageSeconds * 1000 })],
            ),
          ),
        },
      }),
    },
  });

const count = (...of: Parameters<typeof synced>): number => synced(...of).count;

const detail = (...of: Parameters<typeof synced>): MetricOutcome | undefined => {
  const { decision, input } = synced(...of);
  return metricsInDetail(decision, input)[0];
};

describe("which pods count by the native rules", () => {
  describe("those that have not ended", () => {
    const finished = pods(6, { phase: "Succeeded" });
    it.each([
      [75n, 6],
      [20n, 2],
    ])("4 pods at %s of 50 % with 6 that ended go to %i", (uses, to) => {
      const listed = [...pods(4, { uses }), ...finished];
      expect(count(4, listed)).toBe(to);
      expect(count(4, listed, specOf("asHpa"))).toBe(4);
    });
  });

  describe("those that the target owns", () => {
    const own = pods(2, { uses: 20n });
    const all = [...own, ...pods(4, { ...FOREIGN, uses: 90n })];
    it("2 at 20 % beside 4 of another workload at 90 % go to 1, and as the HPA counts to 8", () => {
      expect(count(2, all)).toBe(1);
      expect(count(2, all, specOf("asHpa"))).toBe(8);
    });
    it("says how many of the pods belong to it", () => {
      expect(detail(2, all)).toMatchObject({
        value: "20%",
        pods: { matched: 6, owned: 2, counted: 2 },
      });
    });
    it("a ReplicaSet that a person made beside it is another workload", () => {
      const made = { ...FOREIGN, owners: [{ kind: "ReplicaSet", name: "web-canary" }] };
      const labels = { app: "web", "pod-template-hash": "1" };
      const mine = own.map((one) => ({ ...one, pod: { ...one.pod, labels } }));
      const theirs = pods(4, { ...made, labels, uses: 90n });
      expect(count(2, [...mine, ...theirs])).toBe(1);
    });
    it("never shrinks where none of them is its own", () => {
      const { decision } = synced(2, pods(4, { ...FOREIGN, uses: 1n }));
      expect(decision.because.message).toContain(
        "no pod that the selector matches belongs to the target and still runs",
      );
      expect(decision).toMatchObject({ kind: "hold", failed: true });
    });
    it.each([
      ["StatefulSet", { kind: "StatefulSet", name: "web" }, 1],
      ["StatefulSet", { kind: "StatefulSet", name: "api" }, 2],
      ["Rollout", { kind: "Rollout", name: "web" }, 1],
      // Who owns the pods of an unknown kind cannot be said: all that match count.
      ["Fleet", { kind: "Anything", name: "x" }, 1],
    ])("of a %s with pods of %o", (kind, owner, to) => {
      const scaleTargetRef = { apiVersion: "apps/v1", kind, name: "web" };
      const spec = native({
        scaleTargetRef,
        metrics: [{ name: "use", resource: { name: "cpu" }, target: 50 }],
      });
      expect(count(2, pods(2, { owners: [owner], uses: 20n }), spec)).toBe(to);
    });
  });

  describe("those whose sample is not too old", () => {
    it("holds 12 pods on samples of 3 hours ago, and says their age", () => {
      const old = pods(12, { uses: 5n, ageSeconds: 3 * 3600 });
      const { decision } = synced(12, old);
      expect(decision).toMatchObject({ kind: "hold", failed: true });
      expect(decision.because).toEqual({
        reason: "MetricMissing",
        message:
          "use is missing: failed to get cpu utilization: the youngest sample of its pods is 10800 s old, and maxAgeSeconds is 180",
      });
      expect(decision.metrics[0]).toMatchObject({ kind: "failed", reason: "Stale" });
      expect(count(12, old, specOf("asHpa"))).toBe(2);
    });
    it.each([
      [179, 2],
      [180, 2],
      [181, 12],
    ])("a sample of %i s ago", (ageSeconds, to) => {
      expect(count(12, pods(12, { uses: 5n, ageSeconds }))).toBe(to);
    });
    it("follows maxAgeSeconds of the manifest, also where pods count as the HPA counts them", () => {
      const old = pods(12, { uses: 5n, ageSeconds: 31 });
      expect(count(12, old, specOf("owned", { maxAgeSeconds: 30 }))).toBe(12);
      expect(count(12, old, specOf("asHpa", { maxAgeSeconds: 30 }))).toBe(12);
      expect(count(12, old, specOf("owned", { maxAgeSeconds: 31 }))).toBe(2);
    });
    it("takes a pod with an old sample for one without, which uses all that it requests", () => {
      const listed = [...pods(2, { uses: 20n }), ...pods(2, { uses: 20n, ageSeconds: 600 })];
      expect(count(4, listed)).toBe(4);
      expect(detail(4, listed)).toMatchObject({ pods: { counted: 2, missing: 2, stale: 2 } });
    });
  });

  it("those that are there: the samples of pods that are gone do not count", () => {
    const gone = pods(4, { uses: 100n });
    const average = { measure: "Average", target: "0.05" };
    expect(count(4, pods(4, { uses: 50n }), specOf("owned", average), gone)).toBe(4);
    expect(count(4, pods(4, { uses: 50n }), specOf("asHpa", average), gone)).toBe(6);
  });
});

describe("during a rollout", () => {
  const memory = (rule: "owned" | "stable" | "asHpa") =>
    specOf(rule, { resource: "memory", target: 60 });
  const [old, young] = [revision("1"), revision("2")];

  it("the pods of the surge raise no count: 70 % of 60 % on 10 pods and 3 more asks for 12", () => {
    const listed = [...pods(10, { ...old, uses: 70n }), ...pods(3, { ...young, uses: 70n })];
    expect(count(10, listed, memory("owned"), [], "memory")).toBe(12);
    expect(count(10, listed, memory("asHpa"), [], "memory")).toBe(16);
    expect(detail(10, listed, memory("owned"), [], "memory")).toMatchObject({
      pods: { matched: 13, otherRevision: 3 },
    });
  });
  it("pods of the surge that start do not weaken the way up", () => {
    const listed = [...pods(10, { ...old, uses: 90n }), ...pods(3, { ...young, ...UNREADY })];
    expect(count(10, listed, specOf("owned", { target: 60 }))).toBe(15);
  });
  it("pods that start for a count that was asked for weaken it, as ever", () => {
    const listed = [...pods(7, { uses: 100n }), ...pods(3, { ...UNREADY, uses: 0n })];
    expect(count(10, listed, specOf("owned", { target: 60 }))).toBe(12);
  });
  it("load that is spread over the surge takes no pods away", () => {
    // 10 pods at 60 % are 13 at 46 %, and would be 10 at 60 % again afterwards.
    const listed = [...pods(10, { ...old, uses: 46n }), ...pods(3, { ...young, uses: 46n })];
    expect(count(10, listed, specOf("owned", { target: 60 }))).toBe(10);
  });

  describe("a canary", () => {
    const listed = [...pods(9, { ...old, uses: 50n }), ...pods(1, { ...young, uses: 300n })];
    it("is one pod of all with owned: 9 at 50 % and 1 at 300 % of 50 % are 15", () => {
      expect(count(10, listed, specOf("owned"))).toBe(15);
    });
    it("has no say with stable, and its place is kept", () => {
      expect(count(10, listed, specOf("stable"))).toBe(10);
      const low = [...pods(9, { ...old, uses: 25n }), ...pods(1, { ...young, uses: 300n })];
      expect(count(10, low, specOf("stable"))).toBe(5);
    });
    it("a metric of the whole is shared by it too", () => {
      const spec = native({
        pods: "stable",
        metrics: [{ external: { metric: "load" }, measure: "Total", target: 10 }],
      });
      const { count: to } = sync(spec, {
        replicas: 10,
        values: { load: 20 },
        pods: listed.map(({ pod }) => pod),
      });
      expect(to).toBe(20);
    });
  });

  it("never asks for more above the target, and never for fewer below it, than without the surge", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 20 }),
        fc.bigInt({ min: 1n, max: 200n }),
        fc.boolean(),
        (own, surge, uses, starting) => {
          const more = starting ? { ...young, ...UNREADY } : { ...young, uses };
          const before = pods(own, { ...old, uses });
          const without = count(own, before);
          const during = count(own, [...before, ...pods(surge, more)]);
          if (uses > 50n) expect(during).toBeLessThanOrEqual(without);
          else expect(during).toBeGreaterThanOrEqual(without);
        },
      ),
      runs(300),
    );
  });
});
