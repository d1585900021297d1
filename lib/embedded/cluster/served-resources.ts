import type { WorkloadKind, WorkloadModel } from "./definition.ts";
import { besidePods } from "./beside-pods.ts";
import { apiVersionOf, deployment, isoTime, pod, replicaSet } from "./kube-objects.ts";
import type { KubeObject } from "./list-selectors.ts";
import { podMetrics } from "./metrics-objects.ts";
import {
  type CustomObject,
  HPA_KIND,
  KEPT_KINDS,
  type KeptKind,
} from "./objects/custom-objects.ts";
import { coreEvent } from "./objects/events.ts";
import { scrape } from "./reading.ts";
import { createdMs } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/** The simulated cluster as the API shows it at one instant. */
export interface ServedWorld {
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
  readonly list: (world: ServedWorld) => readonly KubeObject[];
}

const NAME_FIELDS = ["metadata.name", "metadata.namespace"];
/** A kind whose objects are in namespaces, stored and not scaled, as most are. */
const named = (kind: string, ...shortNames: readonly string[]) => ({
  ...{ kind, singular: kind.toLowerCase(), resource: guessedPlural(kind), shortNames },
  ...{ version: "v1", namespaced: true, fields: NAME_FIELDS, scalable: false, stored: true },
});

/**
 * The plural of a kind as Kubernetes guesses it (meta.UnsafeGuessKindToResource): Rollout →
 * rollouts, Policy → policies, Class → classes.
 */
export const guessedPlural = (kind: string): string => {
  const singular = kind.toLowerCase();
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
};

/** A kind of events, in whose objects this field names what they are about. */
const eventsAbout = (field: string) => ({
  ...named("Event", "ev"),
  fields: [
    ...NAME_FIELDS,
    "reason",
    "type",
    ...["kind", "namespace", "name", "uid", "apiVersion"].map((name) => `${field}.${name}`),
  ],
});

const SHORT_NAMES: Readonly<Record<string, string>> = {
  PodAutoscaler: "pa",
  WatermarkPodAutoscaler: "wpa",
  HorizontalPodAutoscaler: "hpa",
  ScaledObject: "so",
};

const keptResource = (of: KeptKind): Resource => ({
  ...named(of.kind, SHORT_NAMES[of.kind] ?? of.plural),
  group: of.group,
  version: of.version,
  resource: of.plural,
  custom: of,
  list: ({ objects }) =>
    objects
      .filter(({ kind }) => kind === of.kind)
      .map((object) => ({ ...object, apiVersion: of.apiVersion })),
});

/** The first version of the HPA can be read, with the spec as the second has it. */
const { custom: _writable, ...READABLE } = keptResource(HPA_KIND);
const HPA_OF_V1: Resource = { ...READABLE, version: "v1" };

const namespaces = ({ workloads, uid }: ServedWorld): readonly KubeObject[] => {
  const byName = new Map<string, KubeObject>();
  for (const { model } of workloads)
    byName.set(
      model.namespace,
      namespaceOf(model.namespace, { creationTimestamp: isoTime(createdMs(model)) }),
    );
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

const ofKind = ({ workloads }: ServedWorld, kind: WorkloadKind): readonly SimulatedWorkload[] =>
  workloads.filter(({ model }) => model.kind === kind && model.apiVersion === undefined);

const workloadsOf = (kind: WorkloadKind, shortName: string, group = "apps") => ({
  ...named(kind, shortName),
  group,
  scalable: true,
  list: (world: ServedWorld): readonly KubeObject[] =>
    ofKind(world, kind).map((workload) => deployment(workload, world.nowMs)),
});

const REPLICA_SETS = workloadsOf("ReplicaSet", "rs");
/**
 * Kinds that metrics describe have no objects here: only their names are known, so that a metric of
 * one can be asked.
 */
const none = (): readonly KubeObject[] => [];

export const RESOURCES: readonly Resource[] = [
  {
    ...named("Namespace", "ns"),
    group: "",
    namespaced: false,
    fields: ["metadata.name", "status.phase"],
    list: namespaces,
  },
  {
    ...named("Pod", "po"),
    group: "",
    fields: [...NAME_FIELDS, "status.phase", "spec.nodeName", "spec.restartPolicy"],
    list: ({ workloads, nowMs }) =>
      workloads.flatMap((workload) => [
        ...workload.state.pods.map((each) => pod(workload.model, each, nowMs)),
        ...besidePods(workload, nowMs).map(({ object }) => object),
      ]),
  },
  workloadsOf("Deployment", "deploy"),
  {
    ...REPLICA_SETS,
    list: (world) => [
      ...ofKind(world, "Deployment").map((workload) => replicaSet(workload, world.nowMs)),
      ...REPLICA_SETS.list(world),
    ],
  },
  workloadsOf("StatefulSet", "sts"),
  workloadsOf("ReplicationController", "rc", ""),
  { ...named("Service", "svc"), group: "", list: none },
  { ...named("Ingress", "ing"), group: "networking.k8s.io", list: none },
  ...KEPT_KINDS.map(keptResource),
  HPA_OF_V1,
  { ...eventsAbout("involvedObject"), group: "", list: ({ events }) => events.map(coreEvent) },
  { ...eventsAbout("regarding"), group: "events.k8s.io", list: ({ events }) => events },
  {
    ...named("PodMetrics"),
    ...{
      group: "metrics.k8s.io",
      version: "v1beta1",
      resource: "pods",
      singular: "",
      missingAs: "podmetrics",
      stored: false,
    },
    list: ({ workloads, nowMs, noise }) =>
      workloads.flatMap((workload) =>
        [
          ...scrape(workload.model, workload.state, nowMs, noise),
          ...besidePods(workload, nowMs).flatMap(({ usage }) => usage ?? []),
        ].map((usage) => podMetrics(workload, usage, nowMs)),
      ),
  },
];

/** The kinds that are not of Kubernetes itself, each of which a workload of the cluster has. */
export const foreignResources = (workloads: readonly SimulatedWorkload[]): readonly Resource[] => {
  const models = workloads.flatMap(({ model }) => (model.apiVersion === undefined ? [] : [model]));
  return models.length === 0
    ? []
    : [...Map.groupBy(models, ({ apiVersion, kind }) => `${apiVersion}/${kind}`).values()].map(
        ([model]) => foreign(model),
      );
};

const foreign = (model: WorkloadModel | undefined): Resource => {
  const { kind = "", apiVersion = "" } = model ?? {};
  const [group = "", version = ""] = apiVersion.split("/");
  const list = (world: ServedWorld): readonly KubeObject[] =>
    world.workloads
      .filter((each) => isOf(each, { group, version, kind }))
      .map((workload) => deployment(workload, world.nowMs));
  return { ...named(kind), group, version, scalable: true, list };
};

export const isOf = (
  { model }: SimulatedWorkload,
  { group, version, kind }: Pick<Resource, "group" | "version" | "kind">,
): boolean => model.kind === kind && apiVersionOf(model) === groupVersion({ group, version });

/** The objects of one namespace, or of all. */
export const worldWithin = (world: ServedWorld, namespace: string | undefined): ServedWorld =>
  namespace === undefined
    ? world
    : {
        ...world,
        workloads: world.workloads.filter(({ model }) => model.namespace === namespace),
        objects: world.objects.filter(({ metadata }) => metadata.namespace === namespace),
        events: world.events.filter(({ metadata }) => metadata.namespace === namespace),
      };

export const groupVersion = ({ group, version }: Pick<Resource, "group" | "version">): string =>
  group === "" ? version : `${group}/${version}`;
