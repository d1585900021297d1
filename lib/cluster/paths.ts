import type { KindPath } from "./discovery.ts";

/** Path of all objects of a kind, or of those in one namespace. */
export const listPath = ({ base, plural }: KindPath, namespace?: string): string => `${base}${inNamespace(namespace)}/${plural}`;

export const objectPath = (kind: KindPath, namespace: string, name: string): string => `${listPath(kind, namespace)}/${segment(name)}`;

export const scalePath = (kind: KindPath, namespace: string, name: string): string => `${objectPath(kind, namespace, name)}/scale`;

/** "/namespaces/shop", or empty for the whole cluster. */
export const inNamespace = (namespace: string | undefined): string => (namespace === undefined ? "" : `/namespaces/${segment(namespace)}`);

/** Encodes a text as one path segment, so that a name cannot reach another resource. */
export const segment = (text: string): string => encodeURIComponent(text);
