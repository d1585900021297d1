import { createHash } from "node:crypto";
import { podAutoscalerDefinition } from "../../manifest/crd/definition.ts";
import { groupVersion, RESOURCES, type Resource } from "./served-resources.ts";

const ROOT = "/openapi/v3";
const HASH_CHARACTERS = 16;

interface Described {
  /** "api/v1", or "apis/GROUP/VERSION". */
  readonly name: string;
  readonly document: unknown;
  readonly hash: string;
}

/**
 * The answer to a path of the OpenAPI description, version 3. kubectl reads it before an apply, to learn that the server itself checks fields, and for `explain`. Undefined for every other
 * path, and for a group that is not described: the groups of metrics have no objects that are written.
 */
export const openApi = (path: string): unknown => {
  if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return undefined;
  described ??= describe();
  if (path === ROOT)
    return { paths: Object.fromEntries(described.map(({ name, hash }) => [name, { serverRelativeURL: `${ROOT}/${name}?hash=${hash}` }])) };
  return described.find(({ name }) => path === `${ROOT}/${name}`)?.document;
};

/** Made at the first question, as most runs are never asked. */
let described: readonly Described[] | undefined;

const describe = (): readonly Described[] => {
  const groups = Map.groupBy(
    RESOURCES.filter(({ stored }) => stored),
    (resource) => (resource.group === "" ? `api/${resource.version}` : `apis/${groupVersion(resource)}`),
  );
  return [...groups].map(([name, resources]) => {
    const document = {
      openapi: "3.0.0",
      info: { title: "Simulated cluster of Tidemark", version: "v1" },
      paths: Object.assign({}, ...resources.map((resource) => operationsOf(`/${name}`, resource))),
      components: { schemas: Object.assign({}, ...resources.map(schemaOf)) },
    };
    return { name, document, hash: createHash("sha256").update(JSON.stringify(document)).digest("hex").slice(0, HASH_CHARACTERS) };
  });
};

type Json = Readonly<Record<string, unknown>>;

const WRITE = ["dryRun", "fieldManager", "fieldValidation"];

/** The paths of a resource with their methods, as far as a client looks at them: which kind they are about, and which parameters they take. */
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
      parameters: parameters.map((name) => ({ name, in: "query", schema: { type: name === "force" ? "boolean" : "string" } })),
      responses: { "200": { description: "OK", content: { "application/json": { schema } } } },
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": groupVersionKind(resource),
    };
  };

/** The name of a kind in a description, as API servers make it: the group backwards, version and kind. */
const schemaNameOf = ({ group, version, kind }: Resource): string => [...group.split(".").toReversed(), version, kind].filter(Boolean).join(".");

const groupVersionKind = ({ group, version, kind }: Resource) => ({ group, version, kind });

/** The schema of a kind under its name. A PodAutoscaler has the schema of its definition; of the others no field is described. */
const schemaOf = (resource: Resource): Json => ({
  [schemaNameOf(resource)]: {
    ...(resource.kind === "PodAutoscaler" ? ownSchema() : anySchema(resource)),
    "x-kubernetes-group-version-kind": [groupVersionKind(resource)],
  },
});

const ownSchema = (): Json => {
  const { spec } = podAutoscalerDefinition() as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Json } }[] };
  };
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
};

const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const anySchema = ({ kind }: Resource): Json => ({
  type: "object",
  description: `The simulated cluster does not describe the fields of a ${kind}.`,
  properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" }, spec: ANY, status: ANY },
});
