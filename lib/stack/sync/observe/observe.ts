import type {
  ClusterClient,
  Observed,
  ObservedCluster,
  Watched,
} from "../../cluster/cluster-client.ts";
import { mapYielding } from "../../cluster/map-yielding.ts";
import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import { kindsReadFrom } from "../../../rules/model/records.ts";
import { asksOf } from "../../../rules/policy/dialects.ts";
import { namespacesOf } from "../../store/records/clusters.ts";
import { askSources } from "./ask-sources.ts";
import { answeredKinds } from "../load/known-rivals.ts";
import type { SyncMessage } from "../../plan/message.ts";
import { isPastDeadline, workloadKey } from "../load/open-intents.ts";
import { askRecommenders, refusedRecommender } from "./recommend.ts";
import { inRounds } from "./rounds.ts";
import { roundOf } from "../../turns/turns.ts";
import { mapInTurns } from "../../turns/gate.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { Intent } from "../../../rules/model/scale-records.ts";
import type { Loaded, LateReadings, ClusterAnswers } from "../hand-over.ts";
import { type RuleFailures, ruleFailures } from "../rule-failures.ts";
import { connected } from "../connected.ts";

/**
 * Share of the soft deadline that the observation may take. The rest is for deciding, writing and
 * storing.
 */
const OBSERVE_SHARE = 0.6;
const PARALLEL = 8;
const NOTHING: ObservedCluster = { observations: new Map(), calls: 0, bytes: 0 };

/**
 * Reads the cluster for every autoscaler that can be evaluated, also for the frozen and paused
 * ones. It begins after `nowMs` was read: so what it sees is later than each deadline that is over
 * at `nowMs`.
 */
export const observe = async (
  ports: SyncPorts,
  message: SyncMessage,
  loaded: Loaded,
): Promise<ClusterAnswers> => {
  const failures = ruleFailures();
  const watched = await watchedOf(loaded, failures);
  const overdue = loaded.head.intents.filter((intent) => isPastDeadline(intent, loaded.nowMs));
  if (watched.length === 0 && overdue.length === 0)
    return { client: undefined, observed: NOTHING, late: new Map(), failures };
  const connection = await connected(ports, loaded.cluster);
  if (connection.kind === "failed")
    return {
      client: undefined,
      observed: unobserved(watched, connection.message),
      late: new Map(),
      failures,
    };
  const { client } = connection;
  const budgetMs = OBSERVE_SHARE * Math.min(message.periodMs, ports.timing.softDeadlineMs);
  const ownKinds = kindsReadFrom(loaded.cluster).map(({ kind }) => kind);
  const limits = {
    budgetMs,
    namespaces: namespacesOf(loaded.cluster, message.partition),
    ownKinds,
    knownRivalKinds: answeredKinds(loaded),
    inRounds: true,
    round: roundOf(message),
  };
  const startMs = ports.tables.clock();
  const leftMs = (): number => budgetMs - (ports.tables.clock() - startMs);
  const sources = askSources(ports, loaded, { client, leftMs, failures, due: message });
  const recommenders = askRecommenders(client, watched, {
    nowMs: loaded.nowMs,
    leftMs,
    refused: (url) => refusedRecommender(loaded.cluster, url),
    failures,
  });
  const first = watched.length === 0 ? NOTHING : await client.observe(watched, limits);
  const observed = inRounds(
    first,
    (uid, seen) => {
      const answered = sources.answered(uid, seen);
      return answered instanceof Promise
        ? answered.then((known) => recommenders.replied(uid, known))
        : recommenders.replied(uid, answered);
    },
    { callsBeside: recommenders.calls, flowOf: namespacesByUid(watched) },
  );
  const late = await readLate(client, overdue, {
    observed,
    loaded,
    timeoutMs: ports.timing.putTimeoutMs,
  });
  return seenNow(ports, loaded, { client, observed, late, failures });
};

/** What is observed now. What comes later is seen later, with a reading of the clock of its own. */
const seenNow = (
  ports: SyncPorts,
  loaded: Loaded,
  {
    client,
    observed,
    late,
    failures,
  }: Pick<ClusterAnswers, "client" | "observed" | "late" | "failures">,
): ClusterAnswers => {
  const { later, ...read } = observed;
  const answeredMs = Math.max(loaded.nowMs, ports.tables.clock());
  const part = { client, observed: read, late, failures, answeredMs };
  return later
    ? {
        ...part,
        later: async () =>
          seenNow(ports, loaded, { client, observed: await later(), late, failures }),
      }
    : part;
};

