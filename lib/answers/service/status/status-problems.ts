import { type TroublingHold, LASTING_MS } from "../../../rules/model/summary.ts";
import type { ClusterRecord, FleetRecord, TableIds } from "../../../rules/model/records.ts";
import { countOf, lasting, type Trouble } from "../../../stack/store/head/troubles.ts";
import { areRestored } from "../../../stack/store/table/real-tables.ts";
import type { DeadLetters, StatusProblem } from "../../views/status.ts";
import { nearlyMisses } from "../../../rules/doctor/rules/slow-sync.ts";
import { statedIn } from "../../../stack/store/summary/summary-items.ts";
import { headAheadMs } from "../partitions/partition-query.ts";
import { untilText } from "../../../stack/report/duration-text.ts";
import { rfc3339 } from "../times.ts";
import { type ClusterReading, tokenOfCluster } from "../views/cluster-of.ts";
import { SECOND_MS, MINUTE_MS } from "../../../rules/model/time-text.ts";

/** A partition that was not synced for longer than this many periods is late. */
const PERIODS_MAX = 2;
/**
 * A cluster that was just added or divided is planned within this time at the latest, also where
 * its edit could not plan it.
 */
const FIRST_SYNC_MS = 3 * MINUTE_MS;

type Partition = ClusterReading["partitions"][number];

const problem = (kind: StatusProblem["kind"], message: string, next: string): StatusProblem => ({
  kind,
  message,
  next,
});

/** Tables that no person has adopted: no sync does anything. */
export const restoredProblems = (
  fleet: FleetRecord,
  ids: TableIds | undefined,
): readonly StatusProblem[] =>
  areRestored(fleet.tables, ids)
    ? [
        problem(
          "restored",
          "The tables were restored or are a copy: a freeze, deletions and scales may be missing in them, and nothing is scaled",
          "docs/operations.md#restore-both-tables, then tidemark fleet adopt",
        ),
      ]
    : [];

/** Everything about a cluster that a person must look at. */
export const clusterProblems = (
  cluster: ClusterRecord,
  reading: ClusterReading,
  nowMs: number,
  isWhole: boolean,
): readonly StatusProblem[] => [
  ...connectionProblems(reading),
  ...(isWhole ? tokenProblems(cluster, reading, nowMs) : []),
  ...reading.partitions.flatMap((partition) => [
    ...timeProblems(cluster, partition, nowMs),
    // They name autoscalers of any namespace.
    ...(isWhole
      ? [
          ...unreadableProblems(cluster, partition),
          ...holdProblems(cluster, partition),
          ...troubleProblems(cluster, partition, nowMs),
        ]
      : []),
  ]),
];

/**
 * What a person may want to look at, although everything works: autoscalers that want more than
 * their maximum allows, pods that count and should not, and syncs that nearly miss their period.
 */
export const clusterNotices = (
  cluster: ClusterRecord,
  { partitions }: ClusterReading,
  nowMs: number,
): readonly StatusProblem[] => [
  ...partitions.flatMap((partition) => maximumNotices(cluster, partition, nowMs)),
  ...partitions.flatMap((partition) => podsNotices(cluster, partition, nowMs)),
  ...partitions.flatMap((partition) => slowNotices(cluster, partition)),
];

/** A token that should have been replaced by now: when it ends, the cluster is out of reach. */
const tokenProblems = (
  { name }: ClusterRecord,
  reading: ClusterReading,
  nowMs: number,
): readonly StatusProblem[] => {
  const life = tokenOfCluster(reading);
  if (!life || nowMs < life.renewByMs) return [];
  const end = `${life.endMs <= nowMs ? "ended" : `ends ${untilText(life.endMs, nowMs)},`} at ${rfc3339(life.endMs)}`;
  return [
    problem(
      "token",
      `The token of cluster "${name}" ${end}: no newer one is in its secret`,
      "docs/clusters-elsewhere.md#renewing-the-token",
    ),
  ];
};

/** What is wrong with the pods behind a count, by the rule of the doctor that finds it. */
const PODS_WORDS: Readonly<Record<string, string>> = {
  "finished-pods": "pods that have ended count",
  "foreign-pods": "pods of something else count",
  "old-samples": "old samples count",
  "pods-refused": "the cluster refuses pods",
};

