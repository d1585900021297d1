import { beforeAll, describe, expect, it } from "vitest";
import { type Asker, askerManifest, othersOf, tenantOf } from "../attacks/sources.ts";
import { workload } from "../cluster/stand-in/kubernetes.ts";
import { sourceRecord } from "../source-client/scene.ts";
import { ACCOUNT } from "../virtual/account.ts";
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

/**
 * A source of CloudWatch with the default of dollars. Its questions of a sync are no limit here, so
 * that what holds is over its share of dollars.
 */
const BILLED = sourceRecord({
  ...{ name: "billed", kind: "cloudwatch", timeoutSeconds: 3, maxMetrics: 10_000 },
  aws: {
    region: "eu-central-1",
    roleArn: `arn:aws:iam::${ACCOUNT.accountId}:role/tidemark-prod-source-billed`,
    externalId: "of-shop",
    metricNamespaces: ["Shop"],
  },
});

/** The others beside a tenant. */
const played = (
  playing: Playing,
  tenant: readonly Asker[] = [],
  others: readonly Asker[] = ASKERS,
): Promise<readonly VirtualSync[]> => {
  const own = tenant.map((asker) => ({ ...asker, namespace: TENANT }));
  const all = [...others, ...own];
  const inCluster = all.filter(({ periodSeconds }) => periodSeconds === undefined);
  const sources = [...new Set(inCluster.map(({ source }) => source))];
  const billed = all.length === inCluster.length ? [] : [BILLED];
  const attack = {
    name: "questions",
    make: ({ collections }: { readonly collections: Map<string, object[]> }) => {
      const deployments = all.map(({ namespace, name }) => workload(namespace, name, 1));
      collections.set("/apis/apps/v1/deployments", deployments);
      return own.map(manifestOf);
    },
  };
  const scene = { others: others.map(manifestOf), attack: attack as never, sources, billed };
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

/** Every fourth of the others asks CloudWatch for a metric, the rest ask Prometheus. */
const PAYERS = ASKERS.map((asker, at) =>
  at % 4 === 0 ? { ...asker, source: BILLED.name, periodSeconds: 10 } : asker,
);
const PERIOD_MS = 15_000;
/** By the list price, for a metric that is asked every 15 s. */
const DOLLARS_EACH = 1.752;
const MAX_DOLLARS = 500;

describe.each(MACHINES)(
  "the others beside a namespace that costs too much, with %s",
  (_name, machine) => {
    const playing = { machine, syncs: 2, periodMs: PERIOD_MS };
    const spender = tenantOf(20, { queries: 50, tookMs: 1, source: BILLED.name }).map((asker) => ({
      ...asker,
      periodSeconds: 1,
    }));

    it("are all asked, scaled and decided byte for byte as without it, the last a tenth later at most, while it holds by name with its dollars", async () => {
      const alone = await played(playing, [], PAYERS);
      const beside = await played(playing, spender, PAYERS);
      expect(alone.map(({ scaled }) => scaled.size)).toEqual([PAYERS.length, PAYERS.length]);
      const paid = PAYERS.filter(({ source }) => source === BILLED.name).length;
      expect(alone.map(({ billed }) => billed.length)).toEqual([paid, paid]);
      for (const [at, sync] of beside.entries()) {
        const before = alone[at];
        expect(sync.scaled).toEqual(before?.scaled);
        expect([...sync.decisions].toSorted()).toEqual([...(before?.decisions ?? [])].toSorted());
        expect(sync.lastMs).toBeLessThan((1 + LATER_SHARE) * (before?.lastMs ?? 0));
        // Each metric of the others is asked, and all together cost no more than the source allows.
        expect(sync.billed.filter((metric) => metric.includes("other")).toSorted()).toEqual(
          before?.billed.toSorted(),
        );
        expect(sync.billed.length * DOLLARS_EACH).toBeLessThanOrEqual(MAX_DOLLARS);
        const room = MAX_DOLLARS - paid * DOLLARS_EACH;
        expect(sync.overShare.length).toBe(20 - Math.floor(room / (50 * DOLLARS_EACH)));
        for (const { namespace, message } of sync.overShare) {
          expect(namespace).toBe(TENANT);
          expect(message).toContain(
            `Cannot ask source "billed" in this sync: the questions of namespace "${TENANT}" cost $1752.00 a month by list prices, and its share of the $${MAX_DOLLARS} of a partition (maxDollars) is $${room.toFixed(2)}; `,
          );
        }
      }
    });
  },
);

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
