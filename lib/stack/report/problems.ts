import type { LogLine } from "./log-lines.ts";
import type { Metric } from "./sync-report.ts";

/**
 * What a person should look at, in the order in which a person would. Each kind has an alarm
 * (infra/alarms.yml).
 */
export const FLEET_PROBLEM_KINDS = [
  "unreadable",
  "late",
  "unreachable",
  "failing",
  "undecided",
  "refused",
  "unmeasured",
  "overShare",
  "contested",
  "atMax",
] as const;
export type FleetProblemKind = (typeof FLEET_PROBLEM_KINDS)[number];

export interface FleetProblem {
  readonly kind: FleetProblemKind;
  /** CLUSTER, or CLUSTER/PARTITION. */
  readonly key: string;
  /** Autoscalers or namespaces; 1 for a cluster or a partition. */
  readonly count: number;
  /** The autoscaler or namespace that has it the longest. */
  readonly first?: string;
  readonly sinceMs?: number;
  /**
   * It has ended for now, and is no news: a moment ago, or so long that it is news where it comes
   * back with `fast`.
   */
  readonly past?: "just now" | "for long";
  /** A third of the last 15 minutes has it. */
  readonly fast?: true;
  readonly owners?: Readonly<Record<string, number>>;
}

/** What a kind counts, in words, and the name of its metric. */
const KINDS = {
  unreadable: {
    metric: "ClustersUnreadable",
    one: "cluster has a record that cannot be read",
    many: "clusters have records that cannot be read",
  },
  late: {
    metric: "PartitionsLate",
    one: "partition was not synced for three periods",
    many: "partitions were not synced for three periods",
  },
  unreachable: {
    metric: "ClustersUnreachable",
    one: "cluster cannot be read for 5 minutes",
    many: "clusters cannot be read for 5 minutes",
  },
  failing: {
    metric: "ClustersFailing",
    one: "cluster answers and nothing can be evaluated for 5 minutes",
    many: "clusters answer and nothing can be evaluated for 5 minutes",
  },
  undecided: {
    metric: "ClustersUndecided",
    one: "cluster fails again and again, so that too few of its due syncs decide",
    many: "clusters fail again and again, so that too few of their due syncs decide",
  },
  refused: {
    metric: "AutoscalersRefused",
    one: "autoscaler could not scale for 15 minutes",
    many: "autoscalers could not scale for 15 minutes",
  },
  unmeasured: {
    metric: "AutoscalersUnmeasured",
    one: "autoscaler missed a metric for 15 minutes",
    many: "autoscalers missed a metric for 15 minutes",
  },
  overShare: {
    metric: "NamespacesOverShare",
    one: "namespace is over its share for 5 minutes",
    many: "namespaces are over their share for 5 minutes",
  },
  contested: {
    metric: "AutoscalersContested",
    one: "autoscaler has a count that others set again and again",
    many: "autoscalers have counts that others set again and again",
  },
  atMax: {
    metric: "AutoscalersAtMax",
    one: "autoscaler wants more than its maximum for 15 minutes",
    many: "autoscalers want more than their maximum for 15 minutes",
  },
} as const satisfies Readonly<
  Record<FleetProblemKind, { readonly metric: string; readonly one: string; readonly many: string }>
>;

/** Each alarm costs money, so kinds that a person looks at in the same way share one. */
const ALARMS = {
  NewLatePartitions: ["late"],
  NewClusterProblems: ["unreadable", "unreachable", "failing", "undecided"],
  NewAutoscalerProblems: ["refused", "unmeasured", "overShare", "contested", "atMax"],
} as const satisfies Readonly<Record<string, readonly FleetProblemKind[]>>;

/** Of the whole fleet, in percent, by how far back they look. */
const DECIDED = { quarter: "SyncsDecided15Minutes", day: "SyncsDecided24Hours" } as const;
type DecidedMetric = (typeof DECIDED)[keyof typeof DECIDED];

type AlarmMetric = keyof typeof ALARMS;
type KindMetric = (typeof KINDS)[FleetProblemKind]["metric"];
export type ProblemMetric = "Problems" | DecidedMetric | KindMetric | AlarmMetric;

export const PROBLEM_GROUPS: readonly (readonly FleetProblemKind[])[] = Object.values(ALARMS);

/**
 * Kinds of one fault: a cluster that was reported under one of them and changes to another is no
 * news.
 */
export const ONE_FAULT: ReadonlySet<FleetProblemKind> = new Set([
  "unreachable",
  "failing",
  "undecided",
]);

