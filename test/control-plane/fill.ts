import { randomBytes, randomUUID } from "node:crypto";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import type { ControlPlane } from "./start.ts";

/** A workload to be made: its deployment, and its running pods. */
export interface App {
  readonly namespace: string;
  readonly name: string;
  /** How many pods it has. Default 1. */
  readonly pods?: number;
}

/** The names of the pods of a workload. */
export const podsOf = ({ name, pods = 1 }: App): readonly string[] =>
  Array.from({ length: pods }, (_, at) => `${name}-${at}`);

const PER_NAMESPACE = 50;
const PARALLEL = 16;

export const appsOf = (count: number): readonly App[] =>
  Array.from({ length: count }, (_, at) => ({
    namespace: `team-${Math.floor(at / PER_NAMESPACE)}`,
    name: `app-${String(at).padStart(5, "0")}`,
  }));

/** The ReplicaSet that a deployment would have made: without it a pod belongs to nobody. */
const ownerOf = (name: string) => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: `${name}-5d4f8c7b9d`,
  uid: randomUUID(),
  controller: true,
});

const template = (name: string) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: "app", image: "none", resources: { requests: { cpu: "100m" } } }] },
});

const addressOf = (): string => `10.${[...randomBytes(3)].join(".")}`;

/** What a kubelet writes of a container: most of it differs from pod to pod. */
const containerStatus = (startedAt: string) => ({
  name: "app",
  image: "none",
  imageID: `registry.example/none@sha256:${"ab".repeat(32)}`,
  containerID: `containerd://${randomBytes(32).toString("hex")}`,
  ready: true,
  restartCount: 0,
  started: true,
  state: { running: { startedAt } },
});

/**
 * Makes namespaces, and for each workload a deployment and its pods, Running and Ready: no
 * controller runs that would.
 */
export const fillCluster = async (
  plane: Pick<ControlPlane, "call">,
  apps: readonly App[],
  onProgress: (made: number) => void = () => undefined,
): Promise<void> => {
  const make = async (method: string, path: string, body: object, type?: string): Promise<void> => {
    const { status, body: answer } = await plane.call(method, path, body, type);
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${answer}`);
  };
  await mapWithLimit([...new Set(apps.map(({ namespace }) => namespace))], PARALLEL, (name) =>
    make("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } }),
  );
  const sinceText = new Date(Date.now() - 600_000).toISOString().replace(/\.\d+Z$/, "Z");
  const condition = (type: string) => ({ type, status: "True", lastTransitionTime: sinceText });
  let made = 0;
  await mapWithLimit(apps, PARALLEL, async (app) => {
    const { namespace, name } = app;
    const pods = podsOf(app);
    const spec = {
      replicas: pods.length,
      selector: { matchLabels: { app: name } },
      template: template(name),
    };
    await make("POST", `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, labels: { app: name } },
      spec,
    });
    const owner = ownerOf(name);
    for (const podName of pods) {
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: podName, labels: { app: name }, ownerReferences: [owner] },
        spec: template(name).spec,
      };
      await make("POST", `/api/v1/namespaces/${namespace}/pods`, pod);
      const address = addressOf();
      const status = {
        ...{ hostIP: "10.0.0.5", podIP: address, podIPs: [{ ip: address }] },
        containerStatuses: [containerStatus(sinceText)],
        phase: "Running",
        startTime: sinceText,
        conditions: ["Ready", "ContainersReady", "Initialized", "PodScheduled"].map(condition),
      };
      await make(
        "PATCH",
        `/api/v1/namespaces/${namespace}/pods/${podName}/status`,
        { status },
        "application/merge-patch+json",
      );
    }
    const count = pods.length;
    const replicas = { status: { replicas: count, readyReplicas: count, observedGeneration: 1 } };
    await make(
      "PATCH",
      `/apis/apps/v1/namespaces/${namespace}/deployments/${name}/status`,
      replicas,
      "application/merge-patch+json",
    );
    onProgress(++made);
  });
};