/** Two parts of what was seen, as one. */
export const seenTogether = (earlier: ClusterAnswers, part: ClusterAnswers): ClusterAnswers => ({
  ...part,
  observed: {
    ...part.observed,
    observations: new Map([...earlier.observed.observations, ...part.observed.observations]),
  },
});

const watchedOf = async (
  { specs, pages }: Loaded,
  failures: RuleFailures,
): Promise<readonly Watched[]> => {
  const selectors = new Map<AutoscalerUid, string>();
  for (const page of pages) {
    if (page.kind === "unreadable") continue;
    for (const [uid, { windows }] of page.entries)
      if (windows.memory.selector !== undefined) selectors.set(uid, windows.memory.selector);
  }
  const ready = specs.all.filter((spec) => spec.kind === "ready");
  return mapYielding(ready, ({ record: { uid, namespace, name }, spec }) => {
    const selector = selectors.get(uid);
    const asks = failures.guarded(
      uid,
      () => asksOf(spec, namespace),
      () => ASKS_NOTHING,
    );
    const questions: Watched["questions"] = (scale) =>
      failures.guarded(
        uid,
        () => asks.questions(scale),
        () => NO_QUESTIONS,
      );
    return {
      uid,
      namespace,
      name,
      spec,
      asksMonitor: asks.asksMonitor,
      questions,
      ...(selector !== undefined && { selector }),
    };
  });
};

/** What is asked for an autoscaler whose rules fail. */
const NO_QUESTIONS: ReturnType<Watched["questions"]> = { pods: false, metrics: [] };
const ASKS_NOTHING: ReturnType<typeof asksOf> = {
  questions: () => NO_QUESTIONS,
  asksMonitor: false,
};

/**
 * The observation of an unreachable cluster: every scale failed with the same message, so that
 * every autoscaler holds by its own rules.
 */
const unobserved = (watched: readonly Watched[], message: string): ObservedCluster => {
  const failure = { code: 0, reason: "ClusterUnreachable", message };
  const observed: Observed = {
    observation: {
      scale: { kind: "failed", failure },
      pods: { all: [], select: () => [], looksAt: () => 0 },
      answers: new Map(),
      others: [],
    },
    rivals: [],
  };
  return { observations: new Map(watched.map(({ uid }) => [uid, observed])), calls: 0, bytes: 0 };
};

/**
 * The present scale of the workloads of overdue intents. Where the autoscaler still watches the
 * same workload, the observation has it, with the same fields as the one that the intent was
 * decided on. Otherwise (deleted, paused, or with a new target) the workload is read by itself.
 */
const readLate = async (
  client: ClusterClient,
  overdue: readonly Intent[],
  context: {
    readonly observed: ObservedCluster;
    readonly loaded: Loaded;
    readonly timeoutMs: number;
  },
): Promise<LateReadings> => {
  if (overdue.length === 0) return new Map();
  const targets = new Map(
    context.loaded.specs.all.flatMap((spec) =>
      spec.kind === "ready"
        ? [[spec.record.uid, workloadKey(spec.record.namespace, spec.spec.target)] as const]
        : [],
    ),
  );
  const turns = { places: PARALLEL, elapsed: () => performance.now() };
  const flowOf = ({ namespace }: Intent): string => namespace;
  const readings = await mapInTurns(overdue, { ...turns, flowOf }, async (intent) => {
    const key = workloadKey(intent.namespace, intent.target);
    const observed =
      targets.get(intent.uid) === key
        ? context.observed.observations.get(intent.uid)?.observation.scale
        : undefined;
    return [
      key,
      observed ?? (await client.readScale(intent.namespace, intent.target, context.timeoutMs)),
    ] as const;
  });
  return new Map(readings);
};

/** The namespace of each; looked for only where answers come later. */
const namespacesByUid = (watched: readonly Watched[]): ((uid: AutoscalerUid) => Namespace) => {
  let known: ReadonlyMap<AutoscalerUid, Namespace> | undefined;
  return (uid) => {
    known ??= new Map(watched.map(({ uid: own, namespace }) => [own, namespace] as const));
    const found = known.get(uid);
    if (found === undefined) throw new RangeError(`nobody watches "${uid}"`);
    return found;
  };
};
