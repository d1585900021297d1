import { isObject } from "../../rules/model/json.ts";
import type { Resources, WorkloadModel } from "./definition.ts";
import type { KubeObject } from "./list-selectors.ts";
import { isReady, isRunning, replicaSetName, type SimulatedPod } from "./simulated-pod.ts";
import { createdMs } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";

export const CONTAINER = "app";

/** Times of the API are whole seconds. */
export const isoTime = (atMs: number): string => {
  const second = Math.floor(atMs / SECOND_MS);
  const known = TEXTS.get(second);
  if (known !== undefined) return known;
  const text = `${new Date(atMs).toISOString().slice(0, 19)}Z`;
  if (TEXTS.size >= TEXTS_MAX) TEXTS.clear();
  TEXTS.set(second, text);
  return text;
};

/** A list of thousands of pods has few different times, and each is slow to make. */
const TEXTS_MAX = 10_000;
const TEXTS = new Map<number, string>();

/**
 * Makes the object of a workload, a pod or a state once for each phase that shows in it. A list of
 * thousands is asked for in every sync, and few of them change in between. `Made` is never changed
 * after it was made.
 */
const kept = <Of extends object, Made extends object>(): ((
  of: Of,
  phase: number,
  make: () => Made,
) => Made) => {
  const known = new WeakMap<Of, { readonly phase: number; readonly made: Made }>();
  return (of, phase, make) => {
    const before = known.get(of);
    if (before?.phase === phase) return before.made;
    const made = make();
    known.set(of, { phase, made });
    JSON_TEXTS.set(made, {});
    return made;
  };
};

/** The JSON text of each object that is kept, from the first list that has it on. */
const JSON_TEXTS = new WeakMap<object, { text?: string }>();

/**
 * The JSON of an answer. Objects of a list that were in an earlier one are not written anew: most
 * pods of a cluster stay as they are for hours.
 */
export const jsonOf = (answer: unknown): string => {
  if (!isObject(answer) || !Array.isArray(answer["items"])) return JSON.stringify(answer);
  const { items, ...head } = answer;
  const texts = (items as readonly object[]).map((item) => {
    const known = JSON_TEXTS.get(item);
    if (!known) return JSON.stringify(item);
    known.text ??= JSON.stringify(item);
    return known.text;
  });
  return `${JSON.stringify(head).slice(0, -1)},"items":[${texts.join(",")}]}`;
};

/** Of the API that has the kind of a workload. */
export const apiVersionOf = ({
  kind,
  apiVersion,
}: Pick<WorkloadModel, "kind" | "apiVersion">): string =>
  apiVersion ?? (kind === "ReplicationController" ? "v1" : "apps/v1");

const isDeployment = ({ kind, apiVersion }: WorkloadModel): boolean =>
  kind === "Deployment" && apiVersion === undefined;

export const labelsOf = ({ name }: WorkloadModel): Readonly<Record<string, string>> => ({
  app: name,
});

export const podLabels = (model: WorkloadModel) => ({
  ...labelsOf(model),
  "pod-template-hash": model.podTemplateHash,
});

const quantities = ({ cpuMillicores, memoryBytes }: Resources) => ({
  cpu: `${cpuMillicores}m`,
  memory: String(memoryBytes),
});

const podSpec = (model: WorkloadModel) => ({
  containers: [
    {
      name: CONTAINER,
      image: `registry.invalid/${model.name}:1`,
      resources: { requests: quantities(model.requests), limits: quantities(model.limits) },
    },
  ],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
});

const template = (model: WorkloadModel, labels: Readonly<Record<string, string>>) => ({
  metadata: { labels },
  spec: podSpec(model),
});

/** The controllers act at once here: status follows spec within the same instant. */
export const deployment = (
  { model, state, live }: SimulatedWorkload,
  nowMs: number,
): KubeObject => {
  const ready = live.filter((pod) => isReady(pod, nowMs)).length;
  return keptDeployment(state, ready, () => ({
    metadata: {
      ...identity(model, model.name, model.deploymentUid, state.version),
      generation: state.generation,
      labels: labelsOf(model),
      ...(state.scaledBy !== undefined && {
        managedFields: [scaledEntry(state.scaledBy, apiVersionOf(model))],
      }),
    },
    spec: {
      replicas: state.replicas,
      // A ReplicationController has equality selectors only.
      selector:
        model.kind === "ReplicationController" ? labelsOf(model) : { matchLabels: labelsOf(model) },
      template: template(model, labelsOf(model)),
      ...(isDeployment(model) && { strategy: { type: "RollingUpdate" } }),
    },
    status: {
      ...counts(state.generation, live.length, ready),
      ...(live.length > 0 && { updatedReplicas: live.length }),
      ...(live.length > ready && { unavailableReplicas: live.length - ready }),
    },
  }));
};

/** The entry of the last writer of the count. The entry of a scale has no time. */
const scaledEntry = (manager: string, apiVersion: string): object => ({
  ...{ manager, operation: "Update", apiVersion, fieldsType: "FieldsV1" },
  fieldsV1: { "f:spec": { "f:replicas": {} } },
  subresource: "scale",
});

