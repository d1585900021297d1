import type { Seen } from "./server.ts";

/** A request as the authorizer of the API server sees it. */
export type Asked =
  | {
      readonly kind: "resource";
      readonly group: string;
      readonly resource: string;
      readonly verb: string;
      readonly name?: string;
    }
  | { readonly kind: "path"; readonly path: string; readonly verb: string };

/**
 * Which permission a request needs: the rules by which the API server reads group, resource,
 * subresource and verb from method and path.
 */
export const requestInfo = ({ method, url }: Pick<Seen, "method" | "url">): Asked => {
  const path = decodeURIComponent(url.pathname);
  const parts = path.split("/").filter((part) => part !== "");
  const core = parts[0] === "api";
  const rest = parts.slice(core ? 2 : 3);
  if (rest.length === 0) return { kind: "path", path, verb: method.toLowerCase() };
  // "namespaces/NS/…" is a request inside the namespace; with fewer parts it is about the Namespace
  // itself.
  const [resource = "", name, subresource] =
    rest[0] === "namespaces" && rest.length > 2 ? rest.slice(2) : rest;
  const read = url.searchParams.has("watch") ? "watch" : "list";
  const verb = method === "PUT" ? "update" : name === undefined ? read : "get";
  return {
    kind: "resource",
    group: core ? "" : (parts[1] ?? ""),
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    verb,
    ...(name !== undefined && { name }),
  };
};

export const askedText = (asked: Asked): string =>
  asked.kind === "path"
    ? `${asked.verb} ${asked.path}`
    : `${asked.verb} ${asked.resource}${asked.group === "" ? "" : `.${asked.group}`}`;
