import type { ClusterClient, Observed } from "../../cluster/cluster-client.ts";
import { isTidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import { type MetricSourceRecord, mayAsk } from "../../../rules/model/metric-source.ts";
import {
  type Answer,
  type Answers,
  type MetricValue,
  type QuestionKey,
  type MeasuredSamples,
  TENANT_OVER_SHARE,
} from "../../../rules/model/observation.ts";
import { queryKey } from "../../../rules/model/query.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import type { Windows } from "../../../rules/model/windows.ts";
import { mayAskSources, registeredQuestions, sourceUses } from "../../../rules/policy/dialects.ts";
import type { SourceClient, SourceClientOptions } from "../../source-client/source-client.ts";
import { overSourceShare, type SourceAsker } from "../../source-client/source-shares.ts";
import { byPlace, type DueTime, roundOf } from "../../turns/turns.ts";
import { noAnswer, type RegisteredQuery } from "../../../rules/sources/source.ts";
import { listMetricSources } from "../../store/records/metric-sources.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { Loaded } from "../hand-over.ts";
import type { RuleFailures } from "../rule-failures.ts";

/** What the registered sources were asked in this sync. */
export interface AskedSources {
  /**
   * What is observed of an autoscaler, with the answers of sources to its own questions; a promise
   * while one of them is not there.
   */
  readonly answered: (uid: AutoscalerUid, observed: Observed) => Observed | Promise<Observed>;
}

/** An autoscaler with the questions that it asks in this sync. */
interface Asking {
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly spec: AutoscalerSpec;
  readonly queries: readonly RegisteredQuery[];
}

/** An autoscaler while its questions are answered. */
interface Asker extends Asking {
  readonly answers: Map<QuestionKey, Answered>;
  /** Ends when the last of its questions is answered. */
  readonly isAnswered: Promise<void>;
  readonly end: () => void;
}

type Answered = Answer<readonly MetricValue[]>;

interface Context {
  readonly client: ClusterClient;
  readonly failures: RuleFailures;
  /** Milliseconds that are left for all questions. */
  readonly leftMs: () => number;
  readonly due: DueTime;
}

/**
 * The client of registered sources, whose code is loaded when the first metric needs it: most
 * stacks start without.
 */
export const sourcesWhenAsked = (
  options: SourceClientOptions,
): NonNullable<SyncPorts["sources"]> => {
  let client: Promise<SourceClient> | undefined;
  return () => {
    client ??= import("../../source-client/source-client.ts").then(({ sourceClient }) =>
      sourceClient(options),
    );
    return client;
  };
};

const NOTHING_ASKED: AskedSources = { answered: (_uid, observed) => observed };

/**
 * Asks the registered sources what the native rules of all autoscalers ask, each different question
 * once, while the cluster is read. It waits for nothing. An autoscaler waits for the answers to its
 * own questions only (rounds.ts).
 */
export const askSources = (ports: SyncPorts, loaded: Loaded, context: Context): AskedSources => {
  const asking = askingOf(loaded, context.failures);
  if (asking.length === 0) return NOTHING_ASKED;
  // The place of an autoscaler follows from the due time, so that another one is asked first in
  // each sync, the same in every environment.
  const askers = byPlace(asking, ({ uid }) => uid, roundOf(context.due)).map(askerOf);
  const sources = registered(ports);
  const names = new Set(askers.flatMap(({ queries }) => queries.map(({ source }) => source)));
  const { cluster } = loaded;
  for (const name of names) {
    const ofSource = askers.flatMap((asker) => {
      const asked = asker.queries.filter(({ source }) => source === name);
      return asked.length === 0 ? [] : [{ asker, asked }];
    });
    void askedAll(ports, sources, ofSource, { ...context, name, cluster: cluster.name });
  }
  const byUid = new Map(askers.map((asker) => [asker.uid, asker]));
  return {
    answered: (uid, observed) => {
      const asker = byUid.get(uid);
      if (asker === undefined) return observed;
      return isComplete(asker)
        ? withAnswers(observed, asker)
        : asker.isAnswered.then(() => withAnswers(observed, asker));
    },
  };
};

/** Asks one source, and gives what is missing then the answer of a missing metric. */
const askedAll = async (...asking: Parameters<typeof askOne>): Promise<void> => {
  const [, , ofSource, { name }] = asking;
  let missing: Answered | undefined;
  try {
    missing = await askOne(...asking);
  } catch (error) {
    // On doubt, a missing metric: what this code itself throws must not end the sync of the others.
    missing = noAnswer(isTidemarkError(error) ? error.message : "asking it has failed");
  }
  for (const { asker, asked } of ofSource)
    for (const query of asked)
      if (!asker.answers.has(queryKey(query)))
        give(asker, queryKey(query), missing ?? notAnswered(name));
};

const askerOf = (asking: Asking): Asker => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { ...asking, answers: new Map(), isAnswered: promise, end: resolve };
};

const isComplete = ({ answers, queries }: Pick<Asker, "answers" | "queries">): boolean =>
  queries.every((query) => answers.has(queryKey(query)));

const give = (asker: Asker, key: QuestionKey, answer: Answered): void => {
  asker.answers.set(key, answer);
  if (isComplete(asker)) asker.end();
};

interface OfSource {
  readonly asker: Asker;
  /** Its questions to this source. */
  readonly asked: readonly RegisteredQuery[];
}

type Sources = ReadonlyMap<string, MetricSourceRecord | Unreadable>;

