import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterName, namespace, partitionName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { dueTimes } from "../../lib/stack/plan/due-times.ts";
import {
  partitionsOfWake,
  PLANNED_SOON_MS,
  planWake,
  WAKES_APART_MS,
  type WokenPartition,
} from "../../lib/stack/plan/wake.ts";
import { NOON } from "../noon.ts";
import { runs } from "../runs.ts";

const PERIOD_MS = 15_000;
const cluster = {
  name: clusterName("eu-1"),
  partitions: [{ name: WHOLE_CLUSTER }],
  syncPeriodMs: PERIOD_MS,
};
const HOUR_MS = 3_600_000;
const planned = dueTimes(cluster.name, WHOLE_CLUSTER, PERIOD_MS, {
  fromMs: NOON,
  untilMs: NOON + HOUR_MS,
});
const [firstMs = 0, secondMs = 0] = planned;
const at = (nowMs: number, lastMs?: number) => planWake(cluster, WHOLE_CLUSTER, { nowMs, lastMs });
const served = (kind: string, dueMs: number) => ({ kind, partition: WHOLE_CLUSTER, dueMs });

describe("planWake()", () => {
  it("sends a sync at once where no other is near", () => {
    expect(at(firstMs + 3_000)).toEqual(served("sync", firstMs + 3_000));
  });

  it.each([
    [PLANNED_SOON_MS + 1, "sync", 0],
    [PLANNED_SOON_MS, "planned", PLANNED_SOON_MS],
    [1, "planned", 1],
  ])("of a wake %i ms before a planned sync makes: %s", (before, kind, later) => {
    expect(at(secondMs - before)).toEqual(served(kind, secondMs - before + later));
  });

  it("sends a sync after a planned one of the same instant, because that one may have read the cluster", () => {
    expect(at(firstMs)).toEqual(served("sync", firstMs + 1));
  });

  it("joins an extra sync that is ahead", () => {
    expect(at(firstMs + 4_000, firstMs + 7_000)).toEqual(served("joins", firstMs + 7_000));
  });

  it("sends the next extra sync five seconds after the one before", () => {
    expect(at(firstMs + 4_000, firstMs + 3_000)).toEqual(
      served("sync", firstMs + 3_000 + WAKES_APART_MS),
    );
    expect(at(firstMs + 4_000, firstMs + 4_000)).toEqual(
      served("sync", firstMs + 4_000 + WAKES_APART_MS),
    );
  });

  it("leaves the work to a planned sync that is due soon after the next extra sync might be", () => {
    expect(at(firstMs + 9_500, firstMs + 9_000)).toEqual(served("planned", secondMs));
  });

  it("does not believe a mark of a wrong clock, which no wake would ever reach", () => {
    expect(at(firstMs + 3_000, firstMs + HOUR_MS)).toEqual(served("sync", firstMs + 3_000));
  });

  it("always serves a wake by a sync that begins after it, and never sends two extra syncs within five seconds", () => {
    const gaps = fc.array(fc.nat({ max: 9_000 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(gaps, (all) => {
        let nowMs = NOON;
        let lastMs: number | undefined;
        for (const gapMs of all) {
          nowMs += gapMs;
          const plan = at(nowMs, lastMs);
          mustServe(plan, nowMs);
          if (plan.kind !== "sync") continue;
          mustBeApart(plan, lastMs);
          lastMs = plan.dueMs;
        }
      }),
      runs(300),
    );
  });
});

const mustServe = ({ kind, dueMs }: WokenPartition, nowMs: number): void => {
  expect(dueMs).toBeGreaterThanOrEqual(kind === "sync" ? nowMs : nowMs + 1);
  expect(dueMs - nowMs).toBeLessThanOrEqual(WAKES_APART_MS + PLANNED_SOON_MS);
};

const mustBeApart = ({ dueMs }: WokenPartition, lastMs = 0): void => {
  expect(dueMs - lastMs).toBeGreaterThanOrEqual(WAKES_APART_MS);
  const next = planned.find((plannedMs) => plannedMs >= dueMs) ?? Number.POSITIVE_INFINITY;
  expect(next - dueMs).toBeGreaterThan(PLANNED_SOON_MS);
};

describe("partitionsOfWake()", () => {
  const [shop, rest] = [partitionName("shop"), partitionName("rest")];
  const divided = {
    ...cluster,
    partitions: [{ name: shop, namespaces: [namespace("shop")] }, { name: rest }],
  };

  it("names the partition of the namespace, and all partitions without one", () => {
    expect(partitionsOfWake(divided, { namespace: namespace("shop") })).toEqual([shop]);
    expect(partitionsOfWake(divided, { namespace: namespace("other") })).toEqual([rest]);
    expect(partitionsOfWake(divided, {})).toEqual([shop, rest]);
  });

  it("names none where no partition has the namespace", () => {
    const listed = { ...divided, partitions: divided.partitions.slice(0, 1) };
    expect(partitionsOfWake(listed, { namespace: namespace("other") })).toEqual([]);
  });
});