const podsNotices = (
  cluster: ClusterRecord,
  partition: Partition,
  nowMs: number,
): readonly StatusProblem[] => {
  const trouble = partition.head?.troubles.of.pods;
  const count = trouble ? lasting(trouble, nowMs - LASTING_MS) : 0;
  if (!trouble || count === 0) return [];
  const words = PODS_WORDS[trouble.rule ?? ""] ?? "pods count that should not";
  const message = `${autoscalersText(cluster, partition, count, trouble.first)} ${count === 1 ? "has" : "have"} had other pods than wanted for 15 minutes: ${words}`;
  return [problem("pods", message, doctorText(cluster, trouble.first))];
};

const slowNotices = (
  { name, syncPeriodMs }: ClusterRecord,
  { view, head }: Partition,
): readonly StatusProblem[] => {
  const tookMs = (head && statedIn(head)?.tookMs) ?? 0;
  if (!nearlyMisses(tookMs, syncPeriodMs)) return [];
  const message = `The last sync of partition "${name}/${view.name}" took ${(tookMs / SECOND_MS).toFixed(1)} s: its period is ${syncPeriodMs / SECOND_MS} s`;
  return [problem("slow sync", message, "docs/operations.md, alarms SyncsStopped and SyncsLate")];
};

const maximumNotices = (
  cluster: ClusterRecord,
  partition: Partition,
  nowMs: number,
): readonly StatusProblem[] => {
  const trouble = partition.head?.troubles.of.atMax;
  const count = trouble ? lasting(trouble, nowMs - LASTING_MS) : 0;
  if (!trouble || count === 0) return [];
  const message = `${autoscalersText(cluster, partition, count, trouble.first)} ${count === 1 ? "has" : "have"} wanted more than maxReplicas for 15 minutes`;
  return [problem("at max", message, doctorText(cluster, trouble.first))];
};

const autoscalersText = (
  { name }: ClusterRecord,
  { view }: Partition,
  count: number,
  first: string,
): string =>
  count === 1
    ? `Autoscaler "${name}/${first}"`
    : `${count} autoscalers of "${name}/${view.name}", first "${first}",`;

const doctorText = ({ name }: ClusterRecord, first: string): string => {
  const [namespace = "", autoscaler = ""] = first.split("/");
  return `tidemark doctor ${autoscaler} -n ${namespace} --cluster ${name}`;
};

/** From the head, which knows all autoscalers of the partition. */
const troubleProblems = (
  cluster: ClusterRecord,
  partition: Partition,
  nowMs: number,
): readonly StatusProblem[] => {
  const { refused, unmeasured, contested, overShare } = partition.head?.troubles.of ?? {};
  const missing = unmeasured ? lasting(unmeasured, nowMs - LASTING_MS) : 0;
  const isReported = partition.state.holds.some(({ reason }) => reason === "TenantOverShare");
  const about = (
    kind: StatusProblem["kind"],
    { first }: { readonly first: string },
    count: number,
    words: string,
  ): StatusProblem =>
    problem(
      kind,
      `${autoscalersText(cluster, partition, count, first)} ${words}`,
      doctorText(cluster, first),
    );
  const share = `Namespace "${overShare?.first}" of cluster "${cluster.name}" has used its share, or its bytes for objects`;
  return [
    ...(refused
      ? [about("refused", refused, countOf(refused), "could not scale: the scale was refused")]
      : []),
    ...(unmeasured && missing > 0
      ? [
          about(
            "unmeasured",
            unmeasured,
            missing,
            `${missing === 1 ? "has" : "have"} missed a metric for 15 minutes`,
          ),
        ]
      : []),
    ...(contested
      ? [about("contested", contested, countOf(contested), contestedText(contested))]
      : []),
    ...(overShare && !isReported
      ? [problem("over share", share, "docs/operations.md, a tenant over its share")]
      : []),
  ];
};

const contestedText = (contested: Trouble): string => {
  const [whose, first] =
    countOf(contested) === 1 ? ["has a count", "it"] : ["have counts", "the count of the first"];
  const by =
    contested.by === undefined ? "" : `: "${contested.by}" was the last to change ${first}`;
  return `${whose} that others set again and again, and Tidemark sets back${by}`;
};

/**
 * Taken from the state of the whole cluster, so that a cluster of many partitions is one problem.
 */
const connectionProblems = ({
  view: { name, state, since, error },
}: ClusterReading): readonly StatusProblem[] => {
  if (state !== "unreachable" && state !== "forbidden" && state !== "failing") return [];
  const words = CONNECTION_WORDS[state];
  const message = `Cluster "${name}" ${words}${since === undefined ? "" : ` since ${since}`}${error === undefined ? "" : `: ${error}`}`;
  return [problem(state, message, `tidemark cluster check ${name}`)];
};

