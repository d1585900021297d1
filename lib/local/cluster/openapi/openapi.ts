import { createHash } from "node:crypto";
import { groupVersion, RESOURCES } from "../served-resources.ts";
import { operationsOf } from "./operations.ts";
import { schemaOf } from "./schemas.ts";

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
 * path, and for a group that is not described: those of metrics have no objects that are written.
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
