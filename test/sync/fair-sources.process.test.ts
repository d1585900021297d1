import { describe, expect, it } from "vitest";
import { othersOf, type PlayedSources, playSources, tenantOf } from "../attacks/sources.ts";

/** Whole syncs over a real HTTPS API server and real HTTP servers that are as slow as they say. */
const OTHERS = othersOf(200, 10);
const SOFT_MS = 5_000;

const played = (tenant: Parameters<typeof playSources>[0]["tenant"] = []): Promise<PlayedSources> =>
  playSources({ others: OTHERS, tenant, softDeadlineMs: SOFT_MS });

describe("beside a tenant that asks metric sources, the others", () => {
  it.each([
    ["50 questions of 1 s", tenantOf(1, { queries: 50, tookMs: 1_000 })],
    ["21 autoscalers of 50 questions each", tenantOf(21, { queries: 50, tookMs: 1 })],
    [
      "four slow sources",
      [0, 1, 2, 3].flatMap((at) =>
        tenantOf(1, { queries: 50, tookMs: 1_000, source: `slow-${at}` }).map((one) => ({
          ...one,
          name: `web-${at}`,
        })),
      ),
    ],
  ])(
    "are all asked and scaled in the same sync, and decided byte for byte as without it: %s",
    async (_name, tenant) => {
      const [alone, beside] = [await played(), await played(tenant)];
      expect(beside.scaled.size).toBe(OTHERS.length);
      expect(beside.decisions).toEqual(alone.decisions);
    },
    60_000,
  );

  it("are not over their share: only the tenant holds, named with its share, and its autoscalers take turns", async () => {
    const tenant = tenantOf(21, { queries: 50, tookMs: 1 });
    const { reports } = await playSources({ others: OTHERS, tenant, softDeadlineMs: SOFT_MS });
    const over = reports[0]?.overShare ?? [];
    expect(new Set(over.map(({ namespace }) => namespace))).toEqual(new Set(["hostile"]));
    expect(over).toHaveLength(5);
    expect(over[0]?.message).toMatch(
      /^Cannot ask source "main" in this sync: namespace "hostile" has 1050 different questions, and its share of the 1000 of a sync \(maxMetrics\) is 800; ask fewer /,
    );
  });
});

describe("autoscalers whose source is too slow for all their questions", () => {
  it.each([
    ["one environment", false],
    ["cold environments", true],
  ])(
    "are all asked within a few syncs, by their due time: %s",
    async (_name, isCold) => {
      const others = Array.from({ length: 40 }, (_, at) => ({
        ...{ namespace: "shop", name: `web-${at}`, source: "main" },
        queries: Array.from({ length: 10 }, (_query, query) => `t75_other_${at}_${query}`),
      }));
      const { scaled, asked } = await playSources({
        ...{ others, isCold, syncs: 12, softDeadlineMs: 1_500 },
      });
      expect({ asked: asked.size, scaled: scaled.size }).toEqual({ asked: 40, scaled: 40 });
    },
    60_000,
  );
});