/**
 * Asks one source for its autoscalers. The answer to all that have none, where it cannot be asked.
 */
const askOne = async (
  ports: SyncPorts,
  sources: Promise<Sources>,
  askers: readonly OfSource[],
  {
    name,
    cluster,
    client: { getFromService },
    leftMs,
    due,
  }: Context & { readonly name: string; readonly cluster: string },
): Promise<Answer<never> | undefined> => {
  const source = (await sources).get(name);
  if (source !== undefined && "message" in source) return noAnswer(source.message);
  const toAll = ({ asker, asked }: OfSource, answer: Answered): void => {
    for (const query of asked) give(asker, queryKey(query), answer);
  };
  const allowed = askers.filter((of) => {
    const place = { cluster, namespace: of.asker.namespace };
    const isAllowed = source !== undefined && mayAsk(source, place);
    if (!isAllowed) toAll(of, notRegistered(name, place));
    return isAllowed;
  });
  if (source === undefined || allowed.length === 0) return undefined;
  if (ports.sources === undefined) return noAnswer("no registered sources are asked here");
  const over = overSourceShare(source, allowed.map(shareOfAsker), due);
  const admitted = allowed.filter((of) => {
    const state = over.get(of.asker.uid);
    if (state !== undefined)
      toAll(of, noAnswer(`Cannot ask source "${name}" in this sync: ${state}`, TENANT_OVER_SHARE));
    return state === undefined;
  });
  const waiting = waitingFor(admitted);
  const client = await ports.sources();
  await client.ask(
    source,
    [...waiting.values()].map(({ query }) => query),
    {
      cluster,
      leftMs,
      flowOf: (key) => waiting.get(key)?.askers[0]?.namespace ?? "",
      onAnswer: (key, answer) => {
        for (const asker of waiting.get(key)?.askers ?? []) give(asker, key, answer);
      },
      ...(getFromService && { getFromService }),
    },
  );
  return undefined;
};

const shareOfAsker = ({ asker: { uid, namespace, spec }, asked }: OfSource): SourceAsker => {
  const [first] = asked;
  return {
    key: uid,
    namespace,
    asked,
    uses: () => sourceUses(spec).filter(({ query }) => query.source === first?.source),
  };
};

/** The different questions in the order of their autoscalers, each with all that wait for it. */
const waitingFor = (
  askers: readonly OfSource[],
): ReadonlyMap<QuestionKey, { readonly query: RegisteredQuery; readonly askers: Asker[] }> => {
  const waiting = new Map<QuestionKey, { query: RegisteredQuery; askers: Asker[] }>();
  for (const { asker, asked } of askers)
    for (const query of asked) {
      const known = waiting.get(queryKey(query)) ?? { query, askers: [] };
      known.askers.push(asker);
      waiting.set(queryKey(query), known);
    }
  return waiting;
};

const notAnswered = (source: string): Answer<never> =>
  noAnswer(`source "${source}" gave no answer to this question`);

/**
 * The same words for a source that does not exist and for one that the namespace may not ask, so
 * that nobody learns of another tenant's source.
 */
const notRegistered = (source: string, { cluster, namespace }: Place): Answer<never> =>
  noAnswer(
    `no source "${source}" is registered for namespace "${namespace}" of cluster "${cluster}"; an administrator registers it with tidemark source put`,
  );

interface Place {
  readonly cluster: string;
  readonly namespace: string;
}

const askingOf = ({ specs, pages, nowMs }: Loaded, failures: RuleFailures): readonly Asking[] => {
  const able = specs.all.filter((loaded) => loaded.kind === "ready" && mayAskSources(loaded.spec));
  if (able.length === 0) return [];
  const kept = new Map<AutoscalerUid, Windows["memory"]["answers"]>();
  for (const page of pages) {
    if (page.kind === "read")
      for (const [uid, { windows }] of page.entries)
        if (windows.memory.answers) kept.set(uid, windows.memory.answers);
  }
  return able.flatMap((loaded) => {
    if (loaded.kind !== "ready") return [];
    const { spec, record } = loaded;
    const { uid, namespace } = record;
    const queries = failures.guarded(
      uid,
      () => registeredQuestions(spec, { kept: kept.get(uid), nowMs }),
      () => [],
    );
    return queries.length === 0 ? [] : [{ uid, namespace, spec, queries }];
  });
};

type Unreadable = { readonly message: string };

const registered = async ({ tables }: SyncPorts): Promise<Sources> => {
  const sources = new Map<string, MetricSourceRecord | Unreadable>();
  for await (const item of listMetricSources(tables)) {
    if (item.kind === "read") sources.set(item.record.name, item.record);
    else
      sources.set(item.name, {
        message: `the record of source "${item.name}" cannot be read; register it again`,
      });
  }
  return sources;
};

const withAnswers = (observed: Observed, { queries, answers }: Asker): Observed => {
  const all = new Map<QuestionKey, Answer<MeasuredSamples>>(observed.observation.answers);
  let over: string | undefined;
  for (const query of queries) {
    const key = queryKey(query);
    const answer = answers.get(key) ?? notAnswered(query.source);
    all.set(key, answer);
    if (answer.kind === "failed" && answer.failure.reason === TENANT_OVER_SHARE)
      over ??= answer.failure.message;
  }
  const merged: Answers = all;
  return {
    ...observed,
    observation: { ...observed.observation, answers: merged },
    ...(over !== undefined && { overShare: over }),
  };
};
