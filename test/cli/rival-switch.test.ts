import { describe, expect, it } from "vitest";
import { switchOf } from "../../lib/command/takeover/rival-switch.ts";
import type { ClusterApiAnswer, KubeconfigApi } from "../../lib/stack/cluster/kubeconfig-api.ts";
import type { Json } from "../../lib/rules/model/json.ts";

const CONFLICT: ClusterApiAnswer<never> = {
  kind: "failed",
  failure: { code: 409, reason: "Conflict", message: "the object has been modified" },
};

/** An object whose controller writes its status between the next so many reads and writes. */
const written = (kind: string, conflicts: number, first?: Json) => {
  let live: Json = first ?? {
    kind,
    metadata: {
      namespace: "shop",
      name: "web",
      resourceVersion: "1",
      annotations: { "autoscaling.keda.sh/paused": "true" },
    },
    spec: { dryRun: true },
  };
  let [version, left] = [1, conflicts];
  const api: Pick<KubeconfigApi, "get" | "replace"> = {
    get: async () => ({ kind: "done", value: live }),
    replace: async (_kind, _ref, object) => {
      if (left-- > 0) {
        live = {
          ...live,
          metadata: { ...(live["metadata"] as Json), resourceVersion: String(++version) },
        };
        return CONFLICT;
      }
      live = object;
      return { kind: "done", value: live };
    },
  };
  return { api: api as KubeconfigApi, live: () => live };
};

describe("what another controller goes on with", () => {
  it.each([
    ["WatermarkPodAutoscaler", { spec: { dryRun: false } }],
    ["ScaledObject", { metadata: { annotations: {} } }],
  ] as const)(
    "is a %s that its controller writes to meanwhile, too: it is read again",
    async (kind, wanted) => {
      const { api, live } = written(kind, 3);
      const kept = { kind, metadata: { namespace: "shop", name: "web" }, spec: {} };
      expect((await switchOf(kind).goOn(api, kept)).kind).toBe("done");
      expect(live()).toMatchObject({ ...wanted });
    },
  );

  it.each([
    ["v1alpha2", "applyPolicy", "mode", "Preview", "Apply"],
    ["v1alpha1", "policy", "applyMode", "None", "All"],
  ])(
    "is a DatadogPodAutoscaler of %s, whose other fields stay",
    async (version, policy, field, rest, applied) => {
      const spec = { owner: "Local", [policy]: { scaleUp: { strategy: "Max" }, [field]: applied } };
      const kept = {
        apiVersion: `datadoghq.com/${version}`,
        kind: "DatadogPodAutoscaler",
        metadata: { namespace: "shop", name: "web", resourceVersion: "1" },
        spec,
      };
      const { api, live } = written("DatadogPodAutoscaler", 0, kept);
      const { isAtRest, rest: bring, goOn, get } = switchOf("DatadogPodAutoscaler");
      expect(isAtRest(kept)).toBe(false);
      expect((await bring(api, kept)).kind).toBe("done");
      expect(live()["spec"]).toEqual({
        ...spec,
        [policy]: { scaleUp: { strategy: "Max" }, [field]: rest },
      });
      expect(isAtRest(live())).toBe(true);
      expect((await goOn(api, kept)).kind).toBe("done");
      expect(live()["spec"]).toEqual(spec);
      expect(await get(api, { namespace: "shop", name: "web" })).toEqual({
        kind: "done",
        value: live(),
      });
    },
  );

  it("is no DatadogPodAutoscaler that Datadog's application writes", async () => {
    const remote = {
      apiVersion: "datadoghq.com/v1alpha2",
      kind: "DatadogPodAutoscaler",
      metadata: { namespace: "shop", name: "web" },
      spec: { owner: "Remote" },
    };
    const { api, live } = written("DatadogPodAutoscaler", 0, remote);
    expect(await switchOf("DatadogPodAutoscaler").rest(api, remote)).toMatchObject({
      kind: "failed",
      failure: { message: expect.stringContaining("set its preview there") },
    });
    expect(live()).toBe(remote);
  });

  it("is given up after five writes by others, with the answer of the server", async () => {
    const { api, live } = written("WatermarkPodAutoscaler", 5);
    expect(
      await switchOf("WatermarkPodAutoscaler").goOn(api, {
        metadata: { namespace: "shop", name: "web" },
        spec: {},
      }),
    ).toEqual(CONFLICT);
    expect(live()).toMatchObject({ spec: { dryRun: true } });
  });
});
