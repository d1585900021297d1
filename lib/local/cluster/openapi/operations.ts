import type { Resource } from "../served-resources.ts";
import { groupVersionKind, schemaNameOf } from "./schemas.ts";

type Json = Readonly<Record<string, unknown>>;

const WRITE = ["dryRun", "fieldManager", "fieldValidation"];

/** The paths of a resource with their methods, as far as a client looks at them: which kind they are about, and which parameters they take. */
export const operationsOf = (root: string, resource: Resource): Json => {
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
