import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { appsOf, fillCluster, podsOf } from "../control-plane/fill.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/start.ts";
import { accessTo } from "../cluster/stand-in/connected.ts";
import { seen, watch, WHOLE } from "../cluster/stand-in/watched.ts";
import { clientFor } from "../../lib/stack/cluster/connect.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { type Random, randomOf } from "../simulation/random.ts";

const binaries = controlPlaneBinaries();
const NAMESPACES = 12;
const PODS_OF_AN_APP = 50;
const ROUNDS = 25;
const MERGE = "application/merge-patch+json";

const APPS = appsOf(NAMESPACES).map((app, at) => ({
  ...app,
  namespace: `team-${at}`,
  pods: PODS_OF_AN_APP,
}));
const WATCHED = APPS.map(({ namespace, name }) => watch(namespace, name));

let plane: ControlPlane;
beforeAll(async () => {
  if (binaries.kind === "missing") return;
  plane = await startControlPlane(binaries.folder);
  await fillCluster(plane, APPS);
}, 180_000);
afterAll(async () => {
  if (binaries.kind !== "missing") await plane.close();
});

const newClient = (): ClusterClient =>
  clientFor(
    { name: clusterName("eu-1"), uid: "uid-of-eu-1", kubeSystemUid: undefined },
    accessTo(plane, {
      credentials: async () => ({ headers: { authorization: `Bearer ${plane.token}` } }),
    }),
    { clock: Date.now },
  );

const observed = async (client: ClusterClient) => {
  const all = await client.observe(WATCHED, WHOLE);
  return {
    pods: WATCHED.map((watched) => {
      const { observation } = seen(all, watched);
      expect(observation.podsUnread).toBeUndefined();
      return observation.pods.all;
    }),
    bytes: all.bytes,
  };
};

const must = async (...[method, path, ...more]: Parameters<ControlPlane["call"]>) => {
  const { status, body } = await plane.call(method, path, ...more);
  if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${body}`);
};

interface Made {
  readonly path: string;
  readonly name: string;
}

/**
 * Changes a pod in one of the ways in which pods change. Pods go only where the workload has more
 * than it counts: no controller runs that would count anew.
 */
const change = async (random: Random, made: Made[]): Promise<void> => {
  const app = random.pick(APPS);
  const path = `/api/v1/namespaces/${app.namespace}/pods`;
  const pod = random.pick(podsOf(app));
  const ways = [
    async () => {
      const name = `new-${random.int(0, 999_999)}`;
      made.push({ path, name });
      await must("POST", path, {
        ...{ apiVersion: "v1", kind: "Pod", metadata: { name, labels: { app: app.name } } },
        spec: { containers: [{ name: "app", image: "none" }] },
      });
    },
    async () => {
      const gone = made.shift();
      if (gone) await must("DELETE", `${gone.path}/${gone.name}?gracePeriodSeconds=0`);
    },
    () => {
      const labels = { turn: String(random.int(0, 9)) };
      return must("PATCH", `${path}/${pod}`, { metadata: { labels } }, MERGE);
    },
    () => {
      const lastTransitionTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
      const status = random.chance(0.5) ? "True" : "False";
      const conditions = [{ type: "Ready", status, lastTransitionTime }];
      return must("PATCH", `${path}/${pod}/status`, { status: { conditions } }, MERGE);
    },
  ];
  await random.pick(ways)();
};

describe.skipIf(binaries.kind === "missing")(
  "pods that are followed by watches on a real API server",
  () => {
    it("are, sync after sync, those of a LIST to the last field, also after the server was killed", async () => {
      const followed = newClient();
      const listed = await observed(followed);
      const random = randomOf(17, "objects");
      const made: Made[] = [];
      const shares: number[] = [];
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const changes = random.int(0, 7);
          for (let at = 0; at < changes; at++) await change(random, made);
          if (round === Math.floor(ROUNDS / 2)) await (await plane.interrupt())();
          const own = await observed(followed);
          const fresh = newClient();
          expect(own.pods).toEqual((await observed(fresh)).pods);
          fresh.close();
          shares.push(own.bytes / listed.bytes);
        }
        // One was a LIST: the server that was started anew has no older versions.
        expect(shares.filter((share) => share > 0.5)).toHaveLength(1);
      } finally {
        followed.close();
      }
    }, 240_000);
  },
);
