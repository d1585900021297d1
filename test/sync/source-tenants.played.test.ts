import { beforeAll, describe, expect, it } from "vitest";
import { type Asker, askerManifest, othersOf, tenantOf } from "../attacks/sources.ts";
import { workload } from "../cluster/stand-in/kubernetes.ts";
import { type Manifest, TENANT } from "./tenants-attacks.ts";
import { type Machine, type Playing, playVirtual, type VirtualSync } from "./tenants-virtual.ts";

const ASKERS = othersOf(Number(process.env["TENANTS_OTHERS"] ?? 199), 10);
const ALL_OTHERS = 999;
/** Compared with the time of 999, as in tenants.played.test.ts. */
const LATER_SHARE = (0.1 * ALL_OTHERS) / ASKERS.length;

const MACHINES: readonly (readonly [string, Machine])[] = [
  ["a link of 100 MB/s and a whole processor", { bytesPerSecond: 100e6, cpu: 1 }],
  ["a link of 4 MB/s and 0.29 of a processor", { bytesPerSecond: 4e6, cpu: 0.29 }],
];

const manifestOf = (asker: Asker): Manifest => ({
  ...{ namespace: asker.namespace, name: asker.name, metrics: [] },
  text: askerManifest(asker),
});

/** The others beside a tenant. */
const played = (
  playing: Playing,
  tenant: readonly Asker[] = [],
  others: readonly Asker[] = ASKERS,
): Promise<readonly VirtualSync[]> => {
  const own = tenant.map((asker) => ({ ...asker, namespace: TENANT }));
  const sources = [...new Set([...others, ...own].map(({ source }) => source))];
  const attack = {
    name: "questions",
    make: ({ collections }: { readonly collections: Map<string, object[]> }) => {
      const deployments = [...others, ...own].map(({ namespace, name }) =>
        workload(namespace, name, 1),
      );
      collections.set("/apis/apps/v1/deployments", deployments);
      return own.map(manifestOf);
    },
  };
  const scene = { others: others.map(manifestOf), attack: attack as never, sources };
  return playVirtual(scene, playing);
};

describe.each(MACHINES)("the others that ask a metric source, with %s", (_name, machine) => {
  let alone: readonly VirtualSync[];
  beforeAll(async () => {
    alone = await played({ machine, syncs: 2 });
  });

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
    "are all asked and scaled in every sync, the last a tenth later at most, and decided byte for byte as without it: beside %s",
    async (_tenant, tenant) => {
      const beside = await played({ machine, syncs: 2 }, tenant);
      expect(alone[0]?.scaled.size).toBe(ASKERS.length);
      for (const [at, sync] of beside.entries()) {
        const before = alone[at];
        expect(sync.scaled).toEqual(before?.scaled);
        const differing = [...sync.decisions].filter(
          ([name, decision]) => decision !== before?.decisions.get(name),
        );
        expect(differing.slice(0, 1)).toEqual([]);
        expect(sync.lastMs).toBeLessThan((1 + LATER_SHARE) * (before?.lastMs ?? 0));
        expect(sync.overShare.filter(({ namespace }) => namespace !== TENANT)).toEqual([]);
      }
    },
  );
});

const [[, USUAL] = ["", { bytesPerSecond: 100e6, cpu: 1 }]] = MACHINES;

describe("a namespace with more questions than its share", () => {
  it("holds alone, named with its share, and its autoscalers take turns", async () => {
    const tenant = tenantOf(21, { queries: 50, tookMs: 1 });
    const syncs = await played({ machine: USUAL, syncs: 2 }, tenant, othersOf(200, 10));
    const [first = [], second = []] = syncs.map(({ overShare }) => overShare);
    expect(new Set(first.map(({ namespace }) => String(namespace)))).toEqual(new Set([TENANT]));
    expect([first.length, second.length]).toEqual([5, 5]);
    expect(first[0]?.message).toMatch(
      /^Cannot ask source "main" in this sync: namespace "aaa-tenant" has 1050 different questions, and its share of the 1000 of a sync \(maxMetrics\) is 800; ask fewer /,
    );
    expect(first.map(({ name }) => name)).not.toEqual(second.map(({ name }) => name));
  });
});

describe("autoscalers whose source is too slow for all their questions", () => {
  it.each([
    ["one environment", false],
    ["cold environments", true],
  ])("are all asked within a few syncs, by their due time: %s", async (_name, isCold) => {
    const others = Array.from({ length: 40 }, (_, at) => ({
      ...{ namespace: "shop", name: `web-${at}`, source: "main" },
      queries: Array.from({ length: 10 }, (_query, query) => `t75_other_${at}_${query}`),
    }));
    const playing = { machine: USUAL, syncs: 12, isCold, softDeadlineMs: 1_500 };
    const syncs = await played(playing, [], others);
    expect(syncs[0]?.scaled.size).toBeLessThan(others.length);
    const scaled = new Set(syncs.flatMap((one) => [...one.scaled]));
    expect(scaled.size).toBe(others.length);
  });
});
