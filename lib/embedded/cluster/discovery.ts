import { DEMAND_METRIC } from "./metrics-objects.ts";
import { groupVersion, RESOURCES, type Resource } from "./served-resources.ts";
import { createHash } from "node:crypto";
import { podAutoscalerDefinition } from "../../rules/manifest/crd/definition.ts";
import type { Json } from "../../rules/model/json.ts";

/** Versions of every group, the preferred one first. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  apps: ["v1"],
  autoscaling: ["v2", "v1"],
  "events.k8s.io": ["v1"],
  "tidemark.dev": ["v1"],
  "datadoghq.com": ["v1alpha1"],
  "keda.sh": ["v1alpha1"],
  "metrics.k8s.io": ["v1beta1"],
  "custom.metrics.k8s.io": ["v1beta2", "v1beta1"],
  "external.metrics.k8s.io": ["v1beta1"],
  "networking.k8s.io": ["v1"],
};

const VERSION = {
  major: "1",
  minor: "37",
  gitVersion: "v1.37.1+tidemark.local",
  gitTreeState: "clean",
  platform: `${process.platform}/${process.arch}`,
};
const GET_ONLY = ["get"];

/** True for a group that the simulated cluster has whatever its workloads are. */
export const isOwnGroup = (group: string): boolean => group === "" || Object.hasOwn(GROUPS, group);

/** The kinds that a server has beside the kinds of every simulated cluster. */
export interface Installed {
  readonly hasKeda: boolean;
  /** Kinds of workloads that are not of Kubernetes itself. */
  readonly foreign: readonly Resource[];
}

/**
 * The answer to a discovery path. Undefined for every other path. Without KEDA its group does not
 * exist.
 */
export const discovery = (path: string, { hasKeda, foreign }: Installed): unknown => {
  const groups = { ...GROUPS, ...groupsOf(foreign) };
  const isServed = (group: string): boolean => hasKeda || group !== "keda.sh";
  const apiGroup = (group: string) => {
    const versions = (groups[group] ?? []).map((version) => ({
      groupVersion: `${group}/${version}`,
      version,
    }));
    return { name: group, versions, preferredVersion: versions[0] };
  };
  if (path === "/version") return VERSION;
  if (path === "/api")
    return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis")
    return {
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: Object.keys(groups).filter(isServed).map(apiGroup),
    };
  if (path === "/api/v1") return resourceList("", "v1", RESOURCES);
  const [, group = "", version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const versions = Object.hasOwn(groups, group) && isServed(group) ? groups[group] : undefined;
  if (!versions) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...apiGroup(group) };
  return versions.includes(version)
    ? resourceList(group, version, [...RESOURCES, ...foreign])
    : undefined;
};

