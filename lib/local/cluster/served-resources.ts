import type { WorkloadKind, WorkloadModel } from "./definition.ts";
import { apiVersionOf, deployment, isoTime, pod, replicaSet } from "./kube-objects.ts";
import type { KubeObject } from "./list-selectors.ts";
import { podMetrics } from "./metrics-objects.ts";
import { type CustomObject, HPA_KIND, KEPT_KINDS, type KeptKind } from "./objects/custom-objects.ts";
import { coreEvent } from "./objects/events.ts";
import { scrape } from "./reading.ts";
import { createdMs } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/** The simulated cluster as the API shows it at one instant. */
export interface World {
  /** resourceVersion of the whole. */
  readonly version: number;
  /** In the order of their keys. */
  readonly workloads: readonly SimulatedWorkload[];
  readonly nowMs: number;
  /** Relative amplitude of the noise on CPU readings. */
  readonly noise: number;
  /** The uid of the namespace kube-system. */
  readonly uid: string;
  /** resourceVersion of only the autoscalers, from which a watch of them goes on. */
  readonly objectsVersion: number;
  /** Autoscalers as objects of the cluster. */
  readonly objects: readonly CustomObject[];
  /** In the form of events.k8s.io/v1. */
  readonly events: readonly KubeObject[];
}

/** A kind of object that can be listed and read. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** How a "not found" names it, where that is not the resource. */
  readonly missingAs?: string;
  /** Fields that a fieldSelector may name. */
  readonly fields: readonly string[];
  readonly scalable: boolean;
  /** The kind of the objects that people may write. */
  readonly custom?: KeptKind;
  /** Kinds of aggregated APIs know neither versions nor pages. */
  readonly stored: boolean;
  readonly list: (world: World) => readonly KubeObject[];
}

const NAME_FIELDS = ["metadata.name", "metadata.namespace"];
const APPS = { group: "apps", version: "v1", namespaced: true, fields: NAME_FIELDS, stored: true } as const;
const CORE = { group: "", version: "v1", scalable: false, stored: true } as const;

const EVENTS = {
  resource: "events",
  singular: "event",
  kind: "Event",
  shortNames: ["ev"],
  namespaced: true,
  scalable: false,
  stored: true,
} as const;
const EVENT_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion"];

const SHORT_NAMES: Readonly<Record<string, string>> = {
  PodAutoscaler: "pa",
  WatermarkPodAutoscaler: "wpa",
  HorizontalPodAutoscaler: "hpa",
  ScaledObject: "so",
};

const keptResource = (of: KeptKind): Resource => ({
  group: of.group,
  version: of.version,
  resource: of.plural,
  singular: of.kind.toLowerCase(),
  kind: of.kind,
  shortNames: [SHORT_NAMES[of.kind] ?? of.plural],
  namespaced: true,
  fields: NAME_FIELDS,
  scalable: false,
  custom: of,
  stored: true,
  list: ({ objects }) => objects.filter(({ kind }) => kind === of.kind).map((object) => ({ ...object, apiVersion: of.apiVersion })),
});

/** The first version of the HPA can be read, with the spec as the second has it. */
const { custom: _writable, ...READABLE } = keptResource(HPA_KIND);
const HPA_OF_V1: Resource = { ...READABLE, version: "v1" };

const namespaces = ({ workloads, uid }: World): readonly KubeObject[] => {
  const byName = new Map<string, KubeObject>();
  for (const { model } of workloads) byName.set(model.namespace, namespaceOf(model.namespace, { creationTimestamp: isoTime(createdMs(model)) }));
  byName.set(SYSTEM, namespaceOf(SYSTEM, { uid }));
  return [...byName.values()];
};

/** The namespace whose uid is the identity of a cluster. */
const SYSTEM = "kube-system";

const namespaceOf = (name: string, own: object): KubeObject => ({
  metadata: { name, ...own, resourceVersion: "1", labels: { "kubernetes.io/metadata.name": name } },
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" },
});

const ofKind = ({ workloads }: World, kind: WorkloadKind): readonly SimulatedWorkload[] =>
  workloads.filter(({ model }) => model.kind === kind && model.apiVersion === undefined);

const workloadsOf =
  (kind: WorkloadKind) =>
  (world: World): readonly KubeObject[] =>
    ofKind(world, kind).map((workload) => deployment(workload, world.nowMs));

/** Kinds that metrics describe. The cluster has none of them: only their names are known, so that a metric of one can be asked. */
const DESCRIBED = [
  { ...CORE, resource: "services", singular: "service", kind: "Service", shortNames: ["svc"] },
  {
    ...{ group: "networking.k8s.io", version: "v1", scalable: false, stored: true },
    ...{ resource: "ingresses", singular: "ingress", kind: "Ingress", shortNames: ["ing"] },
  },
].map((described): Resource => ({ ...described, namespaced: true, fields: NAME_FIELDS, list: () => [] }));

