import type { TroublingHold } from "../../../rules/model/summary.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import {
  countOf,
  lasting,
  LASTS_MS,
  type Trouble,
  type TroubleKind,
} from "../../../stack/store/head/troubles.ts";
import {
  isBurning,
  type Shares,
  sharesOf,
  undecidedSinceMs,
} from "../../../stack/plan/decided-share.ts";
import { clusterShares, decidedView } from "../views/decided-view.ts";
import { partitionName } from "../../../rules/model/ids.ts";
import type { ClusterState } from "../../views/cluster.ts";
import { rfc3339 } from "../times.ts";
import type { DeadLetters, StatusProblem } from "../../views/status.ts";
import { headAheadMs } from "../partitions/partition-query.ts";
import { untilText } from "../../../stack/report/duration-text.ts";
import { type ClusterReading, tokenOfCluster } from "../views/cluster-of.ts";
import { SECOND_MS, MINUTE_MS } from "../../../rules/model/time-text.ts";

/** A partition that was not synced for longer than this many periods is late. */
const PERIODS_MAX = 2;
/**
 * A cluster that was just added or divided is planned within this time at the latest, also where
 * its edit could not plan it.
 */
const FIRST_SYNC_MS = 3 * MINUTE_MS;

export type Partition = ClusterReading["partitions"][number];

/** What a person reads, and the next step. */
export const problem = (
  kind: StatusProblem["kind"],
  message: string,
  next: string,
): StatusProblem => ({
  kind,
  message,
  next,
});

/** Everything about a cluster that a person must look at. */
export const clusterProblems = (
  cluster: ClusterRecord,
  reading: ClusterReading,
  nowMs: number,
  isWhole: boolean,
): readonly StatusProblem[] =>
  aboutCluster(cluster.name, [
    ...connectionProblems(reading),
    ...(isWhole ? tokenProblems(cluster, reading, nowMs) : []),
    ...undecidedProblems(cluster, reading, nowMs),
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
  ]);

/** What was found of one cluster names it, so that a page leads there. */
export const aboutCluster = (
  cluster: string,
  found: readonly StatusProblem[],
): readonly StatusProblem[] => found.map((each) => ({ ...each, cluster }));

/** A fault that goes on has a problem of its own. */
const BROKEN: ReadonlySet<ClusterState> = new Set([
  "unreachable",
  "forbidden",
  "failing",
  "late",
  "never synced",
]);
export const isBroken = ({ view: { state } }: ClusterReading): boolean => BROKEN.has(state);

/** A fault that comes and goes, or changes its kind. */
const undecidedProblems = (
  cluster: ClusterRecord,
  reading: ClusterReading,
  nowMs: number,
): readonly StatusProblem[] => {
  if (isBroken(reading)) return [];
  const burning = reading.partitions.filter(({ view, head }) =>
    isBurning(sharesOf(cluster, partitionName(view.name), head, nowMs), cluster.syncPeriodMs),
  );
  if (burning.length === 0) return [];
  const since = burning.flatMap(({ head }) => (head && undecidedSinceMs(head)) ?? []);
  const words = since.length === 0 ? "" : ` since ${rfc3339(Math.min(...since))}`;
  const message = `Cluster "${cluster.name}" fails again and again${words}: ${shareText(clusterShares(cluster, burning, nowMs))}`;
  return [problem("undecided", message, `tidemark cluster check ${cluster.name}`)];
};

const shareText = (shares: Shares): string => {
  const { last15Minutes = 0, lastHour = 0 } = decidedView(shares) ?? {};
  return `${last15Minutes} % of the due syncs of 15 minutes decided, and ${lastHour} % of an hour`;
};

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

export const autoscalersText = (
  { name }: ClusterRecord,
  { view }: Partition,
  count: number,
  first: string,
): string =>
  count === 1
    ? `Autoscaler "${name}/${first}"`
    : `${count} autoscalers of "${name}/${view.name}", first "${first}",`;

export const doctorText = ({ name }: ClusterRecord, first: string): string => {
  const [namespace = "", autoscaler = ""] = first.split("/");
  return `tidemark doctor ${autoscaler} -n ${namespace} --cluster ${name}`;
};

type Troubled = readonly [trouble: Trouble, count: number];

/** The trouble with how many have it: those that have it long enough, or also those that have it now. */
export const troubled = (
  { head }: Partition,
  kind: TroubleKind,
  nowMs: number,
  also: "now" | "only lasting",
): Troubled | undefined => {
  const trouble = head?.troubles.of[kind];
  if (!trouble) return undefined;
  const lasts = lasting(trouble, nowMs, LASTS_MS[kind]);
  const count = also === "now" ? Math.max(countOf(trouble), lasts) : lasts;
  return count > 0 ? [trouble, count] : undefined;
};

/** From the head, which knows all autoscalers of the partition. */
const troubleProblems = (
  cluster: ClusterRecord,
  partition: Partition,
  nowMs: number,
): readonly StatusProblem[] => {
  const about = (
    kind: StatusProblem["kind"],
    found: Troubled | undefined,
    wordsOf: (trouble: Trouble, count: number) => string,
  ): readonly StatusProblem[] => {
    if (!found) return [];
    const [trouble, count] = found;
    const { first } = trouble;
    const message = `${autoscalersText(cluster, partition, count, first)} ${wordsOf(trouble, count)}`;
    return [problem(kind, message, doctorText(cluster, first))];
  };
  const long = (kind: TroubleKind) => troubled(partition, kind, nowMs, "only lasting");
  const now = (kind: TroubleKind) => troubled(partition, kind, nowMs, "now");
  return [
    ...about("refused", now("refused"), () => "could not scale: the scale was refused"),
    ...about(
      "unmeasured",
      long("unmeasured"),
      (_, count) => `${count === 1 ? "has" : "have"} missed a metric for 15 minutes`,
    ),
    ...about("contested", now("contested"), contestedText),
    ...about(
      "at max",
      long("atMax"),
      (_, count) => `${count === 1 ? "has" : "have"} wanted more than maxReplicas for 15 minutes`,
    ),
    ...shareProblems(cluster, partition, now("overShare")),
  ];
};

const shareProblems = (
  { name }: ClusterRecord,
  { state }: Partition,
  found: Troubled | undefined,
): readonly StatusProblem[] => {
  if (!found || state.holds.some(({ reason }) => reason === "TenantOverShare")) return [];
  const [{ first }] = found;
  const message = `Namespace "${first}" of cluster "${name}" has used its share, or its bytes for objects`;
  return [problem("over share", message, "docs/operations.md, a tenant over its share")];
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
  const syncedMs = head?.evaluatedMs ?? 0;
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