const keptDeployment = kept<SimulatedWorkload["state"], KubeObject>();

export const replicaSet = (
  { model, state, live }: SimulatedWorkload,
  nowMs: number,
): KubeObject => {
  const labels = podLabels(model);
  const ready = live.filter((pod) => isReady(pod, nowMs)).length;
  return keptReplicaSet(state, ready, () => ({
    metadata: {
      ...identity(model, replicaSetName(model), model.replicaSetUid, state.version),
      generation: state.generation,
      labels,
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: model.name,
          uid: model.deploymentUid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      replicas: state.replicas,
      selector: { matchLabels: labels },
      template: template(model, labels),
    },
    status: { ...counts(state.generation, live.length, ready), replicas: live.length },
  }));
};

const keptReplicaSet = kept<SimulatedWorkload["state"], KubeObject>();

/** A real server leaves out the counts that are 0. */
const counts = (observedGeneration: number, replicas: number, ready: number) => ({
  observedGeneration,
  ...(replicas > 0 && { replicas }),
  ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
});

const identity = (model: WorkloadModel, name: string, uid: string, version: number) => ({
  name,
  namespace: model.namespace,
  uid,
  resourceVersion: String(version),
  creationTimestamp: isoTime(createdMs(model)),
});

export const pod = (model: WorkloadModel, simulated: SimulatedPod, nowMs: number): KubeObject =>
  keptPod(simulated, phaseOf(simulated, nowMs), () => podAt(model, simulated, nowMs));

const keptPod = kept<SimulatedPod, KubeObject>();

/** How many of its instants have passed: nothing else of a pod's object follows from the time. */
const phaseOf = (simulated: SimulatedPod, nowMs: number): number =>
  Number(simulated.startedMs <= nowMs) +
  Number(isRunning(simulated, nowMs)) +
  Number(isReady(simulated, nowMs));

const podAt = (model: WorkloadModel, simulated: SimulatedPod, nowMs: number): KubeObject => ({
  metadata: {
    ...identity(model, simulated.name, simulated.uid, simulated.version),
    creationTimestamp: isoTime(simulated.createdMs),
    ...(simulated.deletedMs !== undefined && {
      deletionTimestamp: isoTime(simulated.deletedMs + 30_000),
      deletionGracePeriodSeconds: 30,
    }),
    generateName: `${replicaSetName(model)}-`,
    labels: podLabels(model),
    ownerReferences: [{ ...podOwner(model), controller: true, blockOwnerDeletion: true }],
  },
  spec: { ...podSpec(model), ...(simulated.startedMs <= nowMs && { nodeName: "node-1" }) },
  status: podStatus(simulated, nowMs),
});

/** Only the pods of a Deployment belong to a ReplicaSet between. */
const podOwner = (model: WorkloadModel): object => {
  if (isDeployment(model))
    return {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: replicaSetName(model),
      uid: model.replicaSetUid,
    };
  return {
    apiVersion: apiVersionOf(model),
    kind: model.kind,
    name: model.name,
    uid: model.deploymentUid,
  };
};

/** A pod on no node yet has neither a start time nor a Ready condition. */
const podStatus = (simulated: SimulatedPod, nowMs: number) => {
  if (simulated.startedMs > nowMs) return { phase: "Pending", qosClass: "Burstable" };
  const running = isRunning(simulated, nowMs);
  const ready = isReady(simulated, nowMs);
  const readySinceMs = ready ? simulated.readyMs : (simulated.deletedMs ?? simulated.startedMs);
  const condition = (type: string, holds: boolean, sinceMs: number) => ({
    type,
    status: holds ? "True" : "False",
    lastTransitionTime: isoTime(sinceMs),
  });
  return {
    phase: running ? "Running" : "Pending",
    conditions: [
      condition("Initialized", true, simulated.startedMs),
      condition("Ready", ready, readySinceMs),
      condition("ContainersReady", ready, readySinceMs),
      condition("PodScheduled", true, simulated.startedMs),
    ],
    startTime: isoTime(simulated.startedMs),
    containerStatuses: [
      { name: CONTAINER, ready, restartCount: 0, state: containerState(simulated, running) },
    ],
    qosClass: "Burstable",
  };
};

const containerState = (simulated: SimulatedPod, running: boolean) =>
  running
    ? { running: { startedAt: isoTime(simulated.runningMs) } }
    : { waiting: { reason: "ContainerCreating" } };

/** `spec.replicas` is the given count in the answer to a dry run. */
export const scale = ({ model, state, live }: SimulatedWorkload, replicas = state.replicas) => ({
  kind: "Scale",
  apiVersion: "autoscaling/v1",
  metadata: identity(model, model.name, model.deploymentUid, state.version),
  spec: replicas === 0 ? {} : { replicas },
  status: { replicas: live.length, selector: `app=${model.name}` },
});
