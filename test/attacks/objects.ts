import { randomBytes } from "node:crypto";
import {
  type Kubernetes,
  kubernetes,
  pod,
  podMetrics,
  type Raw,
  workload,
} from "../cluster/stand-in/kubernetes.ts";
import { TENANT } from "../sync/tenants-attacks.ts";
import type { Attack, Seen } from "./attack.ts";
import { type Checkout, checkoutOf } from "./checkout.ts";
import { subjectOn } from "./subject.ts";

const OTHERS = ["web", "api", "jobs", "mail"] as const;
const SYNCS = 6;
/**
 * A sync stores at most 4 MB of objects, in units of a kilobyte, and then the windows and the
 * journal.
 */
const UNITS_MAX = 6_000;

const object = (
  namespace: string,
  name: string,
  at: { readonly version: number; readonly annotations?: Raw; readonly owner?: string },
): Raw => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: {
    ...{
      namespace,
      name,
      uid: `object-${namespace}-${name}`,
      generation: at.version,
      resourceVersion: String(at.version),
    },
    ...(at.annotations && { annotations: at.annotations }),
  },
  spec: {
    ...{
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 10 + at.version,
    },
    metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 50 }],
    ...(at.owner !== undefined && { owner: at.owner }),
  },
});

const clusterWith = async (tenant: readonly Raw[]): Promise<Kubernetes> => {
  const server = await kubernetes();
  const shop = (make: (namespace: string, name: string) => Raw): Raw[] =>
    OTHERS.map((name) => make("shop", name));
  server.collections.set(
    "/apis/apps/v1/deployments",
    shop((namespace, name) => workload(namespace, name, 1)),
  );
  // A PodAutoscaler counts the pods that its workload owns.
  const owned = (namespace: string, name: string): Raw => {
    const made = pod(namespace, name);
    const ownerReferences = [{ kind: "ReplicaSet", name: `${name}-5d4f8c7b9d` }];
    return { ...made, metadata: { ...(made["metadata"] as Raw), ownerReferences } };
  };
  server.collections.set("/api/v1/pods", shop(owned));
  // A PodAutoscaler counts no sample that is old.
  const timestamp = new Date().toISOString();
  server.collections.set(
    "/apis/metrics.k8s.io/v1beta1/pods",
    shop((namespace, name) => ({ ...podMetrics(namespace, name), timestamp })),
  );
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  server.documents.set("/apis/metrics.k8s.io", {
    versions: [{ version: "v1beta1" }],
    preferredVersion: { version: "v1beta1" },
  });
  server.documents.set("/apis/tidemark.dev", {
    versions: [{ version: "v1" }],
    preferredVersion: { version: "v1" },
  });
  server.documents.set("/apis/tidemark.dev/v1", {
    resources: [{ name: "podautoscalers", kind: "PodAutoscaler", namespaced: true }],
  });
  server.collections.set("/apis/tidemark.dev/v1/podautoscalers", [
    ...tenant,
    ...shop((namespace, name) => object(namespace, name, { version: 1 })),
  ]);
  return server;
};

interface Played {
  readonly scaled: number;
  /** The dearest sync but the first. */
  readonly units: number;
  readonly historyBytes: number;
}

const played = async (
  code: Checkout,
  tenant: (sync: number) => readonly Raw[],
): Promise<Played> => {
  const server = await clusterWith(tenant(0));
  const subject = await subjectOn(code, server, {
    record: { specsFromCluster: ["PodAutoscaler"] },
  });
  let [units, historyBytes] = [0, 0];
  for (let sync = 0; sync < SYNCS; sync++) {
    const objects = server.collections.get("/apis/tidemark.dev/v1/podautoscalers") ?? [];
    const edited = tenant(sync);
    objects.splice(0, edited.length, ...edited);
    Object.assign(subject.stored, { units: 0, historyBytes: 0 });
    await subject.next();
    if (sync > 0)
      [units, historyBytes] = [
        Math.max(units, subject.stored.units),
        Math.max(historyBytes, subject.stored.historyBytes),
      ];
  }
  const now = server.collections.get("/apis/apps/v1/deployments") ?? [];
  const scaled = now.filter(
    ({ spec, metadata }) =>
      (spec as Raw)["replicas"] === 2 && (metadata as Raw)["namespace"] === "shop",
  ).length;
  subject.client.close();
  await server.close();
  return { scaled, units, historyBytes };
};

const attack = (
  name: string,
  tenant: (sync: number) => readonly Raw[],
  isHeld: (played: Played) => boolean = () => true,
): Attack => ({
  name: `a tenant with ${name}`,
  play: async (folder): Promise<Seen> => {
    const code = await checkoutOf(folder);
    const [control, beside] = [await played(code, () => []), await played(code, tenant)];
    const { scaled, units, historyBytes } = beside;
    return {
      held: scaled === OTHERS.length && isHeld(beside),
      isUnknown: control.scaled < OTHERS.length,
      saw: `${scaled} of ${OTHERS.length} others scaled in ${SYNCS} syncs (without it ${control.scaled}); the dearest sync after the first: ${units} write units, ${historyBytes} bytes of history`,
    };
  },
});

const times = (count: number, make: (at: number) => Raw): readonly Raw[] =>
  Array.from({ length: count }, (_, at) => make(at));
const note = { note: "n".repeat(250_000) };
const owner = randomBytes(60_000).toString("base64");

/** Points 1.1 and 1.2: objects of one namespace that hold specs. */
export const ATTACKS: readonly Attack[] = [
  attack("10,000 PodAutoscalers", () =>
    times(10_000, (at) => object(TENANT, `a-${at}`, { version: 1 })),
  ),
  attack("140 PodAutoscalers with annotations of 250 KB", () =>
    times(140, (at) => object(TENANT, `a-${at}`, { version: 1, annotations: note })),
  ),
  attack("200 PodAutoscalers that are edited before each sync", (sync) =>
    times(200, (at) => object(TENANT, `a-${at}`, { version: sync + 1 })),
  ),
  attack(
    "200 PodAutoscalers of 80 KB that are edited before each sync",
    (sync) =>
      times(200, (at) =>
        object(TENANT, `a-${at}`, { version: sync + 1, owner: `${at}${sync}${owner}` }),
      ),
    ({ units }) => units < UNITS_MAX,
  ),
];
