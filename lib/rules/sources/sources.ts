import type { MetricSourceRecord } from "../model/metric-source.ts";
import type { MetricQuery } from "../model/query.ts";
import type { HpaSource } from "../model/spec-hpa.ts";
import type { NativeSource } from "../model/spec-native.ts";
import { CLOUDWATCH } from "./cloudwatch.ts";
import { EXTERNAL } from "./external.ts";
import { FORMULA } from "./formula.ts";
import { HTTP } from "./http.ts";
import { NAMESPACE, OBJECT } from "./object.ts";
import { POD_COUNT } from "./pod-count.ts";
import { PODS } from "./pods.ts";
import { PROMETHEUS } from "./prometheus.ts";
import { REDIS } from "./redis.ts";
import { CONTAINER_RESOURCE, RESOURCE } from "./resource.ts";
import type { MetricSource, RegisteredQuery } from "./source.ts";
import { SQS } from "./sqs.ts";

/**
 * Every source, by its field in a metric of a PodAutoscaler. Two with one type differ only in the
 * manifest; the first of them answers for both.
 */
export const SOURCES = {
  resource: RESOURCE,
  containerResource: CONTAINER_RESOURCE,
  pods: PODS,
  object: OBJECT,
  external: EXTERNAL,
  namespace: NAMESPACE,
  podCount: POD_COUNT,
  prometheus: PROMETHEUS,
  http: HTTP,
  redis: REDIS,
  sqs: SQS,
  cloudwatch: CLOUDWATCH,
  formula: FORMULA,
} as const;

export type SourceName = keyof typeof SOURCES;
export const SOURCE_NAMES = Object.keys(SOURCES) as readonly SourceName[];

/** A source of a spec, in the words of autoscaling/v2 or of the native rules. */
export type SourceSpec = HpaSource | NativeSource;

/** A source of the table for callers that do not look at its type. */
export type AnySource = MetricSource<object, SourceSpec, MetricQuery>;

/** The fields of a source that give its metric a name. */
export const namedBy = (name: SourceName): readonly string[] => SOURCES[name].namedBy;

/**
 * The source with this field. The table is right by its own type; here its members get one type.
 */
export const sourceNamed = (name: SourceName): AnySource => SOURCES[name] as unknown as AnySource;

const ALL: readonly (readonly [SourceName, AnySource])[] = SOURCE_NAMES.map((name) => [
  name,
  sourceNamed(name),
]);
const BY_NAME: ReadonlyMap<string, AnySource> = new Map(ALL);
const BY_TYPE = new Map(ALL.map(([, source]) => [source.type, source] as const).toReversed());

/**
 * The source that a spec names. Exhaustive: a caller does not compile while a type of a spec has no
 * line in the table.
 */
export const sourceOf = ({
  type,
}: {
  readonly type: (typeof SOURCES)[SourceName]["type"];
}): AnySource => {
  const source = BY_TYPE.get(type);
  if (source === undefined)
    throw new RangeError(`Cannot measure a metric of type "${type}": no source has it`);
  return source;
};

/** The source that answers a question, which begins with the name of its field. */
export const answererOf = ({ for: name }: MetricQuery): AnySource => {
  const source = BY_NAME.get(name);
  if (source === undefined) throw new RangeError(`Cannot ask "${name}": no source answers it`);
  return source;
};

/** The questions whose answer is one LIST for many namespaces. */
export const LISTED: readonly MetricQuery[] = [
  ...new Set(ALL.flatMap(([, { asking }]) => (asking.way === "list" ? [asking.query] : []))),
];

/** True for a question to a registered source, which the cluster is not asked. */
export const isRegistered = (query: MetricQuery): query is RegisteredQuery =>
  answererOf(query).asking.way === "registered";

/** True where an answer has the time of its sample. */
export const isDated = (query: RegisteredQuery): boolean => {
  const { asking } = answererOf(query);
  return asking.way === "registered" && asking.dated === true;
};

/**
 * The question of a metric of a registered source; `undefined` for a metric that the cluster is
 * asked for. It depends on no pod and no namespace.
 */
export const registeredQueryOf = (
  spec: { readonly type: (typeof SOURCES)[SourceName]["type"] } & SourceSpec,
): RegisteredQuery | undefined => {
  const source = sourceOf(spec);
  if (source.asking.way !== "registered") return undefined;
  const query = source.queryOf(spec, { namespace: "", podSelector: undefined });
  return query && isRegistered(query) ? query : undefined;
};

/** The question of a metric with these fields of its source. */
export const questionTo = (name: SourceName, fields: object): RegisteredQuery | undefined =>
  registeredQueryOf(sourceNamed(name).specOf(fields));

type Registered = Extract<AnySource["asking"], { readonly way: "registered" }>;

/** How a question to a registered source is asked. */
export const askingOf = (query: RegisteredQuery): Registered => {
  const { asking } = answererOf(query);
  if (asking.way !== "registered")
    throw new TypeError(`The question "${query.for}" is not answered by a registered source`);
  return asking;
};

/** How much of the `maxMetrics` of its source a question takes. */
export const weightOf = (query: RegisteredQuery): number =>
  askingOf(query).batch?.weightOf(query) ?? 1;

/** Why a source is not asked this question: it is of another kind, or does not allow it. */
export const refusalOf = (
  query: RegisteredQuery,
  source: MetricSourceRecord,
): { readonly reason: string; readonly message: string } | undefined => {
  const { kinds, refusal } = askingOf(query);
  if (!kinds.includes(source.kind))
    return {
      reason: "WrongKind",
      message: `source "${source.name}" is of kind ${source.kind}, and this metric needs ${kinds.join(" or ")}`,
    };
  const refused = refusal?.(query, source);
  return refused === undefined ? undefined : { reason: "NotAllowed", message: refused };
};
