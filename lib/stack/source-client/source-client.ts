import type { ClusterClient, ServiceAnswer } from "../cluster/cluster-client.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { jsonIn } from "../../rules/model/json.ts";
import {
  type MetricSourceRecord,
  REDIS_KINDS,
  signedServiceOf,
} from "../../rules/model/metric-source.ts";
import type {
  Answer,
  ApiFailure,
  MetricValue,
  QuestionKey,
} from "../../rules/model/observation.ts";
import { queryKey } from "../../rules/model/query.ts";
import {
  type ForeignAnswer,
  noAnswer,
  type RegisteredQuery,
  type RegisteredRequest,
} from "../../rules/sources/source.ts";
import { askingOf, refusalOf } from "../../rules/sources/sources.ts";
import type { AwsSender, OwnAccount } from "./aws.ts";
import { askChunk, chunksOf, type SendBatch } from "./batches.ts";
import { type Credential, credentialReader, noRole, noSecret } from "./credential.ts";
import {
  directSender,
  type SendToSource,
  type SignRequest,
  type Circuit,
  circuitOf,
  MAX_SOURCE_BYTES,
  QUESTIONS_PARALLEL,
  SLOW_MS,
} from "./direct.ts";
import { watched } from "./slow-answers.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import { type FairGate, fairGate } from "../turns/gate.ts";
import { OF_THE_MACHINE } from "../cluster/transport/exchange.ts";

export type SourceAnswers = ReadonlyMap<QuestionKey, Answer<readonly MetricValue[]>>;

/**
 * Asks registered sources. One is kept in a warm environment, so that connections, credentials and
 * open circuits are kept.
 */
export interface SourceClient {
  /**
   * Asks a source all questions of one sync, each different one once, in fair turns of their flows
   * and within a flow in their order. A failed question is a failure value, never an exception.
   */
  readonly ask: (
    source: MetricSourceRecord,
    queries: readonly RegisteredQuery[],
    context: AskContext,
  ) => Promise<SourceAnswers>;
  readonly close: () => void;
}

export interface AskContext {
  readonly cluster: string;
  /** Milliseconds that are left for all questions of the sync. */
  readonly leftMs: () => number;
  /** The way to the services of the cluster. */
  readonly getFromService?: ClusterClient["getFromService"];
  /** The namespace that asks a question. Without it, all questions are of one. */
  readonly flowOf?: (key: QuestionKey) => string;
  /** Called with each answer as it comes. */
  readonly onAnswer?: (key: QuestionKey, answer: Answer<readonly MetricValue[]>) => void;
}

export interface SourceClientOptions {
  /** The real wall clock in milliseconds. */
  readonly clock: () => number;
  /** True in the embedded run only: a source may be on this machine. */
  readonly ownAddresses: boolean;
  /** In the embedded run only: an account of AWS whose services are on this machine. */
  readonly ownAccount?: OwnAccount;
}

type Answered = Answer<readonly MetricValue[]>;

export const sourceClient = ({
  clock,
  ownAddresses,
  ownAccount,
}: SourceClientOptions): SourceClient => {
  const direct = directSender({ ownAddresses });
  const credentials = credentialReader(clock, { direct, ownAddresses });
  let awsLoaded: Promise<AwsSender> | undefined;
  // Most stacks have no source of AWS, and start without its code.
  const aws = (): Promise<AwsSender> => {
    awsLoaded ??= import("./aws.ts").then(({ awsSender }) =>
      awsSender({ clock, ...(ownAccount && { ownAccount }) }),
    );
    return awsLoaded;
  };
  const kept = new Map<string, Kept>();
  const keptOf = (source: MetricSourceRecord, cluster: string): Kept => {
    const key = JSON.stringify([source.name, source.version, source.service ? cluster : ""]);
    const known = kept.get(key) ?? { circuit: circuitOf(clock), gate: gateOfSource() };
    kept.set(key, known);
    return known;
  };
  return {
    ask: async (source, queries, context) => {
      const distinct = [...new Map(queries.map((query) => [queryKey(query), query]))];
      const { circuit, gate } = keptOf(source, context.cluster);
      const { flowOf = ONE_FLOW, onAnswer } = context;
      const toAll = (answer: Answered): SourceAnswers => {
        for (const [key] of distinct) onAnswer?.(key, answer);
        return new Map(distinct.map(([key]) => [key, answer]));
      };
      const open = circuit.begin();
      if (open) return toAll(noAnswer(`source "${source.name}" ${open}`, "CircuitOpen"));
      const credential = await inTime(() => credentials(source), {
        leftMs: context.leftMs(),
        unable: (error) => noSecret(source, error),
      });
      if (credential.kind === "failed") {
        circuit.end(credential.failure.message);
        return toAll(credential);
      }
      const ways = { direct, aws, credential, ownAddresses };
      const send = await inTime(() => senderTo(source, context, ways), {
        leftMs: context.leftMs(),
        unable: (error) => noRole(source, error),
      });
      if (typeof send !== "function") {
        circuit.end(send.failure.message);
        return toAll(send);
      }
      const found = await askAll(source, distinct, {
        ...context,
        send,
        clock,
        flowOf,
        inTurn: (flow, ask) => gate.run(`${context.cluster}/${flow}`, ask),
      });
      circuit.end(brokenSource(found.map(([, answer]) => answer)));
      return new Map(found);
    },
    close: () => {
      direct.close();
      void awsLoaded?.then(({ close }) => close());
    },
  };
};