export const RESOURCES: readonly Resource[] = [
  {
    ...CORE,
    resource: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    shortNames: ["ns"],
    namespaced: false,
    fields: ["metadata.name", "status.phase"],
    list: namespaces,
  },
  {
    ...CORE,
    resource: "pods",
    singular: "pod",
    kind: "Pod",
    shortNames: ["po"],
    namespaced: true,
    fields: [...NAME_FIELDS, "status.phase", "spec.nodeName", "spec.restartPolicy"],
    list: ({ workloads, nowMs }) => workloads.flatMap(({ model, state }) => state.pods.map((each) => pod(model, each, nowMs))),
  },
  {
    ...APPS,
    resource: "deployments",
    singular: "deployment",
    kind: "Deployment",
    shortNames: ["deploy"],
    scalable: true,
    list: workloadsOf("Deployment"),
  },
  {
    ...APPS,
    resource: "replicasets",
    singular: "replicaset",
    kind: "ReplicaSet",
    shortNames: ["rs"],
    scalable: true,
    list: (world) => [...ofKind(world, "Deployment").map((workload) => replicaSet(workload, world.nowMs)), ...workloadsOf("ReplicaSet")(world)],
  },
  {
    ...APPS,
    resource: "statefulsets",
    singular: "statefulset",
    kind: "StatefulSet",
    shortNames: ["sts"],
    scalable: true,
    list: workloadsOf("StatefulSet"),
  },
  {
    ...{ ...CORE, namespaced: true, fields: NAME_FIELDS, scalable: true },
    ...{ resource: "replicationcontrollers", singular: "replicationcontroller", kind: "ReplicationController", shortNames: ["rc"] },
    list: workloadsOf("ReplicationController"),
  },
  ...DESCRIBED,
  ...KEPT_KINDS.map(keptResource),
  HPA_OF_V1,
  {
    ...EVENTS,
    group: "",
    version: "v1",
    fields: [...NAME_FIELDS, "reason", "type", ...EVENT_FIELDS.map((field) => `involvedObject.${field}`)],
    list: ({ events }) => events.map(coreEvent),
  },
  {
    ...EVENTS,
    group: "events.k8s.io",
    version: "v1",
    fields: [...NAME_FIELDS, "reason", "type", ...EVENT_FIELDS.map((field) => `regarding.${field}`)],
    list: ({ events }) => events,
  },
  {
    group: "metrics.k8s.io",
    version: "v1beta1",
    resource: "pods",
    singular: "",
    kind: "PodMetrics",
    shortNames: [],
    namespaced: true,
    missingAs: "podmetrics",
    fields: NAME_FIELDS,
    scalable: false,
    stored: false,
    list: ({ workloads, nowMs, noise }) =>
      workloads.flatMap((workload) => scrape(workload.model, workload.state, nowMs, noise).map((usage) => podMetrics(workload, usage, nowMs))),
  },
];

/** The plural of a kind as Kubernetes guesses it (meta.UnsafeGuessKindToResource): Rollout → rollouts, Policy → policies, Class → classes. */
export const pluralOf = (kind: string): string => {
  const singular = kind.toLowerCase();
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
};

/** The kinds that are not of Kubernetes itself, each of which a workload of the cluster has. */
export const foreignResources = (workloads: readonly SimulatedWorkload[]): readonly Resource[] => {
  const models = workloads.flatMap(({ model }) => (model.apiVersion === undefined ? [] : [model]));
  return models.length === 0
    ? []
    : [...Map.groupBy(models, ({ apiVersion, kind }) => `${apiVersion}/${kind}`).values()].map(([model]) => foreign(model));
};

const foreign = (model: WorkloadModel | undefined): Resource => {
  const { kind = "", apiVersion = "" } = model ?? {};
  const [group = "", version = ""] = apiVersion.split("/");
  const list = (world: World): readonly KubeObject[] =>
    world.workloads.filter((each) => isOf(each, { group, version, kind })).map((workload) => deployment(workload, world.nowMs));
  const names = { resource: pluralOf(kind), singular: kind.toLowerCase(), kind, shortNames: [] };
  return { ...names, group, version, namespaced: true, fields: NAME_FIELDS, scalable: true, stored: true, list };
};

export const isOf = ({ model }: SimulatedWorkload, { group, version, kind }: Pick<Resource, "group" | "version" | "kind">): boolean =>
  model.kind === kind && apiVersionOf(model) === groupVersion({ group, version });

/** The objects of one namespace, or of all. */
export const within = (world: World, namespace: string | undefined): World =>
  namespace === undefined
    ? world
    : {
        ...world,
        workloads: world.workloads.filter(({ model }) => model.namespace === namespace),
        objects: world.objects.filter(({ metadata }) => metadata.namespace === namespace),
        events: world.events.filter(({ metadata }) => metadata.namespace === namespace),
      };

export const groupVersion = ({ group, version }: Pick<Resource, "group" | "version">): string => (group === "" ? version : `${group}/${version}`);
