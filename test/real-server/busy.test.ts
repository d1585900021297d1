import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, it } from "vitest";
import { apiCalls } from "../control-plane/api-calls.ts";
import { type Front, startFront } from "../control-plane/front.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { type Scene, until } from "./scene.ts";

const FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1";
const TOO_MANY = {
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  code: 429,
  reason: "TooManyRequests",
  message: "too many requests, please try again later",
};
const PARALLEL = 40;
const SYNCS_MAX = 5;

const dir = mkdtempSync(join(tmpdir(), "tidemark-busy-"));
const fronts: Front[] = [];
afterAll(async () => {
  for (const front of fronts) await front.close();
  rmSync(dir, { recursive: true, force: true });
});

const threeWanted = async (scene: Scene) => {
  const workload = await scene.make("Deployment", "web", 2);
  await scene.running(workload, 2);
  await scene.metrics({ [`cpu ${scene.namespace}/web`]: 300 });
  await scene.apply(MANIFESTS.hpa(workload, "cpu"));
  return workload;
};

onServer("an API server that is too busy", (newScene) => {
  const fronted = async (): Promise<Front> => {
    const front = await startFront(inject("cluster"), dir);
    fronts.push(front);
    return front;
  };

  it("refuses reads with 429 by priority and fairness: they wait as told, and the decision is right", async () => {
    const front = await fronted();
    const scene = await newScene("busy", {
      url: front.url,
      ca: front.ca,
      token: inject("cluster").busyToken,
    });
    const { admin } = scene;
    const workload = await threeWanted(scene);
    const limited = {
      nominalConcurrencyShares: 0,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      limitResponse: { type: "Reject" },
    };
    await admin("POST", `${FLOW}/prioritylevelconfigurations`, {
      metadata: { name: "one-seat" },
      spec: { type: "Limited", limited },
    });
    const subjects = [{ kind: "User", user: { name: "busy" } }];
    const resourceRules = [
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] },
    ];
    const spec = {
      priorityLevelConfiguration: { name: "one-seat" },
      matchingPrecedence: 100,
      rules: [{ subjects, resourceRules }],
    };
    await admin("POST", `${FLOW}/flowschemas`, { metadata: { name: "busy" }, spec });
    const { url, ca, busyToken } = inject("cluster");
    const hog = apiCalls({ url, ca, token: busyToken });
    let isOver = false;
    const lists = Array.from({ length: PARALLEL }, async () => {
      while (!isOver) await hog.call("GET", "/api/v1/pods");
    });
    try {
      // What the last repetition of a read could not get fails for this sync alone, and nothing
      // shrinks.
      for (let syncs = 0; syncs < SYNCS_MAX && !front.answered.includes(429); syncs++) {
        await scene.sync();
        expect([2, 3]).toContain(await scene.replicas(workload));
      }
      expect(front.answered).toContain(429);
    } finally {
      isOver = true;
      await Promise.all(lists);
      hog.close();
      await admin("DELETE", `${FLOW}/flowschemas/busy`);
      await admin("DELETE", `${FLOW}/prioritylevelconfigurations/one-seat`);
    }
    // Where the cluster's identity could not be read, that counts for a second.
    await until("a sync scales", async () => {
      await scene.sync();
      return (await scene.replicas(workload)) === 3;
    });
  });

  it("refuses each read once with 429 and Retry-After: the sync waits and decides", async () => {
    const front = await fronted();
    const refused = new Set<string>();
    const scene = await newScene("busy", { url: front.url, ca: front.ca });
    const workload = await threeWanted(scene);
    front.intercept = async ({ method, url = "" }) => {
      const { pathname } = new URL(url, front.url);
      if (method !== "GET" || refused.has(pathname)) return undefined;
      refused.add(pathname);
      return { status: 429, headers: { "retry-after": "1" }, body: TOO_MANY };
    };
    expect((await scene.sync()).events.map(({ to, outcome }) => [to, outcome])).toEqual([
      [3, "applied"],
    ]);
    expect(await scene.replicas(workload)).toBe(3);
    expect(refused.size).toBeGreaterThan(3);
  });

  it("refuses a PUT with 429: it is not repeated, the event says so, and the next sync scales", async () => {
    const front = await fronted();
    let puts = 0;
    const scene = await newScene("busy", { url: front.url, ca: front.ca });
    const workload = await threeWanted(scene);
    front.intercept = async ({ method }) => {
      if (method !== "PUT" || ++puts > 1) return undefined;
      return { status: 429, headers: { "retry-after": "1" }, body: TOO_MANY };
    };
    expect((await scene.sync()).events.map(({ to, outcome }) => [to, outcome])).toEqual([
      [3, "refused"],
    ]);
    expect((await scene.service.describe({ name: "web" })).events[0]?.detail).toContain(
      "the API server was too busy (429)",
    );
    expect([puts, await scene.replicas(workload)]).toEqual([1, 2]);
    expect((await scene.sync()).events.map(({ to, outcome }) => [to, outcome])).toEqual([
      [3, "applied"],
    ]);
    expect(await scene.replicas(workload)).toBe(3);
  });
});