const ONE_FLOW = (): string => "";

/** What is kept of a source between syncs. */
interface Kept {
  readonly circuit: Circuit;
  readonly gate: FairGate;
}

/**
 * The requests to one source at once. Each source has places of its own: a slow one takes none of
 * another.
 */
const gateOfSource = (): FairGate =>
  fairGate({
    places: QUESTIONS_PARALLEL.quick,
    ofFlow: QUESTIONS_PARALLEL.quick,
    elapsed: () => performance.now(),
    slow: { afterMs: SLOW_MS, places: QUESTIONS_PARALLEL.all, after: OF_THE_MACHINE.after },
  });

/**
 * The last error, where nothing was answered because of the source and not because of one question.
 * A text of the server is left out: it may be about the query of one tenant, and all read this.
 */
const brokenSource = (answers: readonly Answered[]): string | undefined => {
  let last: string | undefined;
  for (const answer of answers) {
    if (answer.kind === "answered" || !isOfSource(answer.failure)) return undefined;
    last = answer.failure.code === 0 ? answer.failure.message : `status ${answer.failure.code}`;
  }
  return last;
};

const OF_THE_SOURCE: ReadonlySet<number> = new Set([0, 401, 403, 429]);
const isOfSource = ({ code }: ApiFailure): boolean => OF_THE_SOURCE.has(code) || code >= 500;

interface Ways {
  readonly direct: ReturnType<typeof directSender>;
  readonly aws: () => Promise<AwsSender>;
  readonly credential: Credential;
  readonly ownAddresses: boolean;
}

type Failed = Extract<Answer<never>, { kind: "failed" }>;

/**
 * What is made within the time that is left, or the failure in its place. On doubt, a missing
 * metric.
 */
const inTime = async <Made>(
  make: () => Made | Promise<Made>,
  { leftMs, unable }: { readonly leftMs: number; readonly unable: (error: unknown) => string },
): Promise<Made | Failed> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TidemarkError("source.late", "it was not there in time", {})),
      Math.max(0, leftMs),
    );
  });
  try {
    return await Promise.race([make(), late]);
  } catch (error) {
    return { kind: "failed", failure: { code: 0, reason: "NoCredential", message: unable(error) } };
  } finally {
    clearTimeout(timer);
  }
};

const senderTo = (
  source: MetricSourceRecord,
  { cluster, getFromService }: AskContext,
  { direct, aws, credential, ownAddresses }: Ways,
): SendToSource | Promise<SendToSource> => {
  const place = source.aws;
  // Most stacks have no Redis, and start without its code.
  if (REDIS_KINDS.includes(source.kind))
    return import("./redis.ts").then(({ toRedis }) => toRedis(source, credential, ownAddresses));
  if (place && signedServiceOf(source) === undefined) {
    return (
      aws()
        .then(({ senderTo: toAws }) => toAws(source, place, cluster))
        // The limits of a question come last: no fixed parameter replaces the samples that it may
        // process.
        .then(
          (send) => (request, limits) =>
            send(
              { ...request, parameters: { ...source.parameters, ...request.parameters } },
              limits,
            ),
        )
    );
  }
  const headers = { ...source.headers, ...credential.headers };
  const parametersOf = (request: RegisteredRequest) => ({
    ...request.parameters,
    ...source.parameters,
  });
  const { service, url } = source;
  if (service) {
    return async (request, limits) =>
      getFromService
        ? getFromService(
            { service, path: request.path, parameters: parametersOf(request), headers },
            limits,
          )
        : {
            kind: "failed",
            failure: {
              code: 0,
              reason: "NoService",
              message: "nothing leads to the services of this cluster",
            },
          };
  }
  const toAddress =
    (sign?: SignRequest): SendToSource =>
    (request, limits) =>
      direct.send(
        {
          ...{
            url: url ?? "",
            private: source.private,
            headers,
            ca: credential.ca,
            client: credential.client,
          },
          ...{ path: request.path, parameters: parametersOf(request), ...(sign && { sign }) },
        },
        limits,
      );
  return place
    ? aws().then(async ({ signerFor }) => toAddress(await signerFor(source, place, cluster)))
    : toAddress();
};

