import { describe, expect, it } from "vitest";
import type { Observed, Watched, ObjectUpdate } from "../../../lib/stack/cluster/cluster-client.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { HpaMetric } from "../../../lib/rules/model/spec-hpa.ts";
import { SPEC_KINDS, type SpecKind } from "../../../lib/rules/model/spec.ts";
import { partsOf } from "../../answers.ts";
import { CPU, watch } from "../../cluster/stand-in/watched.ts";
import type { Fault } from "../fates.ts";
import { listNow } from "../objects/list-objects.ts";
import { observeNow } from "../observe.ts";
import { play } from "../play.ts";
import { warmReader } from "./socket-cluster.ts";
import {
  FLEET,
  NO_FAILURES,
  newWorld,
  newWorldOf,
  OTHERS,
  type Planned,
  WEB,
} from "./socket-world.ts";

const SEED = 10;
const BUDGET_MS = 6_000;
const LIMITS = { budgetMs: BUDGET_MS, namespaces: "all" } as const;

const loadOf = (name: string): HpaMetric => ({
  type: "External",
  metric: { name: `load-${name}` },
  target: { type: "AverageValue", averageValueMilli: 10_000n },
});

const WATCHED = [
  watch("shop", "web", { metrics: [CPU] }),
  watch("shop", "rooms", { metrics: [loadOf("rooms")], target: FLEET }),
  ...OTHERS.map((name) => watch("shop", name, { metrics: [loadOf(name)] })),
];

type World = ReturnType<typeof newWorld>;

const observed = async ({ client, ended }: World, watched: readonly Watched[] = WATCHED) => {
  const { answer, tookMs } = await ended(client.observe(watched, LIMITS));
  return {
    tookMs,
    of: (name: string): Observed | undefined => answer?.observations.get(watch("shop", name).uid),
  };
};

const named = <Item extends { readonly name: string }>(items: readonly Item[]): readonly Item[] =>
  items.toSorted((one, other) => (one.name < other.name ? -1 : 1));

/**
 * What an observation says to an autoscaler, but for the instants, which an API server writes in
 * whole seconds. A real client also gives it the answers that its neighbours asked for.
 */
const sayings = (name: string, seen: Observed | undefined): object => {
  const { scale, pods, answers } = seen?.observation ?? {};
  const parts = partsOf(answers);
  const value = parts.external.get(
    queryKey({ for: "external", metric: `load-${name}`, metricSelector: "" }),
  );
  const milli = value?.kind === "answered" ? value.items.map((item) => item.milli) : value;
  if (name !== "web") return { scale, milli, rivals: seen?.rivals };
  const metrics = parts.resource?.kind === "answered" ? parts.resource.items.all : [];
  return {
    scale,
    pods: named(pods?.all ?? []).map(({ labels, owners, phase, containers }) => ({
      labels,
      owners,
      phase,
      containers,
    })),
    metrics: named(metrics).map(({ labels, containers }) => ({ labels, containers })),
  };
};

const POD_AUTOSCALER = SPEC_KINDS[0] as SpecKind;
const REQUEST = {
  kinds: SPEC_KINDS,
  namespaces: "all",
  knownVersion: () => undefined,
  budgetMs: BUDGET_MS,
} as const;

const manifest = (name: string): object => ({
  kind: POD_AUTOSCALER.kind,
  metadata: { name, namespace: "shop" },
  spec: { scaleTargetRef: WEB, minReplicas: 1, maxReplicas: 3 },
});

describe("an observation over connections in memory", () => {
  it.each(["eu-1", "eu-2"])(
    "says what the world says to a single call, in JSON and in protobuf (%s)",
    async (cluster) => {
      await warmReader();
      const world = newWorldOf(cluster);
      for (const workload of world.site.workloads.values())
        workload.rivalSinceMs = workload.target.name === "b" ? 0 : undefined;
      const seen = await observed(world);
      const wanted = observeNow(world.site, WATCHED, world.scheduler.nowMs(), NO_FAILURES);
      for (const { name, uid } of WATCHED)
        expect(sayings(name, seen.of(name))).toEqual(sayings(name, wanted.get(uid)));
      expect(seen.of("b")?.rivals).toEqual([{ kind: "ScaledObject", name: "another" }]);
    },
  );

  it("misses what the world does not give: a metric, a scale, the other controllers", async () => {
    const world = newWorld();
    Object.assign(world.troubles, {
      metrics: new Set(["a"]),
      scales: new Set([FLEET.name]),
      rivals: "failed",
    });
    const { of } = await observed(world);
    expect(sayings("a", of("a"))).toMatchObject({
      milli: { kind: "failed", failure: { code: 503 } },
    });
    expect(of(FLEET.name)?.observation.scale).toMatchObject({
      kind: "failed",
      failure: { code: 500 },
    });
    expect(of("c")).toMatchObject({
      observation: { scale: { kind: "read" } },
      rivals: [],
      rivalsUnknown: expect.stringContaining("HorizontalPodAutoscaler"),
    });
  });

  const LIST: Planned = { of: "list" };
  it.each<readonly [string, Fault, number, number, number]>([
    ["no byte of the answer comes", "lost answer", 0, BUDGET_MS, BUDGET_MS + 1_000],
    ["half of the answer comes and no more", "lost answer", 0.3, BUDGET_MS, BUDGET_MS + 1_000],
    ["half of the answer comes and then a reset", "lost answer", 0.6, 0, 1_000],
    ["the server fails", "failed before", 0, 0, 1_000],
  ])(
    "has no scale of a kind whose LIST fails, because %s",
    async (_words, fault, lateness, leastMs, mostMs) => {
      // The first read of the kind that is not built in, then the LIST of the workloads.
      const seen = await observed(newWorld({ ...LIST, fault, lateness }), WATCHED.slice(2));
      expect(seen.of("a")?.observation.scale.kind).toBe("failed");
      expect(seen.tookMs).toBeGreaterThanOrEqual(leastMs);
      expect(seen.tookMs).toBeLessThanOrEqual(mostMs);
    },
  );

  it.each<readonly [string, readonly Planned[], number]>([
    ["reads each scale by itself where it may not list them", [{ ...LIST, fault: "denied" }], 0],
    [
      "asks again after a second where the server is busy",
      [{ ...LIST, fault: "throttled" }],
      1_000,
    ],
    [
      "waits for an answer that is late",
      [{ ...LIST, fault: "late", lateness: 0.5 }],
      BUDGET_MS / 2,
    ],
    [
      "begins a LIST anew where its second page has expired",
      [LIST, { ...LIST, fault: "denied" }],
      0,
    ],
  ])("%s", async (_words, fates, leastMs) => {
    const seen = await observed(newWorld(...fates), WATCHED.slice(2));
    for (const name of OTHERS)
      expect(seen.of(name)?.observation.scale).toMatchObject({ kind: "read", specReplicas: 3 });
    expect(seen.tookMs).toBeGreaterThanOrEqual(leastMs);
    expect(seen.tookMs).toBeLessThan(BUDGET_MS);
  });
});

