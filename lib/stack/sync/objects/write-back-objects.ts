import type {
  ClusterClient,
  ObjectUpdate,
  UpdatedObject,
  WriteBackCounts,
  SpecObject,
} from "../../cluster/cluster-client.ts";
import { originIn, type AutoscalerRecord } from "../../../rules/model/records.ts";
import { SPEC_KINDS } from "../../../rules/model/spec.ts";
import {
  type StatusContext,
  NEWER_FIELDS,
  objectStatus,
} from "../../report/objects/object-status.ts";
import {
  conditionObjectEvents,
  type Moved,
  movedOf,
  scaleObjectEvent,
  statusEditEvents,
} from "../../report/objects/object-events.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import { evaluationOf } from "../decide/evaluation.ts";
import type { SyncMessage } from "../../plan/message.ts";
import { STATUS_RIVAL_MS } from "../specs/compare.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { costEvents, type EditedObject } from "./cost-events.ts";
import { byPlace, type DueTime, inFairTurns, isTurn, roundOf } from "../../turns/turns.ts";
import type { Evaluation, ScaleEventRecord } from "../../../rules/model/scale-records.ts";
import { connected } from "../connected.ts";
import type { ClusterAnswers, Verdict, Loaded, Outside, Settled, After } from "../hand-over.ts";

/**
 * The most that one sync writes back: requests, Events of one object, and time. A request costs the
 * API server 3 to 9 ms of CPU (npm run bench -- write-back).
 */
export const UPDATES_MAX = 200;
const EVENTS_OF_ONE_MAX = 3;
export const WRITE_BACK_MS_MAX = 2_000;

interface Done {
  readonly loaded: Loaded;
  readonly seen: Pick<ClusterAnswers, "client">;
  readonly verdicts: readonly Verdict[];
  readonly settled: Settled;
  readonly outside: Outside;
  readonly after: After;
  readonly softUntilMs: number;
}

/**
 * Writes back what was decided to the objects that autoscalers were read from: their status and
 * Events. It comes after the release, in the time that is left, and nothing depends on it: every
 * failure is a count. What the LIST of this sync showed says what has moved, so that nothing is
 * stored for it.
 */
export const writeBackObjects = async (
  ports: SyncPorts,
  message: SyncMessage,
  done: Done,
): Promise<WriteBackCounts | undefined> => {
  const leftMs = done.softUntilMs - ports.tables.clock();
  if (leftMs <= 0) return undefined;
  const costs = await costEvents(ports.tables, done.loaded, editedObjects(done));
  const updates = updatesOf(message, done, costs);
  const client = updates.length === 0 ? undefined : await clientOf(ports, done);
  if (!client?.writeBack) return undefined;
  return client.writeBack(updates, {
    budgetMs: Math.min(leftMs, WRITE_BACK_MS_MAX),
    callsMax: UPDATES_MAX,
  });
};

/** A sync without a valid autoscaler has observed nothing, and so has no client yet. */
const clientOf = async (
  ports: SyncPorts,
  { loaded, seen }: Done,
): Promise<ClusterClient | undefined> => {
  if (seen.client) return seen.client;
  const connection = await connected(ports, loaded.cluster);
  return connection.kind === "connected" ? connection.client : undefined;
};

/** The objects with a spec that no status is written for yet. */
const editedObjects = ({ loaded, verdicts }: Done): readonly EditedObject[] =>
  verdicts.flatMap(({ autoscaler }) => {
    const target = autoscaler.kind === "ready" && updatedObjectOf(loaded, autoscaler.record);
    if (!target) return [];
    const { generation, uid, status } = target.object;
    return status?.["observedGeneration"] === generation
      ? []
      : [{ autoscaler, objectUid: uid, generation }];
  });

interface Ranked {
  readonly update: ObjectUpdate;
  /** The lowest is written first. */
  readonly rank: number;
}

const RANKS: Readonly<Record<Exclude<Moved, "nothing">, number>> = { state: 1, values: 3 };
const EVENT_RANK = 2;

/**
 * Where only values move, they are written once in this time. They move at nearly every sync, and
 * each write makes the API server store a version of the object.
 */
const VALUES_EVERY_MS = 60_000;

/** The round of values is a minute, because each object has one turn in it. */
const roundOfRank = (rank: number, { dueMs, periodMs }: DueTime): number =>
  rank === RANKS.values
    ? roundOf({ dueMs, periodMs: Math.max(VALUES_EVERY_MS, periodMs) })
    : roundOf({ dueMs, periodMs });

/**
 * States come first, then Events, then values. Within each the namespaces take turns, and so do the
 * objects of a namespace, so that none waits for long where there is no room for all.
 */
const updatesOf = (
  message: SyncMessage,
  done: Done,
  costs: Awaited<ReturnType<typeof costEvents>>,
): readonly ObjectUpdate[] => {
  const scales = Map.groupBy(
    [...done.settled.late, ...done.settled.own]
      .map(({ event }) => event)
      .filter((event) => event !== undefined),
    ({ uid }) => uid,
  );
  const updates = done.verdicts.flatMap((verdict) => {
    const own = ofVerdict(message, done, verdict, scales);
    const event = verdict.autoscaler.kind === "ready" && costs.get(verdict.autoscaler.record.uid);
    const about = own[0]?.update.about;
    // Before the status, which says that the edit is known: what dies between says it again.
    return event && about
      ? [{ rank: RANKS.state, update: { kind: "event", about, event } as const }, ...own]
      : own;
  });
  return [...Map.groupBy(updates, ({ rank }) => rank)]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([rank, ranked]) => {
      const round = roundOfRank(rank, message);
      return inFairTurns(
        byPlace(ranked, ({ update }) => update.about.uid, round),
        { flowOf: ({ update }) => update.about.namespace, costOf: () => 1, round, by: "end" },
      );
    })
    .map(({ update }) => update);
};

