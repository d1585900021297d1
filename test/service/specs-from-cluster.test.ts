import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../lib/rules/model/ids.ts";
import type { ClusterOrigin } from "../../lib/rules/model/records.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { getAutoscaler, putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { inside } from "../cli/inside.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";

const ORIGIN: ClusterOrigin = {
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  uid: "object-web",
  generation: 4,
};
const PA = (max: number) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: max,
    metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 60 }],
  },
});

let world: ServiceWorld;
let service: Service;
let count = 0;
let cluster = "";
const web = { name: "web", namespace: "shop" };
const stored = () =>
  getAutoscaler(world.tables, {
    cluster: clusterName(cluster),
    namespace: namespace("shop"),
    name: autoscalerName("web"),
  });
const apply = (manifest: object | string, dryRun = false) =>
  service.apply(
    [{ file: "a.yaml", text: typeof manifest === "string" ? manifest : JSON.stringify(manifest) }],
    { cluster, dryRun },
  );

/** As a sync has stored it. */
const copy = (origin: ClusterOrigin = ORIGIN, manifest: object = PA(9)) =>
  putAutoscaler(
    world.tables,
    {
      cluster: clusterName(cluster),
      namespace: namespace("shop"),
      name: autoscalerName("web"),
      uid: autoscalerUid("object-web"),
      generation: 1,
      manifest: JSON.stringify(manifest),
      createdMs: NOON,
      updatedMs: NOON,
      updatedBy: 'field manager "kubectl"',
      origin,
    },
    undefined,
  );

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
});
afterAll(() => world.close());
beforeEach(async () => {
  world.set(NOON);
  cluster = `specs-${++count}`;
  await service.addCluster({
    name: cluster,
    connection: { kind: "kubeconfig", path: "/kube/config" },
    specsFromCluster: ["WatermarkPodAutoscaler", "PodAutoscaler"],
  });
});

describe("an autoscaler that is read from its cluster", () => {
  it("is never pruned by an apply of other manifests with its labels, also while its object is gone", async () => {
    const labels = { team: "shop" };
    const open = async () => ({
      place: "folder here",
      service,
      nowMs: NOON,
      clock: () => NOON,
      close: async () => {},
    });
    const other = hpa("other", { namespace: "shop" }).replace(
      "metadata:\n",
      "metadata:\n  labels: { team: shop }\n",
    );
    await copy({ ...ORIGIN, goneMs: NOON }, { ...PA(9), metadata: { ...PA(9).metadata, labels } });
    const { code, out, err } = await inside(
      ["apply", "-f", "-", "--cluster", cluster, "--prune", "-l", "team=shop"],
      { stdin: other, open },
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).not.toContain("pruned");
    expect(await stored()).toMatchObject({ uid: "object-web" });
  });

  it("is shown with its object", async () => {
    await copy({ ...ORIGIN, goneMs: NOON });
    expect(await service.get({ cluster, ...web })).toMatchObject({
      uid: "object-web",
      origin: {
        apiVersion: "tidemark.dev/v1",
        kind: "PodAutoscaler",
        uid: "object-web",
        generation: 4,
        goneAt: new Date(NOON).toISOString(),
      },
    });
    expect((await service.cluster(cluster)).specsFromCluster).toEqual([
      "PodAutoscaler",
      "WatermarkPodAutoscaler",
    ]);
  });

  it("is paused and resumed as any other, and keeps its object", async () => {
    await copy();
    await service.pause({ cluster, ...web });
    expect(await stored()).toMatchObject({ paused: { by: "ada" }, origin: ORIGIN });
    await service.resume({ cluster, ...web });
    expect((await stored())?.origin).toEqual(ORIGIN);
  });

  it("cannot be deleted or replaced here, and the refusal says where it lives", async () => {
    await copy();
    await expect(service.delete({ cluster, ...web })).rejects.toThrow(
      `Cannot delete "shop/web": "shop/web" is read from the PodAutoscaler "web" in cluster "${cluster}"; delete that object: kubectl delete podautoscalers.tidemark.dev web -n shop`,
    );
    for (const dryRun of [true, false]) {
      await expect(apply(PA(20), dryRun)).rejects.toThrow(
        `Cannot accept "a.yaml": every PodAutoscaler of cluster "${cluster}" is read from the cluster itself; apply it there, as with kubectl apply`,
      );
    }
    await expect(apply(hpa("web", { namespace: "shop" }))).rejects.toThrow(
      `Cannot accept "a.yaml": "shop/web" is read from the PodAutoscaler "web" in cluster "${cluster}"; give this autoscaler another name`,
    );
    expect(await stored()).toMatchObject({ generation: 1, origin: ORIGIN });
  });

  it("keeps its cluster from being removed, and the refusal says how the cluster is no longer read", async () => {
    await copy();
    await expect(service.removeCluster(cluster)).rejects.toThrow(
      `Cannot remove cluster "${cluster}": it still has autoscalers, such as "shop/web"; run tidemark cluster add ${cluster} --replace --specs table, and delete them`,
    );
  });

  it("may be deleted when its object is gone", async () => {
    await copy({ ...ORIGIN, goneMs: NOON });
    await service.delete({ cluster, ...web });
    expect(await stored()).toBeUndefined();
  });
});

describe("a cluster that is changed to --specs table", () => {
  it("keeps its autoscalers with their uids, and people edit them from then on", async () => {
    await copy();
    await service.replaceCluster({ name: cluster, specsFromCluster: [] });
    expect((await service.cluster(cluster)).specsFromCluster).toBeUndefined();
    expect((await service.get({ cluster, ...web })).origin).toBeUndefined();
    await apply(PA(20));
    const record = await stored();
    expect(record).toMatchObject({ uid: "object-web", generation: 2 });
    expect(record?.origin).toBeUndefined();
  });
});

describe("HPAs of a cluster whose specs are read from it", () => {
  it("are stored by people as ever", async () => {
    expect(await apply(hpa("api", { namespace: "shop" }))).toMatchObject([{ outcome: "created" }]);
  });
});