const CONNECTION_WORDS = {
  failing: "answers, and no autoscaler can be evaluated or scaled",
  forbidden: "refuses the credentials or rights",
  unreachable: "cannot be reached",
} as const;

const timeProblems = (
  { name, syncPeriodMs, plannedFromMs = 0 }: ClusterRecord,
  { view, head }: Partition,
  nowMs: number,
): readonly StatusProblem[] => {
  const path = `${name}/${view.name}`;
  const aheadMs = head && headAheadMs(head, nowMs);
  if (aheadMs !== undefined) {
    const message = `Partition "${path}" has a time that is ${Math.ceil(aheadMs / SECOND_MS)} s ahead of the clock: its windows stand still`;
    return [problem("ahead", message, `tidemark partition reset ${path}`)];
  }
  const syncedMs = head?.nowMs ?? 0;
  if (syncedMs === 0) {
    if (nowMs - plannedFromMs <= FIRST_SYNC_MS + PERIODS_MAX * syncPeriodMs) return [];
    return [
      problem(
        "never synced",
        `Partition "${path}" was never synced`,
        "docs/operations.md, alarms PlanningStopped and SyncsStopped",
      ),
    ];
  }
  const agoMs = nowMs - syncedMs;
  if (agoMs <= PERIODS_MAX * syncPeriodMs) return [];
  const message = `Partition "${path}" was synced ${Math.floor(agoMs / SECOND_MS)} s ago: its period is ${syncPeriodMs / SECOND_MS} s`;
  return [problem("late", message, "docs/operations.md, alarms SyncsStopped and SyncsLate")];
};

const unreadableProblems = (
  { name }: ClusterRecord,
  { view, head, state }: Partition,
): readonly StatusProblem[] => {
  const path = `${name}/${view.name}`;
  const next = `tidemark partition describe ${path}`;
  const intents = head?.unreadable.length ?? 0;
  return [
    ...(state.unreadable
      ? [
          problem(
            "unreadable",
            `Autoscaler "${name}/${state.unreadable.autoscaler}" holds: ${state.unreadable.message}`,
            next,
          ),
        ]
      : []),
    ...(intents > 0
      ? [
          problem(
            "unreadable",
            `Partition "${path}" has ${intents} open intents that cannot be read`,
            next,
          ),
        ]
      : []),
  ];
};

const holdProblems = (
  { name: cluster }: ClusterRecord,
  { state }: Partition,
): readonly StatusProblem[] =>
  state.holds.map(({ reason, autoscaler, message, autoscalers }) => {
    const { kind, next } = HOLDS[reason](cluster);
    const more = autoscalers > 1 ? `, and ${autoscalers - 1} more of its partition` : "";
    return problem(kind, `Autoscaler "${cluster}/${autoscaler}"${more} holds: ${message}`, next);
  });

const HOLDS: Readonly<
  Record<TroublingHold["reason"], (cluster: string) => Pick<StatusProblem, "kind" | "next">>
> = {
  RuleFailed: () => ({ kind: "rule failed", next: "docs/operations.md, alarm ItemsUnreadable" }),
  TenantOverShare: () => ({
    kind: "over share",
    next: "docs/operations.md, a tenant over its share",
  }),
  RivalsUnknown: (cluster) => ({
    kind: "rivals unknown",
    next: `tidemark cluster check ${cluster}`,
  }),
  SpecUnknown: (cluster) => ({ kind: "specs unknown", next: `tidemark cluster check ${cluster}` }),
};

export const unreadableCluster = ({
  name,
  message,
}: {
  readonly name: string;
  readonly message: string;
}): StatusProblem => {
  const words = `Cluster "${name}" is not synced, because its record cannot be read: ${message}`;
  return problem("unreadable", words, "docs/operations.md, something stored cannot be read");
};

export const deadLetterProblems = (
  deadLetters: DeadLetters | undefined,
): readonly StatusProblem[] => {
  const { syncs = 0, plans = 0 } = deadLetters ?? {};
  return [
    ...deadLetterProblem(syncs, "syncs that failed five times", "SyncDeadLettersFilled"),
    ...deadLetterProblem(plans, "plans that could not start", "TickDeadLettersFilled"),
  ];
};

const deadLetterProblem = (count: number, what: string, alarm: string): readonly StatusProblem[] =>
  count === 0
    ? []
    : [
        problem(
          "dead letters",
          `The dead-letter queue has ${count} messages of ${what}`,
          `docs/operations.md, alarm ${alarm}`,
        ),
      ];
