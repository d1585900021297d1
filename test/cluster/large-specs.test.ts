import { afterEach, beforeEach, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/cluster/port.ts";
import { SPEC_KINDS } from "../../lib/model/spec-kinds.ts";
import { type Kubernetes, kubernetes, type Raw } from "./stand-in/kubernetes.ts";
import { clientTo } from "./stand-in/watched.ts";

const PATH = "/apis/tidemark.dev/v1/podautoscalers";
const OWN = SPEC_KINDS.filter(({ kind }) => kind === "PodAutoscaler");
const LARGE = 140;

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const object = (namespace: string, name: string, annotations: Raw): Raw => ({
  metadata: { namespace, name, uid: `uid-${name}`, resourceVersion: "7", generation: 1, labels: { team: namespace }, annotations },
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name }, minReplicas: 1, maxReplicas: 10 },
});

it("140 objects with annotations of 250 KB do not stop the LIST of the others, and none of the annotations is kept", async () => {
  const note = { "example.com/note": "n".repeat(250_000) };
  server.collections.set(PATH, [
    ...Array.from({ length: LARGE }, (_, at) => object("attack", `a-${at}`, note)),
    object("shop", "web", { "example.com/note": "short" }),
  ]);
  const { listings } = await client.listSpecs({ kinds: OWN, namespaces: "all", knownVersion: () => undefined, budgetMs: 30_000 });
  const objects = listings.flatMap(({ outcome }) => (outcome.kind === "listed" ? outcome.objects : []));
  expect(objects).toHaveLength(LARGE + 1);
  expect(objects.every(({ manifest = "" }) => manifest.length < 400 && !manifest.includes("note"))).toBe(true);
  expect(objects.at(-1)?.manifest).toContain('"labels":{"team":"shop"}');
});
