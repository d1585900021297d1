import type { SourceService } from "../../../rules/model/metric-source.ts";
import {
  customKindRules,
  BESIDE_RIGHTS,
  OBSERVE_RULES,
  type RbacRule,
  SCALE_RULES,
  type ScalableKind,
  STATUS_RULES,
  sourceRules,
} from "./rules.ts";

export interface RbacOptions {
  /** Roles only in these namespaces; absent: roles for the whole cluster. */
  readonly namespaces?: readonly string[];
  /** Leaves out the right to scale. */
  readonly readOnly?: boolean;
  /**
   * Adds the right to write the status of autoscalers that the cluster holds, and Events about
   * them.
   */
  readonly status?: boolean;
  /** Adds the right to look at what else acts on the pods of a workload. */
  readonly doctor?: boolean;
  /** Custom resources that manifests name, beside the built-in kinds. */
  readonly kinds?: readonly ScalableKind[];
  /** Has the roles in place of the group. */
  readonly serviceAccount?: ServiceAccount;
}

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

const API = "rbac.authorization.k8s.io";

/** The group that an access entry, a client certificate or a token gives its user. */
export const RBAC_GROUP = "tidemark";

/** The roles for these options, and where each of them and its binding is made. */
export const rolesFor = ({
  namespaces,
  readOnly = false,
  status = false,
  doctor = false,
  kinds = [],
}: RbacOptions): { readonly roles: readonly RbacRole[]; readonly scopes: readonly Scope[] } => {
  const custom = customKindRules(kinds);
  return {
    roles: [
      {
        name: "tidemark-observe",
        rules: [
          ...OBSERVE_RULES.filter(({ wholeCluster }) => !(wholeCluster && namespaces)),
          ...custom.observe,
        ],
      },
      ...(readOnly ? [] : [{ name: "tidemark-scale", rules: [...SCALE_RULES, ...custom.scale] }]),
      ...(status ? [{ name: "tidemark-status", rules: STATUS_RULES }] : []),
      ...(doctor ? [{ name: "tidemark-doctor", rules: BESIDE_RIGHTS }] : []),
    ],
    scopes: namespaces?.map((namespace) => ({ namespace })) ?? [{}],
  };
};

/**
 * The smallest roles for these options, and their bindings, as YAML. Without options it is
 * infra/cluster-rbac.yaml. `group`: the group that is bound, as YAML.
 */
export const rbacText = (options: RbacOptions, group: string = RBAC_GROUP): string => {
  const { roles, scopes } = rolesFor(options);
  const { serviceAccount } = options;
  const subject = serviceAccount ? accountSubject(serviceAccount) : groupSubject(group);
  const documents = [
    ...(serviceAccount ? [accountLines(serviceAccount)] : []),
    ...scopes.flatMap((scope) => [
      ...roles.map((role) => roleLines(role, scope)),
      ...roles.map(({ name }) => bindingLines(name, scope, subject)),
    ]),
  ];
  return `${[...rbacHead(options), documents.map((lines) => lines.join("\n")).join("\n---\n")].join("\n")}\n`;
};

/**
 * The role for one registered source that is a service, in the namespace of the service, and its
 * binding, as YAML.
 */
export const sourceRbacText = (source: string, service: SourceService): string => {
  const scope = { namespace: service.namespace };
  const name = `tidemark-source-${source}`;
  const documents = [
    roleLines({ name, rules: sourceRules(service) }, scope),
    bindingLines(name, scope),
  ];
  const head = `# What Tidemark may ask for the metric source "${source}". The group "${RBAC_GROUP}" is what an EKS access entry, a client certificate or a token gives its user.`;
  return `${[head, documents.map((lines) => lines.join("\n")).join("\n---\n")].join("\n")}\n`;
};

export interface RbacRole {
  readonly name: string;
  readonly rules: readonly RbacRule[];
}

/** A namespace; absent: the whole cluster. */
interface Scope {
  readonly namespace?: string;
}

