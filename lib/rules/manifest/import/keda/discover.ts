import { asList, asObject, type Json, present } from "../../../model/json.ts";
import { keyText, REDIS_KINDS } from "../../../model/metric-source.ts";
import { writtenNamespace, writtenName, textOf } from "../schedules/timed.ts";
import {
  isAddressed,
  REDIS_TYPES,
  type SourcePlace,
  sourcePlaceOf,
  sourcePlaceText,
  sourceNameOf,
  triggersIn,
} from "./places.ts";
import { RECIPES } from "./recipes/recipes.ts";
import { redisKeyOf } from "./redis.ts";
import { WAYS_OUT } from "./ways-out.ts";

/** A metric source that ScaledObjects ask today, and that is to be registered for them. */
export interface DiscoveredSource {
  /** The name that `--source auto` of `convert` and `import` gives it. */
  readonly name: string;
  readonly place: SourcePlace;
  /** A service of the cluster, where the host of the address is one. */
  readonly service?: { readonly text: string; readonly scheme: "http" | "https" };
  /** Namespaces of the ScaledObjects that ask it. */
  readonly namespaces: readonly string[];
  /** "shop/web", in order. */
  readonly usedBy: readonly string[];
  /** What a source in AWS is allowed to read. */
  readonly queues?: readonly string[];
  readonly metricNamespaces?: readonly string[];
  /** Of a Redis: the keys that are counted. */
  readonly keys?: readonly string[];
  readonly search?: true;
  /** Secrets that the TriggerAuthentication names: "shop/prometheus: token is bearerToken". */
  readonly secrets: readonly string[];
}

/** The distinct places of all triggers, as sources to register, in order of their names. */
export const discoverSources = (
  scaledObjects: readonly Json[],
  authentications: readonly Json[],
): readonly DiscoveredSource[] => {
  const asked = scaledObjects.flatMap((raw) =>
    triggersIn(raw).flatMap((trigger) => {
      const metadata = asObject(trigger["metadata"]);
      const place = sourcePlaceOf(
        { type: String(trigger["type"]), metadata, raw: trigger },
        writtenNamespace(raw),
      );
      return place && isAddressed(place)
        ? [{ place, metadata, namespace: writtenNamespace(raw), name: writtenName(raw) }]
        : [];
    }),
  );
  return [...Map.groupBy(asked, ({ place }) => sourcePlaceText(place)).values()]
    .flatMap((of) => sourceOf(of, authentications))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
};

/** Triggers that ask no place of their own: by type, with what a person does for them. */
export const withoutPlaces = (scaledObjects: readonly Json[]): readonly string[] => {
  const types = scaledObjects.flatMap(triggersIn).map(({ type }) => String(type));
  return [...Map.groupBy(types, (type) => type)].flatMap(([type, { length }]) => {
    const recipe = REDIS_TYPES.has(type) ? undefined : RECIPES.get(type);
    const of = `${length} ${length === 1 ? "trigger" : "triggers"} of ${type}`;
    if (recipe)
      return [
        `${of}: asked of a Prometheus with the series of ${recipe.exporter}; give --source ${type}=NAME, too`,
      ];
    const way = WAYS_OUT.get(type);
    return way === undefined ? [] : [`${of}: not carried over; ${way}`];
  });
};

interface Asked {
  readonly place: SourcePlace;
  readonly metadata: Json;
  readonly namespace: string;
  readonly name: string;
}

const distinct = (texts: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(texts.filter((text) => text !== undefined))].sort();

const sourceOf = (
  asked: readonly Asked[],
  authentications: readonly Json[],
): readonly DiscoveredSource[] => {
  const [first] = asked;
  if (first === undefined) return [];
  const { place } = first;
  const namespaces = distinct(asked.map(({ namespace }) => namespace));
  const field = (name: string) => distinct(asked.map(({ metadata }) => textOf(metadata[name])));
  return [
    {
      name: sourceNameOf(place),
      place,
      ...present({ service: serviceOf(place) }),
      namespaces,
      usedBy: distinct(asked.map(({ namespace, name }) => `${namespace}/${name}`)),
      ...(place.kind === "sqs" && { queues: field("queueURL").map(queueOf) }),
      ...(REDIS_KINDS.includes(place.kind) && {
        keys: distinct(asked.map(({ metadata }) => keyText(redisKeyOf(metadata)))),
      }),
      ...(place.kind === "cloudwatch" && {
        metricNamespaces: field("namespace"),
        ...(field("expression").length > 0 && { search: true as const }),
      }),
      secrets: distinct(asked.flatMap((one) => secretsOf(one, authentications))),
    },
  ];
};

const queueOf = (queueUrl: string): string => {
  const [, accountId, name] = /\/(\d{12})\/([^/]+)$/.exec(queueUrl) ?? [];
  return accountId === undefined ? queueUrl : `${accountId}/${name}`;
};

const SERVICE_HOST = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.[a-z0-9.-]+)?$/;
const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** The service behind a host of the cluster's own names: "prometheus.monitoring.svc". */
const serviceOf = ({ address, kind }: SourcePlace): DiscoveredSource["service"] => {
  if (address === undefined || !URL.canParse(address) || REDIS_KINDS.includes(kind))
    return undefined;
  const { hostname, protocol, port, pathname } = new URL(address);
  const [, name, namespace] = SERVICE_HOST.exec(hostname) ?? [];
  if (name === undefined) return undefined;
  const path = pathname === "/" ? "" : pathname;
  return {
    text: `${namespace}/${name}:${port || PORTS[protocol]}${path}`,
    scheme: protocol === "https:" ? "https" : "http",
  };
};

/** What the TriggerAuthentication reads. Only names are read: never a Secret. */
const secretsOf = (
  { place, namespace }: Asked,
  authentications: readonly Json[],
): readonly string[] => {
  const [kind, name] = place.authentication?.split("/").slice(-2) ?? [];
  const found = authentications.find(
    (raw) =>
      raw["kind"] === kind &&
      writtenName(raw) === name &&
      (kind === "ClusterTriggerAuthentication" || writtenNamespace(raw) === namespace),
  );
  return asList(asObject(found?.["spec"])["secretTargetRef"]).map((target) => {
    const { name: secret, key, parameter } = asObject(target);
    return `${namespace}/${String(secret)}: ${String(key)} is ${String(parameter)}`;
  });
};
