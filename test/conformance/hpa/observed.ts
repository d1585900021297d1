import { unknownKind } from "../../../lib/stack/cluster/scale.ts";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Answer, Answers, Pod } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { ExternalQuery } from "../../../lib/rules/sources/external.ts";
import {
  answersOf,
  type CustomQuery,
  readCustomValues,
  readExternalValues,
  readPodMetrics,
} from "../../answers.ts";
import { readPods, readFailure } from "../../cluster/read/answers.ts";

/** Raw answers of the APIs, as the vectors hold them. */
export interface RawAnswers {
  readonly resource?: RawAnswer;
  readonly custom?: readonly (RawAnswer & { readonly query: RawQuery })[];
  readonly external?: readonly (RawAnswer & { readonly query: RawQuery })[];
}

export interface RawAnswer {
  readonly items?: readonly unknown[] | null;
  readonly error?: unknown;
}

interface RawQuery {
  readonly for?: "pods" | "object";
  readonly object?: { readonly group?: string; readonly kind: string; readonly name: string };
  readonly metric: string;
  readonly selector?: string;
}

/**
 * Answers by the keys of the queries that an autoscaler asks; each query finds its answer as the
 * vectors' README says.
 */
export const readAnswers = (
  raw: RawAnswers,
  custom: readonly CustomQuery[],
  external: readonly ExternalQuery[],
): Answers => {
  const resource = raw.resource;
  const answers = {
    custom: answersByKey(custom, (query) => customAnswer(raw, query)),
    external: answersByKey(external, (query) => externalAnswer(raw, query)),
  };
  if (!resource) return answersOf(answers);
  return answersOf({
    ...answers,
    resource: resource.error
      ? failed(resource.error)
      : { kind: "answered", items: labelIndex(readPodMetrics(resource.items)) },
  });
};

/**
 * A query without an answer stays away: a vector leaves out what its sync does not evaluate, and
 * where it does evaluate it, the metric fails and shows.
 */
const answersByKey = <Query extends CustomQuery | ExternalQuery, Item>(
  queries: readonly Query[],
  answer: (query: Query) => Item | undefined,
): Map<string, Item> =>
  new Map(
    queries.flatMap((query) => {
      const found = answer(query);
      return found === undefined ? [] : [[queryKey(query), found] as const];
    }),
  );

const failed = (error: unknown): Answer<never> => ({ kind: "failed", failure: readFailure(error) });

const customAnswer = (raw: RawAnswers, query: CustomQuery) => {
  const found = raw.custom?.find(
    (candidate) => sameMetric(candidate.query, query) && sameSubject(candidate.query, query),
  );
  // A kind that the API server does not serve is never asked for; the client's mapper refuses it.
  if (!found)
    return query.for === "object"
      ? { kind: "failed" as const, failure: unknownKind(query.kind, query.group) }
      : undefined;
  return found.error ? failed(found.error) : readCustomValues(found.items);
};

const externalAnswer = (raw: RawAnswers, query: ExternalQuery) => {
  const found = raw.external?.find((candidate) => sameMetric(candidate.query, query));
  if (!found) return undefined;
  return found.error ? failed(found.error) : readExternalValues(found.items);
};

const sameMetric = (raw: RawQuery, query: CustomQuery | ExternalQuery): boolean =>
  raw.metric === query.metric && (raw.selector ?? "") === query.metricSelector;

const sameSubject = (raw: RawQuery, query: CustomQuery): boolean => {
  if (query.for === "pods") return raw.for === "pods";
  if (query.for !== "object") return false;
  return (
    raw.object?.kind === query.kind &&
    raw.object.name === query.name &&
    (raw.object.group ?? "") === query.group
  );
};

export const podIndex = (raw: readonly unknown[]) => labelIndex<Pod>(readPods(raw));