describe("objects over connections in memory", () => {
  it("are listed as a single call lists them, in pages", async () => {
    const { client, ended, site, scheduler } = newWorld();
    for (const name of ["one", "two", "three", "four", "five"]) site.objects.apply(manifest(name));
    const wanted = listNow(site.objects, REQUEST, scheduler.nowMs(), {
      failing: new Set(),
      staleMs: 0,
    });
    const { answer } = await ended(client.listSpecs(REQUEST));
    expect(answer?.listings).toEqual(wanted.listings);
  });

  it("are listed as they were a while ago, or not at all, where the world says so", async () => {
    const { client, ended, site, scheduler, troubles } = newWorld();
    await scheduler.run(60_000, () => false);
    site.objects.apply(manifest("new"));
    troubles.listing = { staleMs: 40_000, failing: new Set(["WatermarkPodAutoscaler"]) };
    const { answer } = await ended(client.listSpecs(REQUEST));
    expect(answer?.listings.map(({ outcome }) => outcome)).toMatchObject([
      { kind: "listed", objects: [] },
      { kind: "failed", failure: { code: 500 } },
    ]);
  });

  const told = (world: World, resourceVersion: string): readonly ObjectUpdate[] => {
    const { uid = "" } =
      world.site.objects.get({ kind: POD_AUTOSCALER.kind, namespace: "shop", name: "one" }) ?? {};
    const about = { of: POD_AUTOSCALER, namespace: "shop", name: "one", uid, resourceVersion };
    const event = {
      id: "scale-1",
      occurrence: "scale-1",
      type: "Normal",
      reason: "SuccessfulRescale",
      note: "to 2",
      atMs: world.scheduler.nowMs(),
    };
    return [
      { kind: "status", about, status: { replicas: 2 } },
      { kind: "event", about, event },
    ];
  };
  const written = async (world: World, resourceVersion: string) =>
    (
      await world.ended(
        Promise.resolve(
          world.client.writeBack?.(told(world, resourceVersion), {
            budgetMs: BUDGET_MS,
            callsMax: 10,
          }),
        ),
      )
    ).answer;
  const statusOf = ({ site }: World) =>
    site.objects.get({ kind: POD_AUTOSCALER.kind, namespace: "shop", name: "one" })?.status;

  it("are told what was decided, and get an Event", async () => {
    const world = newWorld();
    world.site.objects.apply(manifest("one"));
    expect(await written(world, "1")).toEqual({ written: 2, failed: 0, left: 0 });
    expect(statusOf(world)).toEqual({ replicas: 2 });
  });

  it("keep their status where another wrote since", async () => {
    const world = newWorld();
    world.site.objects.apply(manifest("one"));
    expect(await written(world, "7")).toEqual({ written: 1, failed: 1, left: 0 });
    expect(statusOf(world)).toBeUndefined();
  });

  it.each<readonly [Fault, number, object | undefined]>([
    ["denied", 0, undefined],
    ["lost request", 0.9, undefined],
    ["lost answer", 0, { replicas: 2 }],
  ])("count a status as failed that meets: %s", async (fault, lateness, status) => {
    const world = newWorld({ of: "update", fault, lateness });
    world.site.objects.apply(manifest("one"));
    expect(await written(world, "1")).toMatchObject({ failed: 1 });
    expect(statusOf(world)).toEqual(status);
  });
});

it("a seed whose clusters are reached over connections and hold their autoscalers gives the same story twice", {
  timeout: 60_000,
}, async () => {
  const [one, other] = [
    await play(SEED, { faults: true, told: true }),
    await play(SEED, { faults: true, told: true }),
  ];
  expect(Object.keys(one.coverage)).toEqual(
    expect.arrayContaining(["specs | LIST objects | none", "tell | PATCH a status | none"]),
  );
  expect(other).toEqual(one);
});
