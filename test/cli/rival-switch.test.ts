import { describe, expect, it } from "vitest";
import { switchOf } from "../../lib/command/takeover/rival-switch.ts";
import type { ClusterApiAnswer, KubeconfigApi } from "../../lib/stack/cluster/kubeconfig-api.ts";
import type { Json } from "../../lib/rules/model/json.ts";

const CONFLICT: ClusterApiAnswer<never> = {
  kind: "failed",
  failure: { code: 409, reason: "Conflict", message: "the object has been modified" },
};

/** An object whose controller writes its status between the next so many reads and writes. */
const written = (kind: string, conflicts: number) => {
  let live: Json = {
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
