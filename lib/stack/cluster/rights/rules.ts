import { proxyName, type SourceService } from "../../../rules/model/metric-source.ts";
import { SPEC_KINDS } from "../../../rules/model/spec.ts";

/** One rule of a role of Kubernetes, as RBAC has it. */
export interface RbacRule {
  readonly group: string;
  /** Plurals, with a subresource behind a slash: "deployments/scale". */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** The only objects that the rule is about; absent: all. */
  readonly names?: readonly string[];
  /** A role of one namespace cannot give it. */
  readonly wholeCluster?: true;
  /** The comment above the rule. */
  readonly because?: string;
}

/** What a folder with the roles is for. */
export const RBAC_FORMS = ["helm", "kustomize", "terraform"] as const;
export type RbacForm = (typeof RBAC_FORMS)[number];

/** A custom resource with a scale subresource: "argoproj.io" and "rollouts". */
export interface ScalableKind {
  readonly group: string;
  readonly plural: string;
}

/** The built-in kinds that a manifest may name. */
export const BUILT_IN_KINDS: readonly ScalableKind[] = [
  { group: "apps", plural: "deployments" },
  { group: "apps", plural: "statefulsets" },
  { group: "apps", plural: "replicasets" },
  { group: "", plural: "replicationcontrollers" },
];

/**
 * All that Tidemark asks of a cluster, and the only place that says it: `cluster rbac` prints these
 * rules, `cluster check` asks for each of them, and test/cluster/rbac.test.ts compares them with
 * the calls that are made.
 */
export const OBSERVE_RULES: readonly RbacRule[] = [
  ...perGroup(BUILT_IN_KINDS, ({ plural }) => plural, ["get", "list"]),
  { group: "", resources: ["pods"], verbs: ["list"] },
  {
    group: "",
    resources: ["pods"],
    verbs: ["watch"],
    because:
      "Of more than 500 pods a sync reads what has changed since the last one; without the right to watch it lists them all.",
  },
  {
    group: "",
    resources: ["namespaces"],
    verbs: ["get"],
    names: ["kube-system"],
    wholeCluster: true,
    because:
      "Its uid is the identity of the cluster: so one cluster under two names, and another one behind the address, are noticed.",
  },
  { group: "metrics.k8s.io", resources: ["pods"], verbs: ["list"] },
  {
    group: "custom.metrics.k8s.io",
    resources: ["*"],
    verbs: ["get"],
    because:
      "A custom metric is a subresource of what it describes, an external metric is a resource of its own: neither can be named in advance.",
  },
  { group: "external.metrics.k8s.io", resources: ["*"], verbs: ["list"] },
  {
    group: "autoscaling",
    resources: ["horizontalpodautoscalers"],
    verbs: ["list"],
    because: "Only to hold beside them; leave out what you do not want to be looked for.",
  },
  { group: "keda.sh", resources: ["scaledobjects"], verbs: ["list"] },
  { group: "datadoghq.com", resources: ["watermarkpodautoscalers"], verbs: ["list"] },
  { group: "datadoghq.com", resources: ["datadogpodautoscalers"], verbs: ["list"] },
  {
    group: "tidemark.dev",
    resources: ["podautoscalers"],
    verbs: ["list"],
    because:
      "Only for a cluster that was added with --specs cluster, which also reads the watermarkpodautoscalers above.",
  },
  {
    group: "datadoghq.com",
    resources: ["datadogmonitors"],
    verbs: ["list"],
    because:
      "Only for autoscalers with the annotation wpa.datadoghq.com/lifecycle-control.enabled.",
  },
];

export const SCALE_RULES: readonly RbacRule[] = perGroup(
  BUILT_IN_KINDS,
  ({ plural }) => `${plural}/scale`,
  ["update"],
);

/**
 * Rights to report in the cluster what was decided. Nothing depends on them: `cluster rbac
 * --status` prints them, and a sync without them scales as ever.
 */
export const STATUS_RULES: readonly RbacRule[] = [
  ...SPEC_KINDS.map(({ group, plural }) => ({
    group,
    resources: [`${plural}/status`],
    verbs: ["patch"],
  })),
  { group: "events.k8s.io", resources: ["events"], verbs: ["create", "patch"] },
];

/**
 * Rights to look at what else acts on the pods of a workload. No sync asks for these objects:
 * `cluster rbac --doctor` prints the rights, and `doctor --ask-cluster` says where one is missing.
 */
export const BESIDE_RIGHTS: readonly RbacRule[] = [
  { group: "", resources: ["resourcequotas"], verbs: ["list"] },
  { group: "policy", resources: ["poddisruptionbudgets"], verbs: ["list"] },
  { group: "autoscaling.k8s.io", resources: ["verticalpodautoscalers"], verbs: ["list"] },
];

/** The right to ask one service for metrics through the API server, and no other service. */
export const sourceRules = (service: SourceService): readonly RbacRule[] => [
  {
    group: "",
    resources: ["services/proxy"],
    verbs: ["get"],
    names: [proxyName(service)],
    because: "A registered metric source: this service, scheme and port only.",
  },
];

/** The rules for custom resources: the scale is read and written, the object itself is not. */
export const customKindRules = (
  kinds: readonly ScalableKind[],
): { readonly observe: readonly RbacRule[]; readonly scale: readonly RbacRule[] } => ({
  observe: perGroup(kinds, ({ plural }) => `${plural}/scale`, ["get"]),
  scale: perGroup(kinds, ({ plural }) => `${plural}/scale`, ["update"]),
});

/** One rule for all kinds of an API group. */
function perGroup(
  kinds: readonly ScalableKind[],
  resource: (kind: ScalableKind) => string,
  verbs: readonly string[],
): readonly RbacRule[] {
  return [...Map.groupBy(kinds, ({ group }) => group)].map(([group, members]) => ({
    group,
    resources: members.map(resource),
    verbs,
  }));
}

const KIND = /^([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\/([a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/;

export const SCALABLE_KIND_WORDS =
  "give the API group and the plural of a custom resource, such as argoproj.io/rollouts";

/** Reads "argoproj.io/rollouts"; undefined for any other text. */
export const readScalableKind = (text: string): ScalableKind | undefined => {
  const [, group, plural] = KIND.exec(text) ?? [];
  return group === undefined || plural === undefined ? undefined : { group, plural };
};
