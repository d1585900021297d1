import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { type Kubernetes, kubernetes, type Raw, workload } from "./stand-in/kubernetes.ts";
import { clientTo, WHOLE, watch } from "./stand-in/watched.ts";

const HPAS = "/apis/autoscaling/v2/horizontalpodautoscalers";
const DEPLOYMENTS = "/apis/apps/v1/deployments";
const WEB = watch("shop", "web");
const hpa = {
  metadata: { namespace: "shop", name: "other" },
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
};

let server: Kubernetes;
let client: ClusterClient;
let nowMs: number;
beforeEach(async () => {
  server = await kubernetes();
  nowMs = Date.now();
  client = clientTo(server, { clock: () => nowMs });
  server.collections.set(DEPLOYMENTS, [workload("shop", "web"), workload("shop", "api")]);
  for (const empty of ["/api/v1/pods", "/apis/metrics.k8s.io/v1beta1/pods", HPAS])
    server.collections.set(empty, []);
});
afterEach(async () => {
  client.close();
  await server.close();
});

/** One observation: the rivals of "web", and whether they were asked for. */
const look = async (watched = [WEB]): Promise<readonly string[]> => {
  const before = server.seen.length;
  const { observations } = await client.observe(watched, WHOLE);
  const asked = server.seen
    .slice(before)
    .some(({ url }) => url.pathname.endsWith("horizontalpodautoscalers"));
  return [
    asked ? "asked" : "spared",
    ...(observations.get(WEB.uid)?.rivals ?? []).map(({ name }) => name),
  ];
};
const create = (): void => void server.collections.set(HPAS, [hpa]);
const change = (path: "metadata" | "spec", value: Raw): void =>
  void Object.assign(server.collections.get(DEPLOYMENTS)?.[0]?.[path] as Raw, value);

describe("rivals are looked for in no more syncs than needed:", () => {
  it("one that was just made and has written nothing is noticed in the fourth sync", async () => {
    expect(await look()).toEqual(["asked"]);
    create();
    expect([await look(), await look(), await look(), await look()]).toEqual([
      ["spared"],
      ["spared"],
      ["spared"],
      ["asked", "other"],
    ]);
  });

  it("a LIST that is not repeated is no answer: what another environment has seen meanwhile goes on to count", async () => {
    const looks = async () =>
      (await client.observe([WEB], WHOLE)).observations
        .get(WEB.uid)
        ?.looks?.filter(({ kind }) => kind === "HorizontalPodAutoscaler");
    expect(await looks()).toEqual([
      { kind: "HorizontalPodAutoscaler", outcome: "answered", rivals: [] },
    ]);
    expect(await looks()).toEqual([]);
  });

  it("it is noticed in the first sync after a minute, where syncs are rare", async () => {
    await look();
    create();
    nowMs += 59_999;
    expect(await look()).toEqual(["spared"]);
    nowMs += 1;
    expect(await look()).toEqual(["asked", "other"]);
  });

  it.each([
    ["count", () => change("spec", { replicas: 5 })],
    ["generation", () => change("metadata", { generation: 4 })],
    ["identity", () => change("metadata", { uid: "made anew" })],
  ])("it is noticed in the same sync in which a target shows another %s", async (_what, write) => {
    await look();
    create();
    write();
    expect(await look()).toEqual(["asked", "other"]);
  });

  it("it is noticed at once by a target that is watched for the first time", async () => {
    await look();
    create();
    expect(await look([WEB, watch("shop", "api")])).toEqual(["asked", "other"]);
  });

  it("one that is known is looked for in every sync, so that scaling goes on as soon as it is gone", async () => {
    create();
    expect([await look(), await look()]).toEqual([
      ["asked", "other"],
      ["asked", "other"],
    ]);
    server.collections.set(HPAS, []);
    expect(await look()).toEqual(["asked"]);
  });

  it("a look that failed is repeated in the next sync", async () => {
    await look();
    change("spec", { replicas: 5 });
    server.overrides.push({
      match: ({ url }) => url.pathname.endsWith("horizontalpodautoscalers"),
      answer: (_seen, response) => response.writeHead(500).end(),
    });
    expect(await look()).toEqual(["asked"]);
    server.overrides.length = 0;
    expect(await look()).toEqual(["asked"]);
    expect(await look()).toEqual(["spared"]);
  });

  it("a clock that was set back spares nothing", async () => {
    await look();
    nowMs -= 1;
    expect(await look()).toEqual(["asked"]);
  });
});
