import type { ClusterClient, Observed, ObservedCluster } from "../../cluster/cluster-client.ts";
import { isTidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import { type MetricSourceRecord, mayAsk } from "../../../rules/model/metric-source.ts";
import type {
  Answer,
  Answers,
  MetricValue,
  QuestionKey,
  Samples,
} from "../../../rules/model/observation.ts";
import { queryKey } from "../../../rules/model/query.ts";
import type { Windows } from "../../../rules/model/windows.ts";
import { mayAskSources, registeredQuestions } from "../../../rules/policy/dialects.ts";
import type { SourceClient, SourceClientOptions } from "../../source-client/source-client.ts";
import { noAnswer, type RegisteredQuery } from "../../../rules/sources/source.ts";
import { listMetricSources } from "../../store/records/metric-sources.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { Loaded } from "../hand-over.ts";
import type { RuleFailures } from "../rule-failures.ts";

/** What the registered sources were asked in this sync. */
export interface AskedSources {
  /**
   * What is observed, with the answers that have come. An autoscaler that waits for a source comes
   * later, so that a slow source holds up nobody else.
   */
  readonly into: (cluster: ObservedCluster) => ObservedCluster;
}

interface Asking {
  readonly uid: AutoscalerUid;
  readonly namespace: string;
  readonly queries: readonly RegisteredQuery[];
}

interface Context {
  readonly client: ClusterClient;
  readonly failures: RuleFailures;
  /** Milliseconds that are left for all questions. */
  readonly leftMs: () => number;
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

const NOTHING_ASKED: AskedSources = { into: (cluster) => cluster };

/**
 * Asks the registered sources what the native rules of all autoscalers ask, each different question
 * once, while the cluster is read. It waits for nothing: the answers are waited for in the rounds
 * of the sync.
 */
export const askSources = (ports: SyncPorts, loaded: Loaded, context: Context): AskedSources => {
  const asking = askingOf(loaded, context.failures);
  if (asking.length === 0) return NOTHING_ASKED;
  const bySource = Map.groupBy(
    asking.flatMap(({ namespace, queries }) => queries.map((query) => ({ namespace, query }))),
    ({ query }) => query.source,
  );
  const { cluster } = loaded;
  const sources = registered(ports);
  const pending = new Map<string, Promise<void>>();
  const answers = new Map<string, OfSource>();
  for (const [name, questions] of bySource) {
    const ask = async (): Promise<OfSource> =>
      askOne(ports, (await sources).get(name), { ...context, cluster: cluster.name, questions });
    pending.set(
      name,
      ask()
        // On doubt, a missing metric: what this code itself throws must not end the sync of the
        // others.
        .catch((error: unknown) =>
          refusing(isTidemarkError(error) ? error.message : "asking it has failed"),
        )
        .then((of) => {
          answers.set(name, of);
          pending.delete(name);
        }),
    );
  }
  return {
    into: (seen) =>
      withAnswers(seen, [], {
        asking: new Map(asking.map((one) => [one.uid, one])),
        pending,
        answers,
        placeOf: (namespace) => ({ cluster: cluster.name, namespace }),
      }),
  };
};

/** Asks one source what the namespaces ask that may ask it. */
const askOne = async (
  ports: SyncPorts,
  source: MetricSourceRecord | Unreadable | undefined,
  {
    cluster,
    client: { getFromService },
    leftMs,
    questions,
  }: Context & { readonly cluster: string; readonly questions: readonly Question[] },
): Promise<OfSource> => {
  if (source === undefined || "message" in source) return refusing(source?.message);
  if (ports.sources === undefined) return refusing("no registered sources are asked here");
  const allowed = questions.filter(({ namespace }) => mayAsk(source, { cluster, namespace }));
  if (allowed.length === 0) return refusing(undefined);
  const client = await ports.sources();
  const queries = allowed.map(({ query }) => query);
  const answers = await client.ask(source, queries, {
    cluster,
    leftMs,
    ...(getFromService && { getFromService }),
  });
  return (namespace, key) =>
    mayAsk(source, { cluster, namespace }) ? answers.get(key) : undefined;
};

interface Question {
  readonly namespace: string;
  readonly query: RegisteredQuery;
}

/**
 * The answer of one source to a question of a namespace; undefined where the namespace may not ask
 * it.
 */
type OfSource = (namespace: string, key: QuestionKey) => Answer<readonly MetricValue[]> | undefined;

const refusing =
  (message: string | undefined): OfSource =>
  () =>
    message === undefined ? undefined : noAnswer(message);

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
    const { uid, namespace } = loaded.record;
    const queries = failures.guarded(
      uid,
      () => registeredQuestions(loaded.spec, { kept: kept.get(uid), nowMs }),
      () => [],
    );
    return queries.length === 0 ? [] : [{ uid, namespace, queries }];
  });
};

type Unreadable = { readonly message: string };

const registered = async ({
  tables,
}: SyncPorts): Promise<ReadonlyMap<string, MetricSourceRecord | Unreadable>> => {
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

interface Answering {
  readonly asking: ReadonlyMap<AutoscalerUid, Asking>;
  readonly pending: ReadonlyMap<string, Promise<void>>;
  readonly answers: ReadonlyMap<string, OfSource>;
  readonly placeOf: (namespace: string) => Place;
}

type Waiting = readonly (readonly [AutoscalerUid, Observed])[];

/**
 * Gives each autoscaler its answers. `earlier` was observed in earlier rounds and waits for
 * sources.
 */
const withAnswers = (
  cluster: ObservedCluster,
  earlier: Waiting,
  answering: Answering,
): ObservedCluster => {
  const { later, ...read } = cluster;
  const observations = new Map<AutoscalerUid, Observed>();
  const waiting: (readonly [AutoscalerUid, Observed])[] = [];
  for (const [uid, observed] of [...earlier, ...cluster.observations]) {
    const asking = answering.asking.get(uid);
    if (asking === undefined) observations.set(uid, observed);
    else if (asking.queries.some(({ source }) => answering.pending.has(source)))
      waiting.push([uid, observed]);
    else observations.set(uid, answered(observed, asking, answering));
  }
  const part = { ...read, observations };
  if (waiting.length === 0)
    return later ? { ...part, later: async () => withAnswers(await later(), [], answering) } : part;
  const following = async (): Promise<ObservedCluster> => {
    // The namespaces of the cluster go on first. Then each source that answers lets its autoscalers
    // go on.
    if (!later && answering.pending.size > 0) await Promise.race(answering.pending.values());
    const next = withAnswers(
      later ? await later() : { ...read, observations: new Map() },
      waiting,
      answering,
    );
    return next.observations.size === 0 && next.later ? next.later() : next;
  };
  return { ...part, later: following };
};

const answered = (
  observed: Observed,
  { namespace, queries }: Asking,
  { answers, placeOf }: Answering,
): Observed => {
  const all = new Map<QuestionKey, Answer<Samples>>(observed.observation.answers);
  for (const query of queries) {
    const key = queryKey(query);
    all.set(
      key,
      answers.get(query.source)?.(namespace, key) ??
        notRegistered(query.source, placeOf(namespace)),
    );
  }
  const merged: Answers = all;
  return { ...observed, observation: { ...observed.observation, answers: merged } };
};
