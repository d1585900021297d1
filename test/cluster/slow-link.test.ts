import { describe, expect, it } from "vitest";
import type {
  ClusterClient,
  Observed,
  ObservedCluster,
} from "../../lib/stack/cluster/cluster-client.ts";
import { SPEC_KINDS } from "../../lib/rules/model/spec.ts";
import { SLOW_PAGE_MS } from "../../lib/stack/cluster/request-limits.ts";
import { partsOf } from "../answers.ts";
import { clientOver } from "../virtual/client.ts";
import { linkTo } from "../virtual/link.ts";
import { virtualTime } from "../virtual/time.ts";
import { bodyAnswer } from "../virtual/requests.ts";
import {
  fillWith,
  type Kubernetes,
  kubernetesOn,
  pod,
  podMetrics,
  type Raw,
  workload,
} from "./stand-in/kubernetes.ts";
import { type Seen, status } from "./stand-in/server.ts";
import { seen, watch, WHOLE } from "./stand-in/watched.ts";

const [DEPLOYMENTS, PODS, METRICS, HPAS] = [
  "/apis/apps/v1/deployments",
  "/api/v1/pods",
  "/apis/metrics.k8s.io/v1beta1/pods",
  "/apis/autoscaling/v2/horizontalpodautoscalers",
] as const;
const TEAMS = ["bank", "farm", "mill", "port"].map((name) => watch(name, "web"));
/** They come first in each LIST. */
const [HEAVY, OTHER_HEAVY] = ["aaa", "aab"].map((name) => watch(name, "web")) as [
  ReturnType<typeof watch>,
  ReturnType<typeof watch>,
];
const TEAM_NAMES = ["bank/web", "farm/web", "mill/web", "port/web"];
const MB = 1_000_000;

type Server = Pick<Kubernetes, "collections" | "documents" | "overrides" | "seen">;

const large = (namespace: string, path: string, count: number, bytes: number): readonly Raw[] =>
  Array.from({ length: count }, (_, index): Raw => {
    const name = `large-${index}`;
    const object: Record<string, Raw> = {
      [DEPLOYMENTS]: workload(namespace, name),
      [PODS]: pod(namespace, "large", index),
      [METRICS]: podMetrics(namespace, "large", index),
      [HPAS]: {
        metadata: { namespace, name, uid: name },
        spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" } },
      },
    };
    return { ...object[path], filler: "x".repeat(bytes) };
  });

interface Scene {
  readonly mbPerSecond: number;
  /** Sets up what is large. */
  readonly make: (server: Server) => void;
}

interface Round {
  readonly names: readonly string[];
  readonly atMs: number;
}

/** Asks by a new client over a link of this speed, in virtual time. */
const asked = async <Result>(
  { mbPerSecond, make }: Scene,
  ask: (client: ClusterClient, nowMs: () => number) => Promise<Result>,
): Promise<{ readonly result: Result; readonly lists: readonly Seen[] }> => {
  const time = virtualTime();
  const lists: Seen[] = [];
  const server = kubernetesOn({ seen: lists, answer: () => undefined });
  fillWith(
    server,
    [...TEAMS, HEAVY, OTHER_HEAVY].map(({ namespace }) => [namespace, "web"] as const),
  );
  server.collections.set(HPAS, []);
  make(server);
  const speed = { latencyMs: 2, bytesPerMs: mbPerSecond * 1_000, cpuMsPerByte: 0 };
  const client = clientOver(linkTo(time, speed, bodyAnswer(server, lists)).connect, time);
  try {
    return { result: await time.until(ask(client, time.nowMs)), lists };
  } finally {
    client.close();
    time.end();
  }
};

const observed = async (scene: Scene) => {
  const rounds: Round[] = [];
  const observations = new Map<string, Observed>();
  const { lists } = await asked(scene, async (client, nowMs) => {
    let part: ObservedCluster | undefined = await client.observe([HEAVY, OTHER_HEAVY, ...TEAMS], {
      ...WHOLE,
      inRounds: true,
    });
    while (part) {
      rounds.push({ names: [...part.observations.keys()].toSorted(), atMs: nowMs() });
      for (const [uid, one] of part.observations) observations.set(uid, one);
      part = await part.later?.();
    }
  });
  return { rounds, observations, lists };
};

const shown = (observations: ReadonlyMap<string, Observed>, uid: string): unknown => {
  const { observation, looks = [], ...rest } = observations.get(uid) as Observed;
  const { scale, pods, answers, others } = observation;
  return {
    ...{ scale, pods: pods.all, resource: partsOf(answers).resource?.kind, others },
    ...rest,
    looks: looks.toSorted((one, other) => (one.kind < other.kind ? -1 : 1)),
  };
};

const listsOf = (lists: readonly Seen[], path: string): readonly string[] =>
  lists.flatMap(({ url: { pathname, searchParams } }) =>
    pathname === path && !searchParams.has("continue")
      ? [searchParams.get("fieldSelector") ?? ""]
      : [],
  );

const first = (server: Server, path: string, objects: readonly Raw[]): void =>
  void server.collections.set(path, [...objects, ...(server.collections.get(path) ?? [])]);

