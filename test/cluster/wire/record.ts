import { mkdirSync, writeFileSync } from "node:fs";
import * as https from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { controlPlaneBinaries } from "../../control-plane/binaries.ts";
import { type ControlPlane, startControlPlane } from "../../control-plane/start.ts";
import { RECORDED, RECORDED_FOLDER } from "./recorded.ts";

/**
 * `node test/cluster/wire/record.ts`: makes a few objects on a real API server and keeps its
 * answers to the same LISTs in both forms.
 */
const NAMESPACE = "shop";

const container = (name: string, more: object = {}) => ({
  name,
  image: "none",
  resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "0.5" } },
  ...more,
});

const workloadSpec = (app: string) => ({
  replicas: 3,
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [container("main")] } },
});

const pod = (name: string, metadata: object, spec: object) => ({
  metadata: { name, labels: { app: "web", "pod-template-hash": "5d4f" }, ...metadata },
  spec: { containers: [container("main")], ...spec },
});

const OWNER = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: "web-5d4f",
  uid: "0b0cf6ee-57de-4a07-8d6e-000000000001",
  controller: true,
};

const PODS = [
  pod(
    "web-a",
    { ownerReferences: [OWNER] },
    { initContainers: [container("setup"), container("mesh", { restartPolicy: "Always" })] },
  ),
  pod(
    "web-b",
    { finalizers: ["example.com/keep"], labels: undefined },
    { resources: { requests: { cpu: "250m" } } },
  ),
  pod(
    "web-c",
    {},
    { containers: [{ name: "bare", image: "none" }], terminationGracePeriodSeconds: 0 },
  ),
];

const condition = (type: string, status: string, second: number) => ({
  type,
  status,
  lastTransitionTime: `2026-05-01T12:00:${String(second).padStart(2, "0")}Z`,
});

const STATUSES = {
  "web-a": {
    phase: "Running",
    startTime: "2026-05-01T12:00:00Z",
    conditions: [condition("PodScheduled", "True", 1), condition("Ready", "True", 10)],
  },
  "web-b": {
    phase: "Running",
    startTime: "2026-05-01T12:00:05Z",
    conditions: [condition("Ready", "False", 20)],
  },
};

const HPA = (name: string, spec: object) => ({
  metadata: {
    name,
    ownerReferences:
      name === "of-keda"
        ? [{ ...OWNER, apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "keda" }]
        : [],
  },
  spec: {
    maxReplicas: 5,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      },
    ],
    ...spec,
  },
});

const fill = async (plane: ControlPlane): Promise<void> => {
  const make = async (method: string, path: string, body: object, type?: string): Promise<void> => {
    const { status, body: answer } = await plane.call(method, path, body, type);
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${answer}`);
  };
  const [core, apps, hpas] = ["/api/v1", "/apis/apps/v1", "/apis/autoscaling/v2"].map(
    (base) => `${base}/namespaces/${NAMESPACE}`,
  );
  await make("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  for (const one of PODS) await make("POST", `${core}/pods`, one);
  for (const [name, status] of Object.entries(STATUSES))
    await make("PATCH", `${core}/pods/${name}/status`, { status }, "application/merge-patch+json");
  await make("DELETE", `${core}/pods/web-b`, {});
  const expressions = {
    matchLabels: { app: "web" },
    matchExpressions: [{ key: "tier", operator: "In", values: ["front", "back"] }],
  };
  const labels = { app: "web", tier: "front" };
  await make("POST", `${apps}/deployments`, {
    metadata: { name: "web" },
    spec: {
      ...workloadSpec("web"),
      selector: expressions,
      template: { ...workloadSpec("web").template, metadata: { labels } },
    },
  });
  await make(
    "PATCH",
    `${apps}/deployments/web/status`,
    { status: { replicas: 2, observedGeneration: 1 } },
    "application/merge-patch+json",
  );
  await make("POST", `${apps}/deployments`, {
    metadata: { name: "asleep" },
    spec: { ...workloadSpec("asleep"), replicas: 0 },
  });
  await make("POST", `${apps}/statefulsets`, {
    metadata: { name: "store" },
    spec: { ...workloadSpec("store"), serviceName: "store" },
  });
  await make(
    "PATCH",
    `${apps}/statefulsets/store/status`,
    { status: { replicas: 4 } },
    "application/merge-patch+json",
  );
  await make("POST", `${apps}/replicasets`, {
    metadata: { name: "plain" },
    spec: workloadSpec("plain"),
  });
  await make(
    "PATCH",
    `${apps}/replicasets/plain/status`,
    { status: { replicas: 5 } },
    "application/merge-patch+json",
  );
  await make("POST", `${core}/replicationcontrollers`, {
    metadata: { name: "old" },
    spec: { ...workloadSpec("old"), selector: { app: "old" } },
  });
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  for (const name of ["web", "of-keda"])
    await make("POST", `${hpas}/horizontalpodautoscalers`, HPA(name, { scaleTargetRef }));
};

const answerOf = (
  { url, ca, token }: ControlPlane,
  path: string,
  accept: string,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const headers = { accept, authorization: `Bearer ${token}` };
    const request = https.get(new URL(path, url), { ca, headers, agent: false }, (response) => {
      buffer(response).then(resolve, reject);
    });
    request.on("error", reject);
  });

const record = async (folder: string): Promise<void> => {
  const plane = await startControlPlane(folder);
  try {
    await fill(plane);
    mkdirSync(RECORDED_FOLDER, { recursive: true });
    for (const { name, path } of RECORDED) {
      writeFileSync(
        join(RECORDED_FOLDER, `${name}.json`),
        await answerOf(plane, path, "application/json"),
      );
      writeFileSync(
        join(RECORDED_FOLDER, `${name}.pb`),
        await answerOf(plane, path, "application/vnd.kubernetes.protobuf"),
      );
    }
  } finally {
    await plane.close();
  }
};

const binaries = controlPlaneBinaries();
if (binaries.kind === "missing") throw new Error(`Cannot record answers: ${binaries.message}`);
await record(binaries.folder);
