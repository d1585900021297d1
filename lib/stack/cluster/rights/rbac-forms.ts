import {
  type AccessEntry,
  rbacHead,
  RBAC_GROUP,
  type RbacOptions,
  rbacText,
  type RbacRole,
  rolesFor,
  type ServiceAccount,
} from "./rbac-text.ts";
import type { RbacForm, RbacRule } from "./rules.ts";

export interface RbacFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The roles as the files of a chart, a kustomization or a module. A module has the access entry of
 * an EKS cluster too; its values must have passed `eksFault`, because they become a part of code.
 */
export const rbacFiles = (
  form: RbacForm,
  options: RbacOptions,
  { version, entry }: { readonly version: string; readonly entry?: AccessEntry },
): readonly RbacFile[] => {
  switch (form) {
    case "helm":
      return [
        {
          path: "Chart.yaml",
          text: `apiVersion: v2\nname: tidemark-rbac\ndescription: What Tidemark may do in this cluster\ntype: application\nversion: ${version}\n`,
        },
        {
          path: "values.yaml",
          text: options.serviceAccount
            ? "{}\n"
            : `# The group that an access entry, a client certificate or a token gives the user of Tidemark.\ngroup: ${RBAC_GROUP}\n`,
        },
        {
          path: "templates/rbac.yaml",
          text: rbacText(options, "{{ .Values.group | quote }}"),
        },
      ];
    case "kustomize":
      return [
        {
          path: "kustomization.yaml",
          text: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - rbac.yaml\n",
        },
        { path: "rbac.yaml", text: rbacText(options) },
      ];
    case "terraform":
      return [{ path: "main.tf", text: moduleText(options, entry) }];
  }
};

const moduleText = (options: RbacOptions, entry: AccessEntry | undefined): string => {
  const { namespaces, serviceAccount } = options;
  const blocks = [
    [
      ...rbacHead(options),
      ...block("terraform", [
        ...block("required_providers", [
          ...(entry ? providerLines("aws", "hashicorp/aws", ">= 5.33") : []),
          ...providerLines("kubernetes", "hashicorp/kubernetes", ">= 2.20"),
        ]),
      ]),
    ],
    ...(serviceAccount ? [accountBlock(serviceAccount)] : []),
    ...rolesFor(options).roles.flatMap((role) => [
      roleBlock(role, namespaces),
      bindingBlock(role, options),
    ]),
    ...(entry ? entryBlocks(entry) : []),
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
};

const block = (head: string, inside: readonly string[]): readonly string[] => [
  `${head} {`,
  ...inside.map((line) => (line === "" ? line : `  ${line}`)),
  "}",
];

/** Attributes with their signs of equality below each other, as `terraform fmt` has them. */
const attributes = (
  pairs: readonly (readonly [name: string, value: string])[],
): readonly string[] => {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)} = ${value}`);
};

const text = (value: string): string => JSON.stringify(value);
const list = (values: readonly string[]): string => `[${values.map(text).join(", ")}]`;

const providerLines = (name: string, source: string, version: string): readonly string[] => [
  `${name} = {`,
  ...attributes([
    ["source", text(source)],
    ["version", text(version)],
  ]).map((line) => `  ${line}`),
  "}",
];

const labelOf = (name: string): string => name.replaceAll("-", "_");

type Namespaces = RbacOptions["namespaces"];

/** In each of the namespaces, or in the whole cluster. */
const resource = (
  kind: "role" | "role_binding",
  { name }: RbacRole,
  namespaces: Namespaces,
  inside: readonly string[],
): readonly string[] =>
  block(
    `resource "kubernetes_${namespaces ? "" : "cluster_"}${kind}_v1" "${labelOf(name)}"`,
    namespaces ? [`for_each = toset(${list(namespaces)})`, "", ...inside] : inside,
  );

const metadata = ({ name }: RbacRole, namespaces: Namespaces): readonly string[] =>
  block(
    "metadata",
    attributes([
      ["name", text(name)],
      ...(namespaces ? ([["namespace", "each.key"]] as const) : []),
    ]),
  );

const roleBlock = (role: RbacRole, namespaces: Namespaces): readonly string[] =>
  resource("role", role, namespaces, [
    ...metadata(role, namespaces),
    ...role.rules.flatMap((rule) => ["", ...ruleBlock(rule)]),
  ]);

const ruleBlock = ({ group, resources, verbs, names, because }: RbacRule): readonly string[] => [
  ...(because === undefined ? [] : [`# ${because}`]),
  ...block(
    "rule",
    attributes([
      ["api_groups", list([group])],
      ["resources", list(resources)],
      ...(names === undefined ? [] : ([["resource_names", list(names)]] as const)),
      ["verbs", list(verbs)],
    ]),
  ),
];

const API = "rbac.authorization.k8s.io";

const accountBlock = ({ namespace, name }: ServiceAccount): readonly string[] =>
  block('resource "kubernetes_service_account_v1" "tidemark"', [
    ...block(
      "metadata",
      attributes([
        ["name", text(name)],
        ["namespace", text(namespace)],
      ]),
    ),
    "",
    "# No pod runs as it.",
    "automount_service_account_token = false",
  ]);

const ACCOUNT_METADATA = "kubernetes_service_account_v1.tidemark.metadata[0]";

const bindingBlock = (
  role: RbacRole,
  { namespaces, serviceAccount }: RbacOptions,
): readonly string[] => {
  const kind = namespaces ? "Role" : "ClusterRole";
  const made = `kubernetes_${namespaces ? "" : "cluster_"}role_v1.${labelOf(role.name)}${namespaces ? "[each.key]" : ""}`;
  return resource("role_binding", role, namespaces, [
    ...metadata(role, namespaces),
    "",
    ...block(
      "role_ref",
      attributes([
        ["api_group", text(API)],
        ["kind", text(kind)],
        ["name", `${made}.metadata[0].name`],
      ]),
    ),
    "",
    ...block(
      "subject",
      attributes(
        serviceAccount
          ? [
              ["kind", text("ServiceAccount")],
              ["name", `${ACCOUNT_METADATA}.name`],
              ["namespace", `${ACCOUNT_METADATA}.namespace`],
            ]
          : [
              ["api_group", text(API)],
              ["kind", text("Group")],
              ["name", text(RBAC_GROUP)],
            ],
      ),
    ),
  ]);
};

const entryBlocks = ({
  clusterId,
  region,
  roleArn,
}: AccessEntry): readonly (readonly string[])[] => [
  ...(roleArn === undefined
    ? [
        block('variable "sync_role_arn"', [
          ...attributes([
            ["description", text("The output SyncRoleArn of the stack of Tidemark")],
            ["type", "string"],
          ]),
        ]),
      ]
    : []),
  [
    `# The provider aws must be of the region ${region}.`,
    ...block(
      'resource "aws_eks_access_entry" "tidemark"',
      attributes([
        ["cluster_name", text(clusterId)],
        ["principal_arn", roleArn === undefined ? "var.sync_role_arn" : text(roleArn)],
        ["kubernetes_groups", list([RBAC_GROUP])],
      ]),
    ),
  ],
];
