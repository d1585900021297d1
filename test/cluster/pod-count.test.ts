import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import type { Json } from "../../lib/rules/model/json.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { questions } from "../../lib/rules/policy/dialects.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { scaleRead } from "../observation.ts";
import { native, sync } from "../policy/native/world.ts";
import { fillWith, type Kubernetes, kubernetes } from "./stand-in/kubernetes.ts";
import { json, status } from "./stand-in/server.ts";
import { asking, clientTo, seen, WHOLE } from "./stand-in/watched.ts";

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  fillWith(server, [["shop", "web"]]);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const backend = (phase: string, ready = "True"): Json => ({
  metadata: { name: "b", labels: { app: "backend" } },
  status: { phase, conditions: [{ type: "Ready", status: ready }] },
});

/** What the API server answers to a LIST of pods by a selector. */
const answer = (given: Json | ReturnType<typeof status>): void => {
  server.overrides.push({
    match: ({ url }) =>
      url.pathname === "/api/v1/namespaces/shop/pods" && url.searchParams.has("labelSelector"),
    answer: typeof given === "function" ? given : json(200, given),
  });
};

const metric = (more: Json = {}): Json => ({
  podCount: { selector: "app = backend", ...more },
  measure: "Average",
  target: 2,
  tolerance: { up: "0", down: "0" },
  activation: 0,
});

/** The count of a workload of 4 pods after one sync whose metric is asked of the API server. */
const countAfter = async (of: Json, replicas = 4): Promise<number> => {
  const spec = native({ minReplicas: 1, idle: { afterSeconds: 0 }, metrics: [of] });
  const watched = {
    uid: autoscalerUid("shop/web"),
    namespace: namespace("shop"),
    name: autoscalerName("web"),
    ...asking(spec, "shop"),
  };
  const { observation } = seen(await client.observe([watched], WHOLE), watched);
  return sync(spec, { replicas, observed: { answers: observation.answers } }).count;
};

describe("a metric that counts pods", () => {
  it("asks the API server for the pods with the labels, and leaves out those that have ended", async () => {
    answer({
      items: [
        ...Array.from({ length: 9 }, () => backend("Running")),
        backend("Pending", "False"),
        backend("Succeeded"),
        backend("Failed"),
      ],
    });
    expect(await countAfter(metric())).toBe(5);
    const asked = server.seen.filter(({ url }) => url.searchParams.has("labelSelector"));
    expect(asked.map(({ url }) => [url.pathname, url.searchParams.get("labelSelector")])).toEqual([
      ["/api/v1/namespaces/shop/pods", "app=backend"],
    ]);
    expect(await countAfter(metric({ ready: true }))).toBe(5);
  });

  it("counts only ready ones where it says so", async () => {
    answer({
      items: [backend("Running"), backend("Running", "False"), backend("Running", "False")],
    });
    expect(await countAfter(metric({ ready: true }), 1)).toBe(1);
    expect(await countAfter(metric(), 1)).toBe(2);
  });

  it("wakes a workload at 0 with the first pod", async () => {
    answer({ items: [backend("Pending", "False")] });
    expect(await countAfter(metric(), 0)).toBe(1);
  });

  it("is missing where no pod has the labels, unless whenEmpty says what that means", async () => {
    answer({ items: [] });
    expect(await countAfter(metric())).toBe(4);
    expect(await countAfter(metric({ whenEmpty: 0 }))).toBe(0);
  });

  it("is missing where the API server refuses, or answers without a list", async () => {
    answer(status(403, "Forbidden", "not for you"));
    expect(await countAfter(metric({ whenEmpty: 0 }))).toBe(4);
    server.overrides.length = 0;
    answer({ kind: "PodList" });
    expect(await countAfter(metric({ whenEmpty: 0 }))).toBe(4);
  });

  it("is refused with a selector that cannot be read, with the field's path", () => {
    expect(() => native({ metrics: [metric({ selector: "app in" })] })).toThrow(
      /spec\.metrics\[0\]\.podCount\.selector: cannot be read: .*kubectl get pods -l/,
    );
  });

  it("of two spellings of one selector is one question", () => {
    const asked = (spec: AutoscalerSpec) => questions(spec, "shop", scaleRead(3)).metrics;
    const [one] = asked(native({ metrics: [metric()] }));
    const [other] = asked(native({ metrics: [metric({ selector: "app=backend" })] }));
    expect(one).toBeDefined();
    expect(one && queryKey(one)).toBe(other && queryKey(other));
  });
});
