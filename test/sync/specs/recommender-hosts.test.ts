import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ObservedCluster } from "../../../lib/stack/cluster/cluster-client.ts";
import type { Recommender } from "../../../lib/rules/model/spec-watermark.ts";
import { putCluster } from "../../../lib/stack/store/records/clusters.ts";
import { refusedRecommender } from "../../../lib/stack/sync/observe/recommend.ts";
import { type Engine, startMemory } from "../../contracts/engines.ts";
import { observationOf, readyPods, scaleRead } from "../../observation.ts";
import { type SpecsWorld, specsWorld } from "./cluster-specs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const URL_OF_OBJECT = "http://10.0.3.7:9200/_search";
const withRecommender = {
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 10,
  recommender: { url: URL_OF_OBJECT, targetType: "cpu", highWatermark: "80", lowWatermark: "60" },
};

const OWN_PODS = readyPods(2).map((pod) => ({
  ...pod,
  owners: [{ kind: "ReplicaSet", name: "web-1" }],
}));

/** A world whose recommender records the calls to it. */
const world = async (): Promise<{ readonly world: SpecsWorld; readonly calls: string[] }> => {
  const made = await specsWorld(engine, ["web"]);
  const calls: string[] = [];
  const recommend = async ({ url }: Recommender) => {
    calls.push(url);
    return {
      kind: "failed",
      failure: { code: 0, reason: "RecommenderUnreachable", message: "no answer" },
    } as const;
  };
  const observe = async (): Promise<ObservedCluster> => {
    const [record] = await made.records();
    const observation = observationOf({
      scale: scaleRead(2, { selector: "app=web" }),
      pods: OWN_PODS,
    });
    return {
      observations: new Map(record ? [[record.uid, { observation, rivals: [] }]] : []),
      calls: 1,
      bytes: 1,
    };
  };
  Object.assign(made.cluster.client, { recommend, observe });
  return { world: made, calls };
};

describe("the recommender of an autoscaler that is read from its cluster", () => {
  it("is not asked until the cluster allows its host, because a right in one namespace is enough to write the object", async () => {
    const { world: made, calls } = await world();
    made.apply("web", { kind: "WatermarkPodAutoscaler", spec: withRecommender });
    await made.next();
    expect(calls).toEqual([]);
    await putCluster(
      made.tables,
      {
        ...made.record,
        specsFromCluster: ["WatermarkPodAutoscaler"],
        recommenderHosts: ["http://10.0.3.7:9200"],
        version: 3,
      },
      2,
    );
    await made.next();
    expect(calls).toEqual([URL_OF_OBJECT]);
  });

  it("is allowed by host, by host and port, and by the sign for all; without TLS only behind http://; and by nothing else", () => {
    const allows = (recommenderHosts: readonly string[], url: string) =>
      refusedRecommender({ name: "eu-1" as never, recommenderHosts }, url) === undefined;
    expect(allows(["r.example.com"], "https://r.example.com:8443/x")).toBe(true);
    expect(allows(["r.example.com:8443"], "https://r.example.com:8443/x")).toBe(true);
    expect(allows(["*"], "https://r.example.com")).toBe(true);
    expect(allows(["http://r.example.com"], "http://r.example.com:8080/x")).toBe(true);
    expect(allows(["http://*"], "http://r.example.com")).toBe(true);
    expect(allows(["r.example.com"], "http://r.example.com")).toBe(false);
    expect(allows(["*"], "http://r.example.com")).toBe(false);
    expect(allows(["http://r.example.com"], "https://r.example.com")).toBe(false);
    expect(allows(["r.example.com:8443"], "https://r.example.com/x")).toBe(false);
    expect(allows(["r.example.com"], "https://r.example.com.evil.net/x")).toBe(false);
    expect(allows(["r.example.com"], "https://r.example.com@evil.net/x")).toBe(false);
    expect(allows(["*"], "https://user:password@r.example.com/x")).toBe(false);
    expect(allows(["r.example.com"], "not a url")).toBe(false);
    expect(allows([], "https://r.example.com")).toBe(false);
  });

  it("holds the autoscaler with the host and what to do", () => {
    expect(refusedRecommender({ name: "eu-1" as never }, URL_OF_OBJECT)).toEqual({
      code: 0,
      reason: "RecommenderNotAllowed",
      message:
        'Cannot ask the recommender at "10.0.3.7:9200": cluster "eu-1" allows no recommender; let a person who may connect clusters allow it: tidemark cluster add eu-1 --replace --recommender-host http://10.0.3.7:9200',
    });
  });
});