describe("the first LIST of an environment, over a slow link", () => {
  it.each([DEPLOYMENTS, PODS, METRICS, HPAS])(
    "begins again without the namespace that it is slow for, which is read after the others were decided: %s",
    async (path) => {
      const make = (server: Server): void => first(server, path, large("aaa", path, 20, MB / 2));
      const { rounds, observations, lists } = await observed({ mbPerSecond: 8, make });
      expect(listsOf(lists, path)).toEqual(["", "metadata.namespace!=aaa"]);
      expect(rounds[0]?.names).toEqual(["aab/web", ...TEAM_NAMES]);
      expect(rounds[0]?.atMs).toBeLessThan(SLOW_PAGE_MS + 300);
      // Nobody is observed another way than over a fast link.
      const fast = await observed({ mbPerSecond: 1_000, make });
      expect(fast.rounds).toHaveLength(1);
      for (const { uid } of [HEAVY, OTHER_HEAVY, ...TEAMS])
        expect(shown(observations, uid)).toEqual(shown(fast.observations, uid));
    },
  );

  it("begins again for a second one", async () => {
    const make = (server: Server): void =>
      first(server, PODS, [...large("aaa", PODS, 20, MB / 2), ...large("aab", PODS, 20, MB / 2)]);
    const { rounds, lists } = await observed({ mbPerSecond: 8, make });
    expect(listsOf(lists, PODS)).toEqual([
      "",
      "metadata.namespace!=aaa",
      "metadata.namespace!=aaa,metadata.namespace!=aab",
    ]);
    expect(rounds[0]?.names).toEqual(TEAM_NAMES);
    expect(rounds.flatMap(({ names }) => names)).toHaveLength(6);
  });

  it("holds the namespace alone where its own LIST takes longer than the sync: its pods are unread and not none", async () => {
    const make = (server: Server): void => first(server, PODS, large("aaa", PODS, 40, MB));
    const { rounds, observations } = await observed({ mbPerSecond: 4, make });
    expect(rounds[0]?.names).toEqual(["aab/web", ...TEAM_NAMES]);
    const { observation } = seen({ observations } as unknown as ObservedCluster, HEAVY);
    expect(observation.podsUnread).toBe(true);
    expect(partsOf(observation.answers).resource?.kind).toBe("failed");
  });

  it("goes on where no namespace is much larger than the others", async () => {
    const make = (server: Server): void =>
      first(
        server,
        PODS,
        Array.from({ length: 30 }, (_, at) => large(`ns-${at}`, PODS, 1, MB / 2)).flat(),
      );
    const { rounds, lists } = await observed({ mbPerSecond: 8, make });
    expect(listsOf(lists, PODS)).toEqual([""]);
    expect(rounds.map(({ names }) => names.length)).toEqual([6]);
  });

  it("is read with all where the server knows no field selector", async () => {
    const make = (server: Server): void => {
      first(server, PODS, large("aaa", PODS, 20, MB / 2));
      server.overrides.push({
        match: ({ url }) => url.searchParams.has("fieldSelector"),
        answer: status(400, "BadRequest", "field label not supported: metadata.namespace"),
      });
    };
    const { rounds, observations, lists } = await observed({ mbPerSecond: 8, make });
    expect(listsOf(lists, PODS)).toEqual(["", "metadata.namespace!=aaa", ""]);
    expect(rounds.flatMap(({ names }) => names)).toHaveLength(6);
    expect(observations.get(HEAVY.uid)?.observation.podsUnread).toBeUndefined();
  });

  it.each([
    ["whole where there is time for them", 6_000, "listed"],
    ["not at all where there is none", 2_000, "failed"],
  ])("gives the specs of the others, and those of the namespace %s", async (_, budgetMs, own) => {
    const path = "/apis/tidemark.dev/v1/podautoscalers";
    const spec = (namespace: string, index: number, filler: string): Raw => ({
      metadata: {
        namespace,
        name: `pa-${index}`,
        uid: `${namespace}-${index}`,
        resourceVersion: "7",
        generation: 1,
      },
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
      filler,
    });
    const make = (server: Server): void =>
      void server.collections.set(path, [
        ...Array.from({ length: 40 }, (_object, at) => spec("aaa", at, "x".repeat(MB / 2))),
        ...TEAMS.map(({ namespace }) => spec(namespace, 0, "")),
      ]);
    const { result } = await asked({ mbPerSecond: 8, make }, (client) =>
      client.listSpecs({
        kinds: SPEC_KINDS.filter(({ kind }) => kind === "PodAutoscaler"),
        namespaces: "all",
        knownVersion: () => undefined,
        budgetMs,
      }),
    );
    const [others, ofHeavy] = result.listings;
    expect(
      others?.outcome.kind === "listed" && others.outcome.objects.map(({ namespace }) => namespace),
    ).toEqual(TEAMS.map(({ namespace }) => namespace));
    expect([...(others?.without ?? [])]).toEqual(["aaa"]);
    expect([ofHeavy?.namespace, ofHeavy?.outcome.kind]).toEqual(["aaa", own]);
  });
});
