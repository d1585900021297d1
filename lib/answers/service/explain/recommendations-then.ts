import { isDeepStrictEqual } from "node:util";
import type { ScopeChangeRecord } from "../../../rules/model/changes.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import type { RecommendationRun } from "../../../rules/model/windows.ts";
import type { QueryContext } from "../context.ts";
import type { Evaluation, EventRecord, JournalPage } from "../../../rules/model/scale-records.ts";
import { JOURNAL_DAYS_KEPT } from "../../../stack/store/history/journal.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import { factsBetween } from "../facts/between.ts";
import { present } from "../../../rules/model/json.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";

/**
 * The journal has every autoscaler once a minute, so the recommendation at the start of a window
 * was stored at most so long before.
 */
const BEFORE_MS = 120_000;

/** What one sync recommended. */
interface Recommended {
  readonly atMs: number;
  /** Absent where it recommended nothing. */
  readonly replicas?: number;
  /** The count that it read. */
  readonly from?: number;
  /** The completed sync before it; absent where the page does not say. */
  readonly previousMs: number;
  /** False where a page was shortened, so that it does not say what was recommended. */
  readonly isKnown: boolean;
}

const STABILIZE = "stabilize";
/** The count that the windows recorded is that before they changed it. */
const recommendedBy = ({ steps }: Pick<Evaluation, "steps">): number | undefined =>
  steps.find(({ step }) => step === STABILIZE)?.before;

const sampleOf = (
  atMs: number,
  evaluation: Evaluation,
  { previousMs }: JournalPage,
): Recommended => {
  const replicas = recommendedBy(evaluation);
  return present({
    atMs,
    replicas,
    from: evaluation.from,
    previousMs,
    isKnown: evaluation.status !== undefined,
  });
};

/**
 * The time that is looked at, and the scales in it that another sync settled than the one that
 * decided them.
 */
interface WindowThen {
  readonly atMs: number;
  readonly windowMs: number;
  readonly settledLater: readonly EventRecord[];
  /** The edits of the cluster's record in that time. */
  readonly edits: readonly ScopeChangeRecord[];
}

/**
 * The recommendations inside a window before an instant, rebuilt from the journal: a sync that
 * recommends something else than the one before is in it, and between two of its pages every
 * completed sync recommended the same. What has left the window for longer decides nothing, and is
 * not read. `undefined` where the journal does not have all of them.
 */
export const recommendationsThen = async (
  context: QueryContext,
  located: LocatedAutoscaler,
  { atMs, windowMs, settledLater, edits }: WindowThen,
): Promise<readonly RecommendationRun[] | undefined> => {
  const { cluster, record } = located;
  const sinceMs = atMs - windowMs - BEFORE_MS;
  if (sinceMs < context.clock() - JOURNAL_DAYS_KEPT * DAY_MS) return undefined;
  if (
    record.updatedMs > Math.max(record.createdMs, sinceMs) ||
    edits.some((edit) => edit.atMs >= sinceMs && isRearranged(cluster, edit))
  )
    return undefined;
  const samples = await factsBetween({ context, uid: record.uid, sampleOf }, located, {
    sinceMs,
    untilMs: atMs,
  });
  if (samples.some(({ isKnown }) => !isKnown)) return undefined;
  const runs = [
    ...(record.createdMs >= sinceMs ? seedOf(samples) : []),
    ...samples.flatMap((sample, index) => runOf(sample, samples[index + 1])),
    ...lateRuns(samples, settledLater),
  ];
  return runs.toSorted((one, other) => one.lastMs - other.lastMs);
};

/** A recommendation lasts until the last completed sync before the next page. */
const runOf = (
  { atMs, replicas }: Recommended,
  next: Recommended | undefined,
): readonly RecommendationRun[] =>
  replicas === undefined
    ? []
    : [{ replicas, firstMs: atMs, lastMs: Math.max(atMs, next?.previousMs ?? atMs) }];

/** The list of a new autoscaler begins with the first count that was read. */
const seedOf = (samples: readonly Recommended[]): readonly RecommendationRun[] => {
  const first = samples.find(({ from }) => from !== undefined);
  return first?.from === undefined
    ? []
    : [{ replicas: first.from, firstMs: first.atMs, lastMs: first.atMs }];
};

/**
 * A sync that died before it wrote its journal has left its recommendation with the intent
 * (lib/stack/sync/keep/windows-after.ts).
 */
const lateRuns = (
  samples: readonly Recommended[],
  events: readonly EventRecord[],
): readonly RecommendationRun[] =>
  events.flatMap((event) => {
    const replicas = recommendedBy(event);
    const isTold = samples.some(({ atMs }) => atMs === event.atMs);
    return replicas === undefined || isTold
      ? []
      : [{ replicas, firstMs: event.atMs, lastMs: event.atMs }];
  });

/**
 * True where the settings or the partitions of the cluster were edited since: then the windows may
 * have been of another length, or in another partition.
 */
const isRearranged = (
  { settings, partitions }: ClusterRecord,
  { before }: ScopeChangeRecord,
): boolean => {
  const earlier = before === undefined ? undefined : (JSON.parse(before) as Partial<ClusterRecord>);
  return (
    earlier !== undefined &&
    !isDeepStrictEqual([earlier.settings, earlier.partitions], [settings, partitions])
  );
};
