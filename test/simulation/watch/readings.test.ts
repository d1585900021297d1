import { describe, expect, it } from "vitest";
import type { ScaleReading } from "../../../lib/rules/model/observation.ts";
import { SPEC_KINDS, type SpecKind } from "../../../lib/rules/model/spec.ts";
import type { Invocation } from "../invocation.ts";
import { listNow } from "../objects/list-objects.ts";
import { newWorld, SHOP, WEB } from "../sockets/socket-world.ts";
import { newLedger } from "./ledger.ts";
import { watchListings, watchReading } from "./readings.ts";

const BY = { name: "sync-1" } as Invocation;
const OF = { namespace: SHOP, target: WEB };
const GONE: ScaleReading = {
  kind: "failed",
  failure: { code: 404, reason: "NotFound", message: "not found" },
};
const REQUEST = {
  kinds: SPEC_KINDS.slice(0, 1),
  namespaces: "all",
  knownVersion: () => undefined,
  budgetMs: 1,
} as const;

/**
 * A world, and what is told of a reading of its workload, or of its objects, that was asked for at
 * an instant.
 */
const watchedWorld = () => {
  const { site, scheduler } = newWorld();
  const nowMs = scheduler.nowMs;
  const told = (watch: (ledger: ReturnType<typeof newLedger>) => void): string | undefined => {
    const ledger = newLedger(() => undefined, nowMs);
    watch(ledger);
    return ledger.violation?.message;
  };
  return {
    site,
    nowMs,
    pass: (ms: number) => scheduler.run(nowMs() + ms, () => false),
    scale: (reading: ScaleReading, sinceMs: number) =>
      told((ledger) => watchReading(ledger, { by: BY, site, sinceMs }, OF, reading)),
    objects: (askedMs: number, staleMs: number) => {
      const { listings } = listNow(site.objects, REQUEST, askedMs, { failing: new Set(), staleMs });
      return told((ledger) => watchListings(ledger, { by: BY, site, sinceMs: nowMs() }, listings));
    },
  };
};

describe("what a sync reads", () => {
  it("is a scale that the workload had during the call, and no older one", async () => {
    const { site, nowMs, pass, scale } = watchedWorld();
    const before = site.read("shop", WEB);
    await pass(1_000);
    const put = {
      namespace: SHOP,
      target: WEB,
      targetUid: "uid-web",
      resourceVersion: "100",
      replicas: 5,
    };
    site.put(put, () => undefined);
    expect(scale(before, nowMs() - 1)).toBeUndefined();
    await pass(1_000);
    expect(scale(site.read("shop", WEB), nowMs())).toBeUndefined();
    expect(scale(before, nowMs() - 1)).toContain("3 replicas in version 100, and it never was so");
  });

  it("is gone only where the workload was", () => {
    const { site, nowMs, scale } = watchedWorld();
    expect(scale(GONE, nowMs())).toContain("it was there");
    for (const workload of site.workloads.values()) {
      workload.gone = true;
      site.changed(workload);
    }
    expect(scale(GONE, nowMs())).toBeUndefined();
  });

  it("is everything of a kind at one instant, which may be 40 s ago", async () => {
    const { site, nowMs, pass, objects } = watchedWorld();
    const { kind } = SPEC_KINDS[0] as SpecKind;
    site.objects.apply({ kind, metadata: { name: "web", namespace: "shop" }, spec: {} });
    await pass(1_000);
    expect(objects(nowMs(), 0)).toBeUndefined();
    expect(objects(nowMs(), 10_000)).toBeUndefined();
    await pass(60_000);
    expect(objects(nowMs(), 0)).toBeUndefined();
    expect(objects(nowMs() - 60_500, 10_000)).toContain("they never were so");
  });
});
