import { groupOf } from "../../rules/model/spec-common.ts";
import { isObject, type Json } from "../../rules/model/json.ts";
import type { ApiFailure } from "../../rules/model/observation.ts";
import { ABSENCE_TTL_MS, DISCOVERY_TTL_MS, MAX_DISCOVERY_BYTES } from "./request-limits.ts";
import type { CallBudget } from "./transport/budget.ts";
import type { ReadAnswer, Transport } from "./transport/transport.ts";
import type { Message } from "./wire/message.ts";
import { API_GROUP, API_RESOURCES } from "./wire/objects.ts";

/** Path of all objects of a kind, or of those in one namespace. */
export const listPath = ({ base, plural }: KindPath, namespace?: string): string =>
  `${base}${inNamespace(namespace)}/${plural}`;

export const objectPath = (kind: KindPath, namespace: string, name: string): string =>
  `${listPath(kind, namespace)}/${segment(name)}`;

export const scalePath = (kind: KindPath, namespace: string, name: string): string =>
  `${objectPath(kind, namespace, name)}/scale`;

/** "/namespaces/shop", or empty for the whole cluster. */
export const inNamespace = (namespace: string | undefined): string =>
  namespace === undefined ? "" : `/namespaces/${segment(namespace)}`;

/** Encodes a text as one path segment, so that a name cannot reach another resource. */
export const segment = (text: string): string => encodeURIComponent(text);

export interface KindPath {
  /** "/apis/apps/v1" or "/api/v1". */
  readonly base: string;
  /** The plural in paths: "deployments". */
  readonly plural: string;
  /** The resource as the API server prints it: "deployments.apps", "replicationcontrollers". */
  readonly resource: string;
}

export interface Target {
  readonly apiVersion?: string;
  readonly kind: string;
}

export type Found<Value> =
  | { readonly kind: "found"; readonly value: Value }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/**
 * The kinds and versions that the API server serves. What is served counts for ten minutes. What is
 * absent counts for one minute, also where only the kind is absent and its group is served.
 */
export interface Discovery {
  /**
   * The path of a kind. The version in `apiVersion` is ignored, as by the HPA controller: the first
   * version of the group that has the kind counts, beginning with the preferred one.
   */
  readonly kindPath: (target: Target, budget: CallBudget) => Promise<Found<KindPath>>;
  /** Versions of an API group, preferred first; empty when the group is not served. */
  readonly groupVersions: (group: string, budget: CallBudget) => Promise<Found<readonly string[]>>;
  /** Drops what is known of the versions of a group, because a path of it was not found. */
  readonly forget: (group: string) => void;
}

/**
 * `newestKindMs` says when the cluster last got a kind, where that is known: an absence from before
 * does not count.
 */
export const apiDiscovery = (
  transport: Transport,
  clock: () => number,
  newestKindMs: () => number = () => Number.NEGATIVE_INFINITY,
): Discovery => {
  const kept = new Map<
    string,
    { readonly answer: Promise<ReadAnswer>; readonly startMs: number; readonly isRead: boolean }
  >();
  const absenceMs = (): number => Math.min(ABSENCE_TTL_MS, clock() - newestKindMs());

  /**
   * Sends one GET for all concurrent callers. After a failure other than "absent" the next caller
   * sends it again.
   */
  const read: Read = (path, fields, budget, { lacks } = { lacks: false }) => {
    const known = kept.get(path);
    const ttlMs = known?.isRead && !lacks ? DISCOVERY_TTL_MS : absenceMs();
    if (known && clock() - known.startMs < ttlMs) return known.answer;
    const startMs = clock();
    const answer = transport.get(
      { path, resource: path, fields, maxBytes: MAX_DISCOVERY_BYTES },
      budget,
    );
    kept.set(path, { answer, startMs, isRead: false });
    answer.then(
      (answered) => {
        if (answered.kind === "read") kept.set(path, { answer, startMs, isRead: true });
        else if (answered.failure.code !== 404) kept.delete(path);
      },
      () => kept.delete(path),
    );
    return answer;
  };

  return {
    groupVersions: (group, budget) => groupVersions(read, group, budget),
    kindPath: (target, budget) => kindPath(read, target, budget),
    forget: (group) => {
      kept.delete(groupPath(group));
    },
  };
};

/**
 * Reads these fields of a document of discovery. One path is always read for the same fields.
 * `lacks`: what is wanted was not in the answer, which then counts no longer than an absence.
 */
type Read = (
  path: string,
  fields: Message,
  budget: CallBudget,
  found?: { readonly lacks: boolean },
) => Promise<ReadAnswer>;

const groupPath = (group: string): string => `/apis/${encodeURIComponent(group)}`;

