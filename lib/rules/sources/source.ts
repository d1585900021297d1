import type { Field } from "../fields/field-types.ts";
import type { Problem } from "../fields/problem.ts";
import type { Rule } from "../fields/rule.ts";
import {
  type Answer,
  type Answers,
  type MetricValue,
  type PodMetrics,
  valuesIn,
} from "../model/observation.ts";
import { foreignText } from "../model/foreign-text.ts";
import { isObject, readMilli, asList, asObject, type Json } from "../model/json.ts";
import type { AwsPlace, MetricSourceRecord, SourceKind } from "../model/metric-source.ts";
import { type MetricQuery, queryKey } from "../model/query.ts";
import type { Selector } from "../model/selector.ts";
import type { NativeMetric, NativeSource } from "../model/spec-native.ts";
import type { MetricStatus } from "../model/windows.ts";

export type Measure = NativeMetric["measure"];

/**
 * Everything that one metric source answers. A source is a file of this folder and a line of
 * `sources.ts`; no other code names it. `Read` is what a manifest says, `Spec` what of it is stored
 * in a spec, `Query` the question. Methods, so that the table may hold sources of different types.
 */
export interface MetricSource<
  Read,
  Spec extends { readonly type: string },
  Query extends MetricQuery,
  Found extends Samples = Samples,
> {
  /** As specs, events and `explain` name it: "External". */
  readonly type: Spec["type"];
  /** The block of a metric in a PodAutoscaler, with the fields of the source. */
  readonly field: Field<Read, false>;
  /** What the fields ask of each other, beyond their types and bounds. */
  readonly rules?: readonly Rule[];
  /**
   * What no rule can say of them: how a language is written that only code reads. `path` is the
   * place of the block.
   */
  problems?(read: Read, path: string): readonly Problem[];
  /** The first is for a metric that says none. */
  readonly measures: readonly [Measure, ...Measure[]];
  /**
   * `pods`: a sample of each pod of the workload. `whole`: values that are the same without any
   * pod, so that they can wake an idle workload.
   */
  readonly samplesOf: "pods" | "whole";
  /** The source of a valid manifest. Members that validation requires fall back to empty texts. */
  specOf(read: Read): Extract<NativeSource, { readonly type: Spec["type"] }>;
  /**
   * Of a registered source: how often it is asked where the manifest does not say it, and the least
   * age of a value that is no delay of the source.
   */
  times?(read: Read): { readonly everySeconds: number; readonly leastAgeSeconds: number };
  /**
   * A metric without a name has the name of the first of these fields that is written; without such
   * a field the name of the source.
   */
  readonly namedBy: readonly (keyof Read & string)[];
  /** For people: "external metric queue-length". */
  nameOf(spec: Spec): string;
  /**
   * What is asked. `undefined` where it cannot be asked, so that the metric is missing when it is
   * decided.
   */
  queryOf(spec: Spec, about: AskedAbout): Query | undefined;
  /** How the question is asked, and how the answer is read. */
  readonly asking: Asking<Query>;
  /**
   * The samples of the metric among all answers of the sync, or why there are none. Nothing shrinks
   * then.
   */
  samples(spec: Spec, context: SampleContext): Found | Failure;
  /** One entry of `status.currentMetrics`. */
  statusOf(spec: Spec, current: object): MetricStatus;
}

/** The workload that a question is about. */
export interface AskedAbout {
  readonly namespace: string;
  /** Canonical selector of the pods of the workload; `undefined` where it cannot be read. */
  readonly podSelector: string | undefined;
}

/**
 * `each`: one GET for each question, within the share of its namespace. `list`: one LIST that
 * answers all namespaces. `registered`: one request to a source outside the cluster, which an
 * administrator registered (lib/rules/model/metric-source.ts). `none`: nothing is asked, since the
 * value is calculated from the answers to others.
 */
export type Asking<Query> =
  | { readonly way: "none" }
  | {
      readonly way: "each";
      request(query: Query, namespace: string): MetricRequest;
      /** What an item counts; without it, its field `value`, which must be a quantity. */
      amountOf?(item: Json, query: Query): bigint;
      read(item: Json, milli: bigint): MetricValue;
    }
  | {
      readonly way: "list";
      readonly query: Query;
      readonly request: MetricRequest;
      read(item: Json): PodMetrics;
    }
  | (AskingRegistered<Query & RegisteredQuery> & SingleAsking<Query & RegisteredQuery>)
  | (AskingRegistered<Query & RegisteredQuery> & {
      readonly batch: BatchAsking<Query & RegisteredQuery>;
    });

interface AskingRegistered<Query extends RegisteredQuery> {
  readonly way: "registered";
  /** The kinds of sources that can answer. */
  readonly kinds: readonly SourceKind[];
  /** Why the source may not be asked this question; undefined where it may. */
  refusal?(query: Query, source: MetricSourceRecord): string | undefined;
  /** True where the time of a value is the time of its sample, and not the time of the question. */
  readonly dated?: true;
}

