import type { KindPath } from "./discovery.ts";

/** Every object of a kind, or those of one namespace. */
export const listPath = ({ base, plural }: KindPath, namespace?: string): string => `${base}${inNamespace(namespace)}/${plural}`;

export const objectPath = (kind: KindPath, namespace: string, name: string): string => `${listPath(kind, namespace)}/${segment(name)}`;

export const scalePath = (kind: KindPath, namespace: string, name: string): string => `${objectPath(kind, namespace, name)}/scale`;

/** "/namespaces/shop", or nothing for the whole cluster. */
export const inNamespace = (namespace: string | undefined): string => (namespace === undefined ? "" : `/namespaces/${segment(namespace)}`);

/** One path segment of any text, so that a name never reaches another resource. */
export const segment = (text: string): string => encodeURIComponent(text);