const groupVersions = async (
  read: Read,
  group: string,
  budget: CallBudget,
): Promise<Found<readonly string[]>> => {
  const answer = await read(groupPath(group), API_GROUP, budget);
  if (answer.kind === "read") return { kind: "found", value: versionsOf(answer.body) };
  return answer.failure.code === 404 ? { kind: "found", value: [] } : answer;
};

const kindPath = async (
  read: Read,
  { apiVersion, kind }: Target,
  budget: CallBudget,
): Promise<Found<KindPath>> => {
  const group = groupOf(apiVersion);
  if (group === undefined)
    return failed(400, "BadRequest", `unexpected GroupVersion string: ${apiVersion}`);
  const builtIn = BUILT_IN[`${group}/${kind}`];
  if (builtIn !== undefined) return { kind: "found", value: builtIn };
  const bases = await basesOf(read, group, budget);
  if (bases.kind === "failed") return bases;
  return searched(read, bases.value, { group, kind }, budget);
};

const searched = async (
  read: Read,
  bases: readonly string[],
  { group, kind }: { group: string; kind: string },
  budget: CallBudget,
): Promise<Found<KindPath>> => {
  for (const base of bases) {
    const resources = await resourcesWith(read, base, kind, budget);
    const plural = resources.kind === "read" ? pluralOf(resources.body, kind) : undefined;
    if (plural !== undefined)
      return {
        kind: "found",
        value: { base, plural, resource: group === "" ? plural : `${plural}.${group}` },
      };
    // On doubt, the kind is unknown: a version that could not be read may have it, so that "no such
    // kind" is not proven.
    if (resources.kind === "failed" && resources.failure.code !== 404) return resources;
  }
  return failed(404, "NotFound", `no matches for kind "${kind}" in group "${group}"`);
};

/**
 * The resources of a version. Where they lack the kind, an answer that is older than an absence may
 * be is asked for again.
 */
const resourcesWith = async (
  read: Read,
  base: string,
  kind: string,
  budget: CallBudget,
): Promise<ReadAnswer> => {
  const known = await read(base, API_RESOURCES, budget);
  const lacks = known.kind === "read" && pluralOf(known.body, kind) === undefined;
  return lacks ? read(base, API_RESOURCES, budget, { lacks }) : known;
};

const basesOf = async (
  read: Read,
  group: string,
  budget: CallBudget,
): Promise<Found<readonly string[]>> => {
  if (group === "") return { kind: "found", value: ["/api/v1"] };
  const versions = await groupVersions(read, group, budget);
  return versions.kind === "found"
    ? { kind: "found", value: versions.value.map((version) => `/apis/${group}/${version}`) }
    : versions;
};

/**
 * Kinds with the same path in every cluster. A LIST of their objects gives their scales (scale.ts).
 */
const BUILT_IN: Readonly<Record<string, KindPath>> = {
  "apps/Deployment": { base: "/apis/apps/v1", plural: "deployments", resource: "deployments.apps" },
  "apps/StatefulSet": {
    base: "/apis/apps/v1",
    plural: "statefulsets",
    resource: "statefulsets.apps",
  },
  "apps/ReplicaSet": { base: "/apis/apps/v1", plural: "replicasets", resource: "replicasets.apps" },
  "/ReplicationController": {
    base: "/api/v1",
    plural: "replicationcontrollers",
    resource: "replicationcontrollers",
  },
};

/** Where the objects of a built-in kind are; undefined for any other kind. */
export const builtInPath = (target: Target): KindPath | undefined =>
  isBuiltIn(target) ? BUILT_IN[`${groupOf(target.apiVersion)}/${target.kind}`] : undefined;

/** True for the kinds whose objects give their scale without the subresource. */
export const isBuiltIn = (target: Target): boolean =>
  Object.hasOwn(BUILT_IN, `${groupOf(target.apiVersion)}/${target.kind}`);

const failed = (
  code: number,
  reason: string,
  message: string,
): { readonly kind: "failed"; readonly failure: ApiFailure } => ({
  kind: "failed",
  failure: { code, reason, message },
});

const versionsOf = (group: Json): readonly string[] => {
  const versions = objectsIn(group["versions"]).flatMap(({ version }) =>
    typeof version === "string" ? [version] : [],
  );
  const preferred = objectsIn([group["preferredVersion"]])[0]?.["version"];
  return typeof preferred === "string"
    ? [preferred, ...versions.filter((version) => version !== preferred)]
    : versions;
};

/** The plural of a kind among the resources of a version. */
export const pluralOf = (resources: Json, kind: string): string | undefined => {
  const served = objectsIn(resources["resources"]).find(
    (resource) =>
      resource["kind"] === kind &&
      typeof resource["name"] === "string" &&
      !resource["name"].includes("/"),
  );
  return served === undefined ? undefined : String(served["name"]);
};

export const objectsIn = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
