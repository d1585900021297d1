import type { SourceService } from "../../model/metric-source.ts";
import { customKindRules, OBSERVE_RULES, type RbacRule, SCALE_RULES, type ScalableKind, STATUS_RULES, sourceRules } from "./rules.ts";

export interface RbacOptions {
  /** Roles only in these namespaces; absent: roles for the whole cluster. */
  readonly namespaces?: readonly string[];
  /** Leaves out the right to scale. */
  readonly readOnly?: boolean;
  /** Adds the right to write the status of autoscalers that the cluster holds, and Events about them. */
  readonly status?: boolean;
  /** Custom resources that manifests name, beside the built-in kinds. */
  readonly kinds?: readonly ScalableKind[];
}

const API = "rbac.authorization.k8s.io";

/** The group that an access entry, a client certificate or a token gives its user. */
export const RBAC_GROUP = "tidemark";

/** The smallest roles for these options, and their bindings, as YAML. Without options it is infra/cluster-rbac.yaml. */
export const rbacText = ({ namespaces, readOnly = false, status = false, kinds = [] }: RbacOptions): string => {
  const custom = customKindRules(kinds);
  const roles: readonly Role[] = [
    { name: "tidemark-observe", rules: [...OBSERVE_RULES.filter(({ wholeCluster }) => !(wholeCluster && namespaces)), ...custom.observe] },
    ...(readOnly ? [] : [{ name: "tidemark-scale", rules: [...SCALE_RULES, ...custom.scale] }]),
    ...(status ? [{ name: "tidemark-status", rules: STATUS_RULES }] : []),
  ];
  const scopes: readonly Scope[] = namespaces?.map((namespace) => ({ namespace })) ?? [{}];
  const documents = scopes.flatMap((scope) => [
    ...roles.map((role) => roleLines(role, scope)),
    ...roles.map(({ name }) => bindingLines(name, scope)),
  ]);
  return `${[...headLines(namespaces, readOnly), documents.map((lines) => lines.join("\n")).join("\n---\n")].join("\n")}\n`;
};

/** The role for one registered source that is a service, in the namespace of the service, and its binding, as YAML. */
export const sourceRbacText = (source: string, service: SourceService): string => {
  const scope = { namespace: service.namespace };
  const name = `tidemark-source-${source}`;
  const documents = [roleLines({ name, rules: sourceRules(service) }, scope), bindingLines(name, scope)];
  const head = `# What Tidemark may ask for the metric source "${source}". The group "${RBAC_GROUP}" is what an EKS access entry, a client certificate or a token gives its user.`;
  return `${[head, documents.map((lines) => lines.join("\n")).join("\n---\n")].join("\n")}\n`;
};

interface Role {
  readonly name: string;
  readonly rules: readonly RbacRule[];
}

/** A namespace; absent: the whole cluster. */
interface Scope {
  readonly namespace?: string;
}

const headLines = (namespaces: readonly string[] | undefined, readOnly: boolean): readonly string[] => [
  `# What Tidemark may do in a cluster. The group "${RBAC_GROUP}" is what an EKS access entry, a client certificate or a token gives its user.`,
  readOnly
    ? "# There is no role to scale: Tidemark decides, stores and reports, and changes nothing."
    : "# Without tidemark-scale it decides, stores and reports, and changes nothing.",
  ...(namespaces === undefined
    ? []
    : [
        "# These are roles of single namespaces. Connect the cluster with partitions that name the same namespaces: --partition NAME=NAMESPACE,NAMESPACE.",
        "# What does not work then: a partition for all other namespaces, because it lists the whole cluster; and an Object metric that describes another Namespace.",
      ]),
];

const roleLines = ({ name, rules }: Role, scope: Scope): readonly string[] => [
  `apiVersion: ${API}/v1`,
  `kind: ${scope.namespace === undefined ? "ClusterRole" : "Role"}`,
  ...metadataLines(name, scope),
  "rules:",
  ...rules.flatMap(ruleLines),
];

const metadataLines = (name: string, { namespace }: Scope): readonly string[] => [
  "metadata:",
  `  name: ${name}`,
  ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
];

const ruleLines = ({ group, resources, verbs, names, because }: RbacRule): readonly string[] => [
  ...(because === undefined ? [] : [`  # ${because}`]),
  `  - apiGroups: ${listText([group])}`,
  `    resources: ${listText(resources)}`,
  ...(names === undefined ? [] : [`    resourceNames: ${listText(names)}`]),
  `    verbs: ${listText(verbs)}`,
];

const listText = (items: readonly string[]): string => `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;

const bindingLines = (name: string, scope: Scope): readonly string[] => {
  const prefix = scope.namespace === undefined ? "Cluster" : "";
  return [
    `apiVersion: ${API}/v1`,
    `kind: ${prefix}RoleBinding`,
    ...metadataLines(name, scope),
    "roleRef:",
    `  apiGroup: ${API}`,
    `  kind: ${prefix}Role`,
    `  name: ${name}`,
    "subjects:",
    `  - apiGroup: ${API}`,
    "    kind: Group",
    `    name: ${RBAC_GROUP}`,
  ];
};
