import { afterAll, beforeAll, expect, it } from "vitest";
import { takeOverOne, waitsFor } from "../../lib/command/takeover/take-over-one.ts";
import type { KubeconfigApi } from "../../lib/stack/cluster/kubeconfig-api.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import type { AutoscalerView } from "../../lib/answers/views/autoscaler.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";

let world: ServiceWorld;
let service: Service;
beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  await service.addCluster({
    name: "eu-1",
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
});
afterAll(() => world.close());

const QUERY = { cluster: "eu-1", namespace: "shop" };

interface Played {
  /** The answer to the DELETE of the HPA. */
  readonly remove: KubeconfigApi["remove"];
  readonly create?: KubeconfigApi["create"];
  /** Its object; else an HPA that scales. */
  readonly live?: { readonly kind: string; readonly metadata: object };
  /** What a read after the first finds. */
  readonly liveAgain?: object;
}

const hpaOf = (name: string) => ({
  kind: "HorizontalPodAutoscaler",
  metadata: { namespace: "shop", name, uid: "u-1", resourceVersion: "7" },
  spec: {},
});

/** A takeover after which no sync comes. */
const taken = async (
  name: string,
  { remove, create, live = hpaOf(name), liveAgain = live }: Played,
): Promise<string> => {
  await service.apply([{ file: "a.yaml", text: hpa(name, { namespace: "shop" }) }], {
    cluster: "eu-1",
    dryRun: false,
  });
  let reads = 0;
  const api = {
    get: async () => ({ kind: "done", value: reads++ === 0 ? live : liveAgain }),
    may: async () => ({ kind: "done", value: true }),
    remove,
    create,
  } as unknown as KubeconfigApi;
  const rivals = [{ kind: live.kind, name, uid: "u-1" }];
  const view = {
    ...(await service.get({ ...QUERY, name })),
    state: "shadow",
    rivals,
    metrics: [],
    currentReplicas: 2,
    desiredReplicas: 2,
  } as AutoscalerView;
  let elapsedMs = 0;
  const wait = async (ms: number): Promise<void> => {
    elapsedMs += 100 * ms;
  };
  return takeOverOne({ service, api, elapsed: () => elapsedMs, wait }, view, { force: false }).then(
    () => "taken over",
    (error: unknown) => String(error),
  );
};

const answered =
  (code: number): KubeconfigApi["remove"] =>
  async () => ({ kind: "failed", failure: { code, reason: "No", message: "not now" } });

const made = async (name: string) =>
  (await Array.fromAsync(service.changes({ ...QUERY, name })))
    .slice(1)
    .map((change) => [change.verb, change.made]);

it("a takeover that the API server refuses is recorded, and not as made", async () => {
  expect(await taken("web", { remove: answered(403) })).toContain("could not be deleted: not now");
  expect(await made("web")).toEqual([
    ["takeover", false],
    ["takeover-failed", true],
  ]);
});

it("a takeover without a clear answer stays as made, so that handback finds the object", async () => {
  expect(await taken("api", { remove: answered(0) })).toContain("could not be deleted");
  expect(await made("api")).toEqual([["takeover", true]]);
});

/** Refuses versions that are not the newest. */
const removesOnly =
  (resourceVersion: string): KubeconfigApi["remove"] =>
  async (_kind, _ref, version) =>
    version.resourceVersion === resourceVersion
      ? { kind: "done", value: {} }
      : answered(409)(_kind, _ref, version);
const newer = (name: string, changed: object) => ({
  ...hpaOf(name),
  metadata: { ...hpaOf(name).metadata, resourceVersion: "8" },
  ...changed,
});

it("a status that the other controller has written meanwhile is no other object: the takeover is kept once, and made", async () => {
  const create: KubeconfigApi["create"] = async () => ({ kind: "done", value: {} });
  const liveAgain = newer("cart", { status: { currentReplicas: 3 } });
  expect(await taken("cart", { remove: removesOnly("8"), create, liveAgain })).toContain(
    "no 2 syncs came in time",
  );
  expect((await made("cart")).map(([verb]) => verb)).toEqual(["takeover", "handback"]);
});

it("a spec that a person has edited meanwhile is kept anew before it is deleted", async () => {
  const create: KubeconfigApi["create"] = async () => ({ kind: "done", value: {} });
  const liveAgain = newer("sums", { spec: { maxReplicas: 7 } });
  expect(await taken("sums", { remove: removesOnly("8"), create, liveAgain })).toContain(
    "no 2 syncs came in time",
  );
  const changes = await Array.fromAsync(service.changes({ ...QUERY, name: "sums" }));
  expect(changes.slice(1).map(({ verb, made: isMade, rival }) => [verb, isMade, rival])).toEqual([
    ["takeover", false, expect.objectContaining({ spec: {} })],
    ["takeover-failed", true, expect.objectContaining({ spec: {} })],
    ["takeover", true, expect.objectContaining({ spec: { maxReplicas: 7 } })],
    ["handback", true, expect.objectContaining({ spec: { maxReplicas: 7 } })],
  ]);
});

it("an attempt after one without an answer keeps nothing: what it would keep is at rest, and could not go on again", async () => {
  const live = {
    kind: "ScaledObject",
    metadata: {
      namespace: "shop",
      name: "queue",
      uid: "u-1",
      annotations: { "autoscaling.keda.sh/paused": "true" },
    },
  };
  expect(await taken("queue", { live, remove: answered(500) })).toContain(
    'ScaledObject "queue" was paused already',
  );
  expect(await made("queue")).toEqual([]);
});

it("keeps the other controller before it is deleted, and pauses the autoscaler before the other goes on", async () => {
  const order: unknown[] = [];
  const remove: KubeconfigApi["remove"] = async () => {
    order.push(["deleted", await made("jobs")]);
    return { kind: "done", value: {} };
  };
  const create: KubeconfigApi["create"] = async (_kind, _namespace, object) => {
    const { paused } = await service.get({ ...QUERY, name: "jobs" });
    order.push(["made again", object["metadata"], paused !== undefined]);
    return { kind: "done", value: object };
  };
  expect(await taken("jobs", { remove, create })).toContain(
    'the autoscaler was paused, and HorizontalPodAutoscaler "jobs" was made again',
  );
  expect(order).toEqual([
    ["deleted", [["takeover", true]]],
    ["made again", { namespace: "shop", name: "jobs" }, true],
  ]);
});

it("a workload that KEDA has scaled to zero is taken over where the autoscaler starts it again, and only there", () => {
  const at = (spec: object) =>
    waitsFor({
      state: "shadow",
      manifest: { spec },
      metrics: [],
      rivals: [{ kind: "ScaledObject", name: "web" }],
      currentReplicas: 0,
      desiredReplicas: 0,
    } as unknown as AutoscalerView);
  expect(at({ idle: { replicas: 0 } })).toBeUndefined();
  expect(at({})).toContain("only KEDA starts it again");
});