/** What stands above the roles, as comments. */
export const rbacHead = ({
  namespaces,
  readOnly,
  serviceAccount,
}: RbacOptions): readonly string[] => [
  serviceAccount
    ? `# What Tidemark may do in a cluster, with a token of the service account "${serviceAccount.namespace}/${serviceAccount.name}".`
    : `# What Tidemark may do in a cluster. The group "${RBAC_GROUP}" is what an EKS access entry, a client certificate or a token gives its user.`,
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

const roleLines = ({ name, rules }: RbacRole, scope: Scope): readonly string[] => [
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

const listText = (items: readonly string[]): string =>
  `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;

const accountLines = (account: ServiceAccount): readonly string[] => [
  "apiVersion: v1",
  "kind: ServiceAccount",
  ...metadataLines(account.name, account),
  "# No pod runs as it.",
  "automountServiceAccountToken: false",
];

const groupSubject = (group: string = RBAC_GROUP): readonly string[] => [
  `  - apiGroup: ${API}`,
  "    kind: Group",
  `    name: ${group}`,
];

const accountSubject = ({ namespace, name }: ServiceAccount): readonly string[] => [
  "  - kind: ServiceAccount",
  `    name: ${name}`,
  `    namespace: ${namespace}`,
];

const bindingLines = (
  name: string,
  scope: Scope,
  subject: readonly string[] = groupSubject(),
): readonly string[] => {
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
    ...subject,
  ];
};

export interface AccessEntry {
  readonly clusterId: string;
  readonly region: string;
  /** The role that is assumed for the cluster; absent: the role of the function that syncs. */
  readonly roleArn?: string;
  /** The name of the stack whose function syncs, where it is known. */
  readonly stack?: string;
  /** The cluster takes its users from the ConfigMap aws-auth, and has no access entries. */
  readonly awsAuth?: true;
}

const EXAMPLE_STACK = "tidemark-prod";

/**
 * The values must have passed `eksFault`, because they become a part of a command. The commands
 * that give a role of IAM the group of the roles, and that make the role where another account has
 * it, as lines of comments, which kubectl skips below the YAML.
 */
export const accessEntryText = (entry: AccessEntry): string => {
  const { clusterId, region, roleArn, awsAuth } = entry;
  const lines = [
    ...(roleArn === undefined ? [] : assumedRoleLines(entry, roleArn)),
    `Then give the role of Tidemark this group in the EKS cluster, with ${awsAuth ? "eksctl" : "the AWS command line"}:`,
    ...(roleArn === undefined ? syncRoleLines(entry) : []),
    ...(awsAuth
      ? awsAuthLines(entry)
      : [
          `  aws eks create-access-entry --cluster-name ${clusterId} --region ${region} --principal-arn "${roleArn ?? "$SYNC_ROLE_ARN"}" --kubernetes-groups ${RBAC_GROUP}`,
        ]),
  ];
  return `${lines.map((line) => `# ${line}`).join("\n")}\n`;
};

/**
 * Never a ConfigMap to apply: it would take the place of the one that is there, and with it the
 * nodes and people that it names.
 */
const awsAuthLines = ({ clusterId, region, roleArn }: AccessEntry): readonly string[] => [
  `  eksctl create iamidentitymapping --cluster ${clusterId} --region ${region} --arn "${withoutPath(roleArn) ?? "$SYNC_ROLE_ARN"}" --username ${RBAC_GROUP} --group ${RBAC_GROUP}`,
  "Or with kubectl edit configmap aws-auth -n kube-system: one more item of mapRoles, whose role has no path:",
  `  - rolearn: ${withoutPath(roleArn) ?? "the ARN that the first command prints"}`,
  `    username: ${RBAC_GROUP}`,
  `    groups: [${RBAC_GROUP}]`,
];

/** The ConfigMap knows a role by its ARN without the path of the role. */
const withoutPath = (roleArn: string | undefined): string | undefined =>
  roleArn?.replace(/:role\/.*\//, ":role/");

const syncRoleLines = ({ stack }: AccessEntry): readonly string[] => [
  `The role belongs to the function that syncs, and is an output of the stack.${otherStack(stack)}`,
  `  ${syncRoleCommand(stack)}`,
];
const otherStack = (stack: string | undefined): string =>
  stack === undefined ? ` Put the name of yours in the place of ${EXAMPLE_STACK}.` : "";
const syncRoleCommand = (stack = EXAMPLE_STACK): string =>
  `SYNC_ROLE_ARN=$(aws cloudformation describe-stacks --stack-name ${stack} --query "Stacks[0].Outputs[?OutputKey=='SyncRoleArn'].OutputValue" --output text)`;

/** The role trusts only the function that syncs, and may describe one cluster. */
const assumedRoleLines = (
  { clusterId, region, stack }: AccessEntry,
  roleArn: string,
): readonly string[] => {
  const [, partition = "aws", , , account = "", resource = ""] = roleArn.split(":");
  const name = resource.slice("role/".length);
  const allowed = `${stack ?? EXAMPLE_STACK}-cluster-`;
  // The function has the right to assume roles of these names. The commands for another one would
  // make a role that no sync can use.
  if (!name.startsWith(allowed) || name.includes("/")) {
    return [
      `The function that syncs assumes only roles named ${allowed}*: "${name}" is none of them.${otherStack(stack)}`,
    ];
  }
  const trust = policyOf({
    Effect: "Allow",
    Principal: { AWS: `'"$SYNC_ROLE_ARN"'` },
    Action: "sts:AssumeRole",
  });
  const right = policyOf({
    Effect: "Allow",
    Action: "eks:DescribeCluster",
    Resource: `arn:${partition}:eks:${region}:${account}:cluster/${clusterId}`,
  });
  return [
    `Make the role "${name}", with the AWS command line. It trusts the function that syncs, whose role is an output of the stack; so this needs the account of the stack.${otherStack(stack)}`,
    `  ${syncRoleCommand(stack)}`,
    `The other commands need the account ${account}:`,
    `  aws iam create-role --role-name ${name} --assume-role-policy-document '${trust}'`,
    `  aws iam put-role-policy --role-name ${name} --policy-name describe-cluster --policy-document '${right}'`,
  ];
};

/**
 * The text of a policy with one statement. A value may end the quotation of the shell and begin it
 * again, so none of its quotes are escaped.
 */
const policyOf = (statement: object): string =>
  JSON.stringify({ Version: "2012-10-17", Statement: [statement] }).replaceAll('\\"', '"');
