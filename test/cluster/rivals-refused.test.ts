import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient, ObserveLimits } from "../../lib/stack/cluster/cluster-client.ts";
import { fillWith, type Kubernetes, kubernetes, type Raw } from "./stand-in/kubernetes.ts";
import { status } from "./stand-in/server.ts";
import { clientTo, seen, WHOLE, watch } from "./stand-in/watched.ts";

const HPAS = "/apis/autoscaling/v2/horizontalpodautoscalers";
const HPAS_OF_SHOP = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers";
const GROUP = "/apis/keda.sh";
const OBJECTS_OF_SHOP = "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects";
const WEB = watch("shop", "web");
const TARGET = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const hpa: Raw = {
  metadata: { namespace: "shop", name: "other" },
  spec: { scaleTargetRef: TARGET },
};
const queue: Raw = {
  metadata: { namespace: "shop", name: "queue" },
  spec: { scaleTargetRef: TARGET },
};
/** Longer than the answers of discovery are kept. */
const LATER_MS = 11 * 60_000;

let server: Kubernetes;
let client: ClusterClient;
let nowMs: number;
beforeEach(async () => {
  server = await kubernetes();
  nowMs = Date.now();
  client = clientTo(server, { clock: () => nowMs });
  fillWith(server, [["shop", "web"]]);
  server.collections.set(HPAS, []);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const refuse = (path: string, code: number): void =>
  void server.overrides.push({
    match: ({ url }) => decodeURIComponent(url.pathname) === path,
    answer: status(code, "No", "not for you"),
  });

const LOOKED: ReadonlySet<string> = new Set(["HorizontalPodAutoscaler", "ScaledObject"]);

/** The rivals of "web", and how the LISTs of HPAs and ScaledObjects ended. */
const look = async (limits: ObserveLimits = WHOLE) => {
  const { rivals, looks = [] } = seen(await client.observe([WEB], limits), WEB);
  return {
    rivals: rivals.map(({ name }) => name),
    looks: looks.filter(({ kind }) => LOOKED.has(kind)),
  };
};

describe("a LIST of other controllers that is refused where it was answered before", () => {
  it.each([403, 404])(
    "leaves what it has shown after a %i, is told as lost, and is sent again in every sync",
    async (code) => {
      server.collections.set(HPAS, [hpa]);
      expect(await look()).toMatchObject({
        rivals: ["other"],
        looks: [{ outcome: "answered", rivals: [{ name: "other" }] }, { outcome: "refused" }],
      });
      refuse(HPAS_OF_SHOP, code);
      const lost = {
        rivals: ["other"],
        looks: [
          { outcome: "refused", message: "not for you", lost: true, everywhere: false },
          { outcome: "refused" },
        ],
      };
      expect([await look(), await look()]).toMatchObject([lost, lost]);
      server.overrides.length = 0;
      server.collections.set(HPAS, []);
      expect(await look()).toMatchObject({
        rivals: [],
        looks: [{ outcome: "answered", rivals: [] }, { outcome: "refused" }],
      });
    },
  );

  it("leaves what it has shown where discovery leaves out the group, as of an API server that starts", async () => {
    server.documents.set(GROUP, {
      versions: [{ version: "v1alpha1" }],
      preferredVersion: { version: "v1alpha1" },
    });
    server.collections.set("/apis/keda.sh/v1alpha1/scaledobjects", [queue]);
    expect(await look()).toMatchObject({ rivals: ["queue"] });
    nowMs += LATER_MS;
    for (const path of [GROUP, OBJECTS_OF_SHOP]) refuse(path, 404);
    expect(await look()).toMatchObject({
      rivals: ["queue"],
      looks: [{}, { kind: "ScaledObject", outcome: "refused", lost: true }],
    });
  });

  it("is sent in every sync by a new process, which is told that it was answered", async () => {
    refuse(HPAS_OF_SHOP, 403);
    refuse(GROUP, 404);
    const limits = {
      ...WHOLE,
      knownRivalKinds: new Set(["HorizontalPodAutoscaler", "ScaledObject"]),
    };
    const refused = [
      { outcome: "refused", lost: false, everywhere: false },
      { outcome: "refused", lost: false, everywhere: true },
    ];
    expect([(await look(limits)).looks, (await look(limits)).looks]).toMatchObject([
      refused,
      refused,
    ]);
    expect(
      server.paths().filter((path) => path.endsWith(HPAS_OF_SHOP) || path.endsWith(GROUP)),
    ).toHaveLength(4);
  });
});