const ofVerdict = (
  message: SyncMessage,
  { loaded, outside, after }: Done,
  verdict: Verdict,
  scales: ReadonlyMap<string, readonly ScaleEventRecord[]>,
): readonly Ranked[] => {
  if (verdict.autoscaler.kind === "unreadable") return [];
  const { record } = verdict.autoscaler;
  const target = updatedObjectOf(loaded, record);
  const evaluation = target && evaluationOf(verdict, after);
  if (!target || !evaluation) return [];
  const { about, object } = target;
  const events = scales.get(record.uid) ?? [];
  const listed = object.status ?? {};
  const { nowMs } = loaded;
  const context = {
    generation: generationOf(evaluation, record, object),
    nowMs,
    listed,
    ownPodsOnly: countsOwnOnly(verdict),
    ...scaleContext(verdict, { evaluation, events, nowMs }),
  };
  const status = objectStatus(about.of.kind, evaluation, context);
  const ofEdit = statusEditEvents(about.uid, object.statusEdit, nowMs);
  const moved = movedOf(status, listed);
  const ofConditions =
    moved === "state" ? conditionObjectEvents(about.uid, status, listed, nowMs) : [];
  return [
    ...statusUpdate({ about, status, moved }, message, ofEdit.length > 0),
    ...[
      ...[...events, ...outside.events.filter(({ uid }) => uid === record.uid)].map(
        scaleObjectEvent,
      ),
      ...ofEdit,
      ...ofConditions,
    ]
      .slice(0, EVENTS_OF_ONE_MAX)
      .map((event) => ({
        rank: EVENT_RANK,
        update: { kind: "event", about, event } as const,
      })),
  ];
};

const countsOwnOnly = ({ autoscaler }: Verdict): boolean =>
  autoscaler.kind === "ready" &&
  askDialect(autoscaler.spec, ({ explains }, spec) => explains.ownPodsOnly(spec));

/**
 * Values wait for their turn; but a status that another program has written is made right at once.
 */
const statusUpdate = (
  {
    about,
    status,
    moved,
  }: {
    readonly about: UpdatedObject;
    readonly status: Readonly<Record<string, unknown>>;
    readonly moved: Moved;
  },
  message: SyncMessage,
  isEdited: boolean,
): readonly Ranked[] => {
  if (
    moved === "nothing" ||
    (moved === "values" && !isEdited && !isTurnOfValues(about.uid, message))
  )
    return [];
  return [{ rank: RANKS[moved], update: { kind: "status", about, status, newer: NEWER_FIELDS } }];
};

/** True in one sync of each minute, which is another one for other objects. */
const isTurnOfValues = (uid: string, message: DueTime): boolean =>
  isTurn(uid, roundOf(message), Math.max(1, Math.round(VALUES_EVERY_MS / message.periodMs)));

/**
 * The generation that was decided on: the generation of the record while a newer one waits to be
 * stored.
 */
const generationOf = (
  { waiting }: Evaluation,
  { origin }: AutoscalerRecord,
  { generation }: SpecObject,
): number => (waiting && origin ? origin.generation : generation);

/**
 * The object of an autoscaler in the LIST of this sync. Absent where another controller writes its
 * status: that status is left alone.
 */
const updatedObjectOf = (
  { cluster, objects, nowMs }: Loaded,
  record: AutoscalerRecord,
): { readonly about: UpdatedObject; readonly object: SpecObject } | undefined => {
  const origin = originIn(cluster, record);
  const of = SPEC_KINDS.find(({ kind }) => kind === origin?.kind);
  const object = origin && objects?.listed.get(origin.uid);
  if (!of || !object) return undefined;
  if (object.statusBy && nowMs - object.statusBy.atMs <= STATUS_RIVAL_MS) return undefined;
  const { namespace, name, uid, resourceVersion } = object;
  return { about: { of, namespace, name, uid, resourceVersion }, object };
};

interface Outcome {
  readonly evaluation: Pick<Evaluation, "because" | "withoutHold">;
  /** The scale events that this sync has settled for the autoscaler. */
  readonly events: readonly ScaleEventRecord[];
  /** The time of the sync. An event that was decided earlier is of an earlier sync. */
  readonly nowMs: number;
}

/**
 * What the status of an object says of scales: how many were decided, a dry run's included, and the
 * condition that was set last (watermark.md 1.5, 2.10).
 */
export const scaleContext = (
  verdict: Verdict,
  { evaluation, events, nowMs }: Outcome,
): Pick<StatusContext, "scales" | "lastCondition"> => {
  const { because, withoutHold } = evaluation;
  const made = events.filter(({ outcome }) => outcome !== "refused").length;
  const inDryRun = (withoutHold?.because ?? because).reason === DRY_RUN ? 1 : 0;
  const lastCondition = lastConditionOf(
    verdict,
    events.find(({ atMs }) => atMs >= nowMs),
  );
  return { scales: made + inDryRun, ...(lastCondition && { lastCondition }) };
};

const DRY_RUN = "DryRun";

/** A write sets AbleToScale after all that the rules have set. */
const lastConditionOf = (
  verdict: Verdict,
  written: ScaleEventRecord | undefined,
): StatusContext["lastCondition"] => {
  const ofRules = verdict.kind === "unevaluated" ? undefined : verdict.decision.lastCondition;
  return ofRules && written
    ? { type: "AbleToScale", status: written.outcome === "refused" ? "False" : "True" }
    : ofRules;
};