/** One request for each question. */
interface SingleAsking<Query extends RegisteredQuery> {
  readonly batch?: never;
  request(
    query: Query,
    asked: { readonly timeoutMs: number; readonly aws?: AwsPlace | undefined },
  ): RegisteredRequest;
  read(
    answer: ForeignAnswer,
    query: Query,
    source?: Pick<MetricSourceRecord, "partialAnswers">,
  ): Answer<readonly MetricValue[]>;
}

/** One request for many questions. */
export interface BatchAsking<Query extends RegisteredQuery> {
  /** Questions with the same text can share a request. */
  groupOf(query: Query): string;
  /** How much of `mostOf` a question takes, and of the `maxMetrics` of its source. */
  weightOf(query: Query): number;
  /** The weight of all questions of a request at most, the same for all of a group. */
  mostOf(query: Query): number;
  request(queries: readonly Query[], asked: { readonly nowMs: number }): RegisteredRequest;
  /** The request for what the answer left out; undefined where it is whole. */
  next(asked: RegisteredRequest, answer: ForeignAnswer): RegisteredRequest | undefined;
  /** True where one question may have made the service refuse all questions of the request. */
  isRefusalOfOne(answer: ForeignAnswer): boolean;
  /** The answer to each question, in their order, from all pages. */
  read(
    answers: readonly ForeignAnswer[],
    queries: readonly Query[],
  ): readonly Answer<readonly MetricValue[]>[];
}

/** A question to a registered source, by the name of the source. */
export interface RegisteredQuery extends MetricQuery {
  readonly source: string;
}

/** A GET below the address of a registered source, as data. */
export interface RegisteredRequest {
  /** "/api/v1/query", without parameters. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** A POST in the JSON protocol of a service of AWS, in place of a GET. */
  readonly call?: {
    readonly service: "sqs" | "monitoring";
    readonly target: string;
    readonly body: Json;
  };
  /** Commands of a Redis, in place of a GET. The answer is a list with a reply for each. */
  readonly commands?: readonly (readonly string[])[];
}

/**
 * The answer to a question that a registered source was not asked, or did not answer. On doubt, a
 * missing metric: nothing shrinks on it.
 */
export const noAnswer = (message: string, reason = "SourceFailed"): Answer<never> => ({
  kind: "failed",
  failure: { code: 0, reason, message },
});

/** A whole answer of a registered source. */
export interface ForeignAnswer {
  readonly status: number;
  readonly bytes: number;
  /** The parsed body; undefined where it is no JSON. */
  readonly body: unknown;
}

/**
 * The failure of an answer. It holds the status and the size, and of the content at most what
 * `words` were taken from: a body may hold a secret.
 */
export const unusable = (
  { status, bytes }: ForeignAnswer,
  reason: string,
  words: string,
): Answer<never> => ({
  kind: "failed",
  failure: { code: status, reason, message: `${words} (status ${status}, ${bytes} bytes)` },
});

const THROTTLED = 429;
const AWS_CODE = /^[A-Za-z.]{1,64}$/;

const ERROR_CHARACTERS_MAX = 200;

/**
 * What a service of AWS says of a question that it refused. A refusal of a right is not quoted so:
 * it names the role and the resource.
 */
export const awsWords = ({ body }: ForeignAnswer): string | undefined => {
  const words = isObject(body) ? (body["message"] ?? body["Message"]) : undefined;
  return typeof words === "string" ? foreignText(words.slice(0, ERROR_CHARACTERS_MAX)) : undefined;
};

/**
 * The failure of a call of AWS, by the code of its error. Its message is left out unless `quoted`
 * is: it can name the role and the resource.
 */
export const awsFailure = (
  answer: ForeignAnswer,
  words: Readonly<Record<string, string>>,
  quoted?: string,
): Answer<never> => {
  const type = isObject(answer.body) ? (answer.body["__type"] ?? answer.body["code"]) : undefined;
  const code = typeof type === "string" ? type.slice(type.lastIndexOf("#") + 1) : "";
  if (!AWS_CODE.test(code))
    return unusable(answer, "InvalidAnswer", "the answer is not one of the service of AWS");
  if (code.includes("Throttl"))
    return unusable(
      { ...answer, status: THROTTLED },
      "Throttled",
      `AWS limits the rate of requests: ${code}`,
    );
  const known = Object.entries(words).find(
    ([name]) => code.startsWith(name) || code.endsWith(name),
  )?.[1];
  return unusable(
    answer,
    "RefusedByAws",
    known === undefined
      ? `AWS answered ${code}${quoted === undefined ? "" : `: ${quoted}`}`
      : `${known}: ${code}`,
  );
};

const MILLI = 1_000;

