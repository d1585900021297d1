import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { partsOf } from "../answers.ts";
import {
  fillWith,
  type Kubernetes,
  kubernetes,
  pod,
  type Raw,
  workload,
} from "./stand-in/kubernetes.ts";
import { clientTo, seen, WHOLE, watch } from "./stand-in/watched.ts";

/** Five namespaces, because so many are read by one LIST of the whole cluster. */
const TEAMS = ["bank", "mill", "shop", "wood", "zoo"] as const;
const PODS = "/api/v1/pods";
const DEPLOYMENTS = "/apis/apps/v1/deployments";
const PATIENT = { ...WHOLE, budgetMs: 30_000 };

const of = (megabytes: number, object: Raw): Raw => ({
  ...object,
  filler: "x".repeat(megabytes * 1024 * 1024),
});

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  fillWith(
    server,
    TEAMS.map((team) => [team, "web"] as const),
  );
});
afterEach(async () => {
  client.close();
  await server.close();
});

const watched = TEAMS.map((team) => watch(team, "web"));
const observeAll = async () => {
  const observed = await client.observe(watched, PATIENT);
  return watched.map((one) => seen(observed, one));
};
/** Where an object of one namespace stands in the order of a LIST: by namespace, then by name. */
const put = (collection: string, ...objects: readonly Raw[]): void => {
  const place = (raw: Raw): string => {
    const { namespace, name } = raw["metadata"] as {
      readonly namespace: string;
      readonly name: string;
    };
    return `${namespace}/${name}`;
  };
  const all = [...(server.collections.get(collection) ?? []), ...objects];
  server.collections.set(
    collection,
    all.toSorted((one, other) => (place(one) < place(other) ? -1 : 1)),
  );
};

describe("large objects of one namespace", () => {
  it.each([
    ["pods", PODS, (index: number) => pod("mill", "large", index)],
    ["workloads", DEPLOYMENTS, (index: number) => workload("mill", `large-${index}`)],
  ] as const)(
    "40 %s of 1 MB are read in smaller pages, and every autoscaler observes what it does without them",
    async (_what, path, object) => {
      const without = await observeAll();
      put(path, ...Array.from({ length: 40 }, (_, index) => of(1, object(index))));
      const beside = await observeAll();
      TEAMS.forEach((team, at) => {
        if (team !== "mill") expect(text(beside[at]), team).toBe(text(without[at]));
      });
      // The next LIST asks for no page that was too large: it leaves the namespace out, or has
      // smaller pages.
      const before = server.seen.length;
      await observeAll();
      const pages = server.seen.slice(before).filter(({ url }) => url.pathname === path);
      const isSmall = ({ searchParams }: URL): boolean =>
        searchParams.get("fieldSelector") === "metadata.namespace!=mill" ||
        Number(searchParams.get("limit")) <= 31;
      expect(pages.every(({ url }) => isSmall(url))).toBe(true);
      const mill = beside[TEAMS.indexOf("mill")]?.observation;
      expect(mill?.scale.kind).toBe("read");
      expect(partsOf(mill?.answers).resource?.kind).toBe("answered");
    },
  );

  it("one that is larger than an answer is passed over by name: only what needs it or its namespace is not read", async () => {
    server.collections.set(
      DEPLOYMENTS,
      (server.collections.get(DEPLOYMENTS) ?? []).filter(
        (raw) => (raw["metadata"] as Raw)["namespace"] !== "shop",
      ),
    );
    put(PODS, of(33, pod("mill", "huge")));
    put(DEPLOYMENTS, of(33, workload("shop", "web")));
    put(
      "/apis/autoscaling/v2/horizontalpodautoscalers",
      of(33, { metadata: { namespace: "wood", name: "huge", uid: "u" } }),
    );
    const all = await observeAll();
    const failing = (fails: (one: (typeof all)[number]) => boolean): readonly string[] =>
      TEAMS.filter((_, at) => all[at] && fails(all[at]));
    expect(
      failing(({ observation }) => partsOf(observation.answers).resource?.kind === "failed"),
    ).toEqual(["mill"]);
    expect(failing(({ observation }) => observation.scale.kind === "failed")).toEqual(["shop"]);
    expect(failing(({ rivalsUnknown }) => rivalsUnknown !== undefined)).toEqual(["wood"]);
    expect(partsOf(all[TEAMS.indexOf("mill")]?.observation.answers).resource).toMatchObject({
      failure: {
        reason: "ObjectTooLarge",
        message: expect.stringContaining(
          'Cannot read pods "mill/huge-0": it is larger than an answer may be',
        ),
      },
    });
    expect(all[TEAMS.indexOf("shop")]?.observation.scale).toMatchObject({
      failure: { reason: "ObjectTooLarge" },
    });
    expect(all[TEAMS.indexOf("wood")]?.rivalsUnknown).toContain('"wood/huge"');
  });

  it("PodMetrics that are too many for one answer are asked for by namespace, and one namespace fails", async () => {
    const metrics = "/apis/metrics.k8s.io/v1beta1/pods";
    const large = Array.from({ length: 33 }, (_, index) =>
      of(1, {
        ...server.collections.get(metrics)?.[0],
        metadata: { namespace: "mill", name: `p-${index}` },
      }),
    );
    put(metrics, ...large);
    const resources = (await observeAll()).map(
      ({ observation }) => partsOf(observation.answers).resource?.kind,
    );
    expect(resources).toEqual(TEAMS.map((team) => (team === "mill" ? "failed" : "answered")));
  });
});

const bigints = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value;
/**
 * What a sync observes of an autoscaler. Its looks are left out: a LIST of other controllers that
 * nothing has changed is not repeated in each sync.
 */
const text = (observed: ReturnType<typeof seen> | undefined): string =>
  JSON.stringify({ ...observed, looks: undefined }, bigints);