/** The versions of each group that these kinds are of. */
const groupsOf = (foreign: readonly Resource[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    [...Map.groupBy(foreign, ({ group }) => group)].map(([group, of]) => [
      group,
      [...new Set(of.map(({ version }) => version))],
    ]),
  );

const resourceList = (group: string, version: string, served: readonly Resource[]) => ({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: groupVersion({ group, version }),
  resources: [
    ...served.filter((each) => each.group === group && each.version === version).flatMap(entries),
    ...metricEntries(group),
  ],
});

const entries = (served: Resource) => {
  const { resource, singular, namespaced, kind, shortNames, scalable } = served;
  const entry = {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs: verbsOf(served),
    ...(shortNames.length > 0 && { shortNames }),
  };
  const scale = {
    name: `${resource}/scale`,
    singularName: "",
    namespaced,
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
    verbs: ["get", "patch", "update"],
  };
  if (served.custom)
    return [
      entry,
      {
        name: `${resource}/status`,
        singularName: "",
        namespaced,
        kind,
        verbs: ["get", "patch", "update"],
      },
    ];
  return scalable ? [entry, scale] : [entry];
};

const verbsOf = ({ custom, kind }: Resource): readonly string[] => {
  if (custom) return ["create", "delete", "get", "list", "patch", "update", "watch"];
  return kind === "Event" ? ["create", "get", "list", "patch"] : ["get", "list"];
};

const metricEntries = (group: string) => {
  const entry = (name: string, kind: string) => ({
    name,
    singularName: "",
    namespaced: true,
    kind,
    verbs: GET_ONLY,
  });
  if (group === "custom.metrics.k8s.io")
    return [`pods/${DEMAND_METRIC}`, `deployments.apps/${DEMAND_METRIC}`].map((name) =>
      entry(name, "MetricValueList"),
    );
  if (group === "external.metrics.k8s.io") return [entry(DEMAND_METRIC, "ExternalMetricValueList")];
  return [];
};

const ROOT = "/openapi/v3";
const HASH_CHARACTERS = 16;

interface Described {
  /** "api/v1", or "apis/GROUP/VERSION". */
  readonly name: string;
  readonly document: unknown;
  readonly hash: string;
}

/**
 * The answer to a path of the OpenAPI description, version 3. kubectl reads it before an apply, to
 * learn that the server itself checks fields, and for `explain`. Undefined for every other path,
 * and for a group that is not described: the groups of metrics have no objects that are written.
 */
export const openApi = (path: string): unknown => {
  if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return undefined;
  described ??= describe();
  if (path === ROOT)
    return {
      paths: Object.fromEntries(
        described.map(({ name, hash }) => [
          name,
          { serverRelativeURL: `${ROOT}/${name}?hash=${hash}` },
        ]),
      ),
    };
  return described.find(({ name }) => path === `${ROOT}/${name}`)?.document;
};

/** Made at the first question, as most runs are never asked. */
let described: readonly Described[] | undefined;

const describe = (): readonly Described[] => {
  const groups = Map.groupBy(
    RESOURCES.filter(({ stored }) => stored),
    (resource) =>
      resource.group === "" ? `api/${resource.version}` : `apis/${groupVersion(resource)}`,
  );
  return [...groups].map(([name, resources]) => {
    const document = {
      openapi: "3.0.0",
      info: { title: "Simulated cluster of Tidemark", version: "v1" },
      paths: Object.assign({}, ...resources.map((resource) => operationsOf(`/${name}`, resource))),
      components: { schemas: Object.assign({}, ...resources.map(schemaOf)) },
    };
    return {
      name,
      document,
      hash: createHash("sha256")
        .update(JSON.stringify(document))
        .digest("hex")
        .slice(0, HASH_CHARACTERS),
    };
  });
};

const WRITE = ["dryRun", "fieldManager", "fieldValidation"];

/**
 * The paths of a resource with their methods, as far as a client looks at them: which kind they are
 * about, and which parameters they take.
 */
const operationsOf = (root: string, resource: Resource): Json => {
  const { resource: plural, namespaced, custom } = resource;
  const operation = operationOf(resource);
  const all = { get: operation("list", []) };
  const list = { ...all, ...(custom && { post: operation("post", WRITE) }) };
  const object = {
    get: operation("get", []),
    ...(custom && {
      put: operation("put", WRITE),
      patch: operation("patch", [...WRITE, "force"]),
      delete: operation("delete", ["dryRun"]),
    }),
  };
  const listPath = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  return { [`${root}/${plural}`]: all, [listPath]: list, [`${listPath}/{name}`]: object };
};

const operationOf =
  (resource: Resource) =>
  (action: string, parameters: readonly string[]): Json => {
    const schema = { $ref: `#/components/schemas/${schemaNameOf(resource)}` };
    return {
      parameters: parameters.map((name) => ({
        name,
        in: "query",
        schema: { type: name === "force" ? "boolean" : "string" },
      })),
      responses: { "200": { description: "OK", content: { "application/json": { schema } } } },
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": groupVersionKind(resource),
    };
  };

/**
 * The name of a kind in a description, as API servers make it: the group backwards, version and
 * kind.
 */
const schemaNameOf = ({ group, version, kind }: Resource): string =>
  [...group.split(".").toReversed(), version, kind].filter(Boolean).join(".");

const groupVersionKind = ({ group, version, kind }: Resource) => ({ group, version, kind });

/**
 * The schema of a kind under its name. A PodAutoscaler has the schema of its definition; of the
 * others no field is described.
 */
const schemaOf = (resource: Resource): Json => ({
  [schemaNameOf(resource)]: {
    ...(resource.kind === "PodAutoscaler" ? ownSchema() : anySchema(resource)),
    "x-kubernetes-group-version-kind": [groupVersionKind(resource)],
  },
});

const ownSchema = (): Json => {
  const { spec } = podAutoscalerDefinition() as {
    readonly spec: {
      readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Json } }[];
    };
  };
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
};

const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const anySchema = ({ kind }: Resource): Json => ({
  type: "object",
  description: `The simulated cluster does not describe the fields of a ${kind}.`,
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: ANY,
    status: ANY,
  },
});