interface Way extends AskContext {
  readonly send: SendToSource;
  readonly clock: () => number;
  readonly flowOf: (key: QuestionKey) => string;
  /** Waits until another request of the flow may be in flight. */
  readonly inTurn: <Result>(flow: string, ask: () => Promise<Result>) => Promise<Result>;
}

type KeyedAnswer = readonly [QuestionKey, Answered];

/** Asks all questions that may be asked: each by itself, or in the requests that they share. */
const askAll = async (
  source: MetricSourceRecord,
  distinct: readonly (readonly [QuestionKey, RegisteredQuery])[],
  way: Way,
): Promise<readonly KeyedAnswer[]> => {
  const told = (answers: readonly KeyedAnswer[]): readonly KeyedAnswer[] => {
    for (const [key, answer] of answers) way.onAnswer?.(key, answer);
    return answers;
  };
  const asked = distinct.map(([key, query]) => ({
    key,
    query,
    refusal: notAllowed(source, query),
  }));
  const refused = told(
    asked.flatMap(({ key, refusal }) => (refusal === undefined ? [] : [[key, refusal] as const])),
  );
  const allowed = asked.filter(({ refusal }) => refusal === undefined).map(({ query }) => query);
  const answers = [...Map.groupBy(allowed, (query) => askingOf(query))].map(([asking, queries]) => {
    const { batch } = asking;
    if (batch === undefined)
      return queries.map(async (query) => {
        const key = queryKey(query);
        const watch = watched(source, way.send);
        const answer = await way.inTurn(way.flowOf(key), () =>
          askOne(source, { query, asking }, { ...way, send: watch.send }),
        );
        return told([[key, watch.marked(answer)]]);
      });
    const flowOf = (query: RegisteredQuery): string => way.flowOf(queryKey(query));
    return chunksOf(batch, queries).map(async (chunk) => {
      const watch = watched(source, way.send);
      const send: SendBatch = (request, flow) =>
        way.inTurn(flow, () => sendTo(source, () => request, { ...way, send: watch.send }));
      const given = await askChunk(batch, chunk, { send, clock: way.clock, flowOf });
      return told(given.map(([key, answer]) => [key, watch.marked(answer)]));
    });
  });
  return [...refused, ...(await Promise.all(answers.flat())).flat()];
};

const notAllowed = (source: MetricSourceRecord, query: RegisteredQuery): Answered | undefined => {
  const refusal = refusalOf(query, source);
  return refusal && noAnswer(refusal.message, refusal.reason);
};

type Registered = ReturnType<typeof askingOf>;

const askOne = async (
  source: MetricSourceRecord,
  {
    query,
    asking,
  }: {
    readonly query: RegisteredQuery;
    readonly asking: Extract<Registered, { readonly batch?: never }>;
  },
  way: Way,
): Promise<Answered> => {
  const sent = await sendTo(
    source,
    (timeoutMs) => asking.request(query, { timeoutMs, aws: limitsOf(source) }),
    way,
  );
  return "kind" in sent ? sent : asking.read(sent, query, source);
};

/**
 * The place whose limit of samples is sent with a question. Only Amazon Managed Prometheus knows
 * it, also behind an address of one's own.
 */
const limitsOf = (source: MetricSourceRecord): MetricSourceRecord["aws"] => {
  const guard = signedServiceOf(source);
  return guard === undefined || guard === "aps" ? source.aws : undefined;
};

/** Sends one request within its time. The failure is a value. */
const sendTo = async (
  source: MetricSourceRecord,
  requestWithin: (timeoutMs: number) => RegisteredRequest,
  { leftMs, send }: Way,
): Promise<ForeignAnswer | Failed> => {
  const timeoutMs = Math.min(source.timeoutSeconds * SECOND_MS, leftMs());
  if (timeoutMs <= 0) {
    const message = `source "${source.name}" was not asked: the time for reading in this sync is spent`;
    return { kind: "failed", failure: { code: 0, reason: "NoTimeLeft", message } };
  }
  const sent = await send(requestWithin(timeoutMs), { timeoutMs, maxBytes: MAX_SOURCE_BYTES });
  return sent.kind === "failed" ? sent : answerOf(sent);
};

/** A body that is no JSON is no answer, and its text is never shown. */
const answerOf = ({
  status,
  bytes,
}: Extract<ServiceAnswer, { kind: "answered" }>): ForeignAnswer => ({
  status,
  bytes: bytes.length,
  body: jsonIn(bytes.toString("utf8")),
});
