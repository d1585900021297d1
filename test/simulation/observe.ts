import type { Observed, Watched } from "../../lib/stack/cluster/cluster-client.ts";
import { type LabelIndex, labelIndex } from "../../lib/rules/model/selector.ts";
import type {
  Answer,
  ApiFailure,
  MetricValue,
  Pod,
  PodMetrics,
  RecommenderReply,
  ScaleReading,
  KnownRival,
} from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { questions } from "../../lib/rules/policy/dialects.ts";
import { answersOf, askedOf } from "../answers.ts";
import { LOAD_PER_POD, type SimulatedCluster, type Workload } from "./cluster.ts";
import type { RivalAnswers } from "./rivals.ts";

/** What an observation finds, all of it at one instant. */
export const observeNow = (
  cluster: SimulatedCluster,
  watched: readonly Watched[],
  nowMs: number,
  { metrics: failing, scales, rivals: looks }: Failing,
): ReadonlyMap<Watched["uid"], Observed> => {
  const lists = new Map<string, Lists>();
  const listsOf = (namespace: string): Lists => {
    const known = lists.get(namespace) ?? listsOfNamespace(cluster, namespace, nowMs);
    lists.set(namespace, known);
    return known;
  };
  return new Map(
    watched.map((one) => [
      one.uid,
      observedOf(cluster, one, { nowMs, failing, scales, looks, listsOf }),
    ]),
  );
};

/** What an observation does not get. */
export interface Failing {
  /** Workloads that give no metrics. */
  readonly metrics: ReadonlySet<string>;
  /** Workloads that cannot be read themselves, though their neighbours can. */
  readonly scales: ReadonlySet<string>;
  /** How the looks for other controllers are answered. */
  readonly rivals: RivalAnswers;
}

interface Lists {
  readonly pods: LabelIndex<Pod>;
  readonly metrics: LabelIndex<PodMetrics>;
}

interface Now {
  readonly nowMs: number;
  readonly failing: ReadonlySet<string>;
  readonly scales: ReadonlySet<string>;
  readonly looks: RivalAnswers;
  readonly listsOf: (namespace: string) => Lists;
}

const NO_PODS: LabelIndex<Pod> = { all: [], select: () => [], looksAt: () => 0 };
export const UNAVAILABLE: ApiFailure = {
  code: 503,
  reason: "ServiceUnavailable",
  message: "the metrics server is gone",
};

export const UNREADABLE: ApiFailure = {
  code: 500,
  reason: "InternalError",
  message: "a part of the list could not be read",
};

const observedOf = (
  cluster: SimulatedCluster,
  { namespace, spec }: Watched,
  now: Now,
): Observed => {
  const scale: ScaleReading = now.scales.has(spec.target.name)
    ? { kind: "failed", failure: UNREADABLE }
    : cluster.read(namespace, spec.target);
  const workload = cluster.at(namespace, spec.target);
  const asked = askedOf(questions(spec, namespace, scale));
  const fails = now.failing.has(spec.target.name);
  const answered = <Item>(items: Item): Answer<Item> =>
    fails ? { kind: "failed", failure: UNAVAILABLE } : { kind: "answered", items };
  const value: MetricValue = {
    milli: BigInt(workload?.load ?? 0) * 1_000n,
    timestampMs: now.nowMs,
  };
  const answers = answersOf({
    external: new Map(asked.external.map((query) => [queryKey(query), answered([value])])),
    ...(asked.podMetrics && { resource: answered(now.listsOf(namespace).metrics) }),
  });
  const observation = {
    scale,
    pods: asked.pods ? now.listsOf(namespace).pods : NO_PODS,
    answers,
    others: [],
  };
  return { observation, ...looksOf(workload, now.looks) };
};

const looksOf = (
  workload: Workload | undefined,
  looks: RivalAnswers,
): Pick<Observed, "rivals" | "rivalsUnknown" | "looks"> => {
  const kind = workload?.other?.kind ?? "ScaledObject";
  const rivals = rivalsOf(workload);
  if (looks === "answered") return { rivals, looks: [{ kind, outcome: "answered", rivals }] };
  if (looks === "failed") return { rivals: [], rivalsUnknown: "the list failed" };
  return {
    rivals: [],
    looks: [
      { kind, outcome: "refused", message: `the list is ${looks}`, everywhere: true, lost: false },
    ],
  };
};

const HOUR_MS = 3_600_000;
const CPU_REQUEST = 1_000n;
/** With a target of half the request, `LOAD_PER_POD` is what one pod is to use. */
const CPU_PER_LOAD = 50;
const WINDOW_MS = 30_000;

const listsOfNamespace = (cluster: SimulatedCluster, namespace: string, nowMs: number): Lists => {
  const all = [...cluster.workloads.values()].filter(
    (workload) => workload.namespace === namespace && !workload.gone,
  );
  return {
    pods: labelIndex(all.flatMap((workload) => podsOf(workload, nowMs))),
    metrics: labelIndex(all.flatMap((workload) => podMetricsOf(workload, nowMs))),
  };
};

const eachPod = <Item>({ replicas }: Workload, itemOf: (at: number) => Item): readonly Item[] =>
  Array.from({ length: replicas }, (_, at) => itemOf(at));

/** Pods that have been ready for an hour. */
export const podsOf = (workload: Workload, nowMs: number): readonly Pod[] =>
  eachPod(workload, (at) => podOf(workload, at, nowMs));

/** What they use. */
export const podMetricsOf = (workload: Workload, nowMs: number): readonly PodMetrics[] =>
  eachPod(workload, (at) => metricsOf(workload, at, nowMs));

/** The other controllers that show themselves. */
export const rivalsOf = (workload: Workload | undefined): readonly KnownRival[] =>
  workload?.rivalSinceMs === undefined
    ? []
    : [
        {
          kind: workload.other?.kind ?? "ScaledObject",
          name: "another",
          ...(workload.other && { uid: workload.other.uid }),
        },
      ];

const podOf = ({ target }: Workload, at: number, nowMs: number): Pod => ({
  name: `${target.name}-${at}`,
  labels: { app: target.name },
  owners: [{ kind: "ReplicaSet", name: `${target.name}-1` }],
  deleting: false,
  phase: "Running",
  startMs: nowMs - HOUR_MS,
  ready: { status: "True", transitionMs: nowMs - HOUR_MS },
  containers: [{ name: "main", requests: { cpu: CPU_REQUEST }, limits: {}, restartable: false }],
  initContainers: [],
  overhead: {},
});

const metricsOf = (
  { target, load, replicas }: Workload,
  at: number,
  nowMs: number,
): PodMetrics => ({
  name: `${target.name}-${at}`,
  labels: { app: target.name },
  timestampMs: nowMs - WINDOW_MS / 2,
  windowMs: WINDOW_MS,
  containers: [
    { name: "main", usage: { cpu: BigInt(Math.floor((load * CPU_PER_LOAD) / replicas)) } },
  ],
});

/** Count of pods that a load asks for. */
export const podsFor = (load: number): number => Math.ceil(load / LOAD_PER_POD);

/** What a recommender answers that knows the load. */
export const recommendationOf = ({ load }: Workload): RecommenderReply => {
  const replicas = podsFor(load);
  return {
    replicas,
    lowerBoundReplicas: replicas,
    upperBoundReplicas: replicas,
    observedValue: load,
    reason: "as the load is",
  };
};