/** The problems of one minute, and those that are new. */
export interface ProblemReport {
  readonly all: readonly FleetProblem[];
  /** Problems to report now: more than were reported before. */
  readonly risen: readonly FleetProblem[];
  /** Kinds whose metrics are sent, zeros included, so that an alarm sees the end of its rise. */
  readonly sent: ReadonlySet<FleetProblemKind>;
  /** The share of the due syncs of the fleet that decided, in percent; absent where none was due. */
  readonly decided?: Readonly<Partial<Record<keyof typeof DECIDED, number>>>;
}

const total = (problems: readonly FleetProblem[]): number =>
  problems.reduce((sum, { count }) => sum + count, 0);
const ofKind = (
  problems: readonly FleetProblem[],
  kind: FleetProblemKind,
): readonly FleetProblem[] => problems.filter((problem) => problem.kind === kind);

/** Nothing while all of them decide, as a metric costs money in each hour in which it is sent. */
const decidedMetrics = ({ decided = {} }: ProblemReport): readonly Metric<ProblemMetric>[] =>
  Object.values(decided).every((percent) => percent === 100)
    ? []
    : (["quarter", "day"] as const).flatMap((time) => {
        const value = decided[time];
        return value === undefined
          ? []
          : [{ name: DECIDED[time], unit: "Percent" as const, value }];
      });

/**
 * A few metrics, whatever the size of the fleet: nothing while there is no problem; else one for
 * all, one for each kind that has some, and what is new for each alarm of these.
 */
export const problemMetrics = (report: ProblemReport): readonly Metric<ProblemMetric>[] => [
  ...decidedMetrics(report),
  ...kindMetrics(report),
];

const kindMetrics = ({ all, risen, sent }: ProblemReport): readonly Metric<ProblemMetric>[] => {
  if (sent.size === 0) return [];
  const alarms = Object.entries(ALARMS).filter(([, kinds]) =>
    kinds.some((kind) => sent.has(kind)),
  ) as [AlarmMetric, readonly FleetProblemKind[]][];
  return [
    { name: "Problems", unit: "Count", value: total(all) },
    ...[...sent].map((kind) => ({
      name: KINDS[kind].metric,
      unit: "Count" as const,
      value: total(ofKind(all, kind)),
    })),
    ...alarms.map(([name, kinds]) => ({
      name,
      unit: "Count" as const,
      value: total(kinds.flatMap((kind) => ofKind(risen, kind))),
    })),
  ];
};

/**
 * What was not counted is a problem of each cluster: the alarm is on until a minute is counted
 * again.
 */
export const NOT_COUNTED: readonly Metric<ProblemMetric>[] = [
  { name: "NewClusterProblems", unit: "Count", value: 1 },
];

/** Places of one kind that a sentence names. */
const NAMED_MAX = 10;

/** "2 clusters cannot be read for 5 minutes: eu-1, eu-2". */
export const kindSentence = (kind: FleetProblemKind, problems: readonly FleetProblem[]): string => {
  const count = total(problems);
  const named = problems.slice(0, NAMED_MAX).map(placeText).join(", ");
  const more = problems.length > NAMED_MAX ? `, and ${problems.length - NAMED_MAX} more` : "";
  return `${count} ${count === 1 ? KINDS[kind].one : KINDS[kind].many}: ${named}${more}`;
};

const placeText = ({ key, count, first, sinceMs }: FleetProblem): string => {
  if (first !== undefined) return `${key} (${count === 1 ? first : `${count}, first ${first}`})`;
  return sinceMs === undefined ? key : `${key} since ${new Date(sinceMs).toISOString()}`;
};

/** One sentence for each kind that has problems. */
export const problemSentences = (problems: readonly FleetProblem[]): readonly string[] =>
  FLEET_PROBLEM_KINDS.flatMap((kind) => {
    const same = ofKind(problems, kind);
    return same.length === 0 ? [] : [kindSentence(kind, same)];
  });

/** The line of a minute with problems: an error where there is a new one. */
export const problemLines = ({ all, risen }: ProblemReport): readonly LogLine[] => {
  if (all.length === 0) return [];
  const news = problemSentences(risen);
  const counts = Object.fromEntries(
    FLEET_PROBLEM_KINDS.map((kind) => [kind, total(ofKind(all, kind))]).filter(
      ([, count]) => count !== 0,
    ),
  );
  return [
    {
      level: risen.length > 0 ? "error" : "warn",
      message:
        risen.length > 0
          ? `New problems: ${news.join("; ")}`
          : `${total(all)} problems go on: ${problemSentences(all).join("; ")}`,
      fields: {
        problems: problemSentences(all),
        counts,
        ...(risen.length > 0 && { newProblems: news }),
      },
    },
  ];
};