/**
 * The nearest whole number of thousandths, as KEDA rounds, and never 0 for another value: a small
 * value keeps a workload in use. Undefined for one that is not finite or too large.
 */
export const roundedMilli = (value: number): bigint | undefined => {
  const milli = value * MILLI;
  if (!(Math.abs(milli) <= Number.MAX_SAFE_INTEGER * MILLI)) return undefined;
  return BigInt(Math.round(milli) || Math.sign(milli));
};

/** A request to the API server of the cluster, as data. */
export interface MetricRequest {
  readonly group: string;
  /**
   * The versions that can be read, the preferred one first. Where there is only one, discovery is
   * not asked.
   */
  readonly versions: readonly [string, ...string[]];
  /** Namespace of the path; absent for a LIST, which has namespaces of its own. */
  readonly namespace?: string;
  /**
   * A kind whose plural is the first segment below the namespace. `group` is empty for the core
   * group.
   */
  readonly kind?: { readonly group: string; readonly kind: string };
  /** Segments below the namespace, not yet encoded. */
  readonly path: readonly string[];
  /** Parameters of the query. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** What failures name before the group: "pods". */
  readonly resource: string;
  /** Words of the failure when no version is served. */
  readonly absent?: string;
  /** Most bytes of the answer, where its items are larger than values. */
  readonly maxBytes?: number;
}

/** What a metric says about one pod. */
export interface PodSample {
  readonly milli: bigint;
  readonly timestampMs: number;
  readonly windowMs: number;
}

/**
 * Samples by the name of the pod; of two for one pod the later in the answer counts (hpa.md 2.5).
 */
export type PodSamples = Map<string, PodSample>;

/** By pod, or the values of the whole. */
export type Samples = PodSamples | readonly bigint[];

export interface SampleContext extends Pick<AskedAbout, "namespace"> {
  readonly podSelector: Selector;
  readonly answers: Answers;
  /** The values of the other metrics of the same autoscaler, for a formula. */
  readonly inputs?: Inputs;
}

/** The value of another metric by its name, or why it is missing. */
export type Inputs = (name: string) => number | Failure;

/**
 * A metric that could not be evaluated, in the words that its event gives. Nothing shrinks on it.
 */
export interface Failure {
  readonly kind: "failure";
  readonly message: string;
  /** Why, where it is no failed question. */
  readonly reason?: "Stale";
}

/**
 * The samples of a metric of a registered source. Without a value there is no sum: it would be 0.
 */
export const registeredSamples = (
  answers: Answers,
  query: RegisteredQuery,
  {
    unable,
    empty,
  }: { readonly unable: (cause: string) => Failure; readonly empty: bigint | string },
): readonly bigint[] | Failure => {
  const answer = valuesIn(answers, queryKey(query));
  if (answer === undefined) return unable(NOT_ASKED);
  if (answer.kind === "failed") return unable(answer.failure.message);
  if (answer.items.length > 0) return answer.items.map(({ milli }) => milli);
  return typeof empty === "bigint" ? [empty] : unable(empty);
};

export const failure = (message: string, reason?: Failure["reason"]): Failure => ({
  kind: "failure",
  message,
  ...(reason && { reason }),
});

/**
 * A query that was not sent fails its metric. A missing question then holds the workload and never
 * shrinks it.
 */
export const NOT_ASKED = "the metric was not asked for in this sync";

/** Reads the items of a list of metric values one by one. */
export interface ValuesReader {
  readonly take: (raw: Json) => void;
  /**
   * One value that is not a quantity fails the whole answer: a sum without it would be too small.
   */
  readonly answer: () => Answer<readonly MetricValue[]>;
}

export const valuesReader = (
  read: (value: Json, milli: bigint) => MetricValue,
  amountOf: (value: Json) => bigint | undefined = ({ value }) => readMilli(value),
): ValuesReader => {
  const values: MetricValue[] = [];
  let failed: Answer<never> | undefined;
  return {
    take: (raw) => {
      const milli = amountOf(raw);
      if (milli !== undefined) values.push(read(raw, milli));
      else
        failed ??= invalid(
          `the answer holds ${foreignText(JSON.stringify(raw["value"]) ?? "nothing")} where a quantity is expected`,
        );
    },
    answer: () => failed ?? { kind: "answered", items: values },
  };
};

/** Reads items that are there as a whole. A server in Go may write an empty list as null. */
export const readValues = (
  { take, answer }: ValuesReader,
  items: unknown,
): Answer<readonly MetricValue[]> => {
  // On doubt, a missing metric: an answer without its items would look like a metric without
  // values.
  if (!Array.isArray(items) && items !== null) return invalid("the answer has no list of items");
  for (const raw of asList(items)) take(asObject(raw));
  return answer();
};

const invalid = (message: string): Answer<never> => ({
  kind: "failed",
  failure: { code: 0, reason: "InvalidAnswer", message },
});
