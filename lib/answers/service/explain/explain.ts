import { TidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { changesOf } from "../../../stack/store/history/changes.ts";
import { eventsOfAutoscaler } from "../../../stack/store/history/events.ts";
import type { Explanation } from "../../views/autoscaler.ts";
import { loadSnapshot } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import type { AutoscalerQuery } from "../service.ts";
import { CLOCKS_APART_MS, rfc3339, secondsBetween } from "../times.ts";
import { decisionView, metricsOf } from "../views/autoscaler-view.ts";
import { boundsThen } from "../views/holds-view.ts";
import { eventView, stepViews } from "../views/event-view.ts";
import { windowsAt } from "./describe.ts";
import { whatIf } from "./what-if.ts";
import { dayBefore, type KnownEvents, windowsThen } from "./windows-then.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import { factAt } from "../facts/at.ts";
import type { Evaluated } from "../facts/journals.ts";
import { invalid } from "../refusals.ts";
import { present } from "../../../rules/model/json.ts";
import { HOUR_MS } from "../../../rules/model/time-text.ts";

/**
 * Explains the count of an autoscaler at an instant from the newest evaluation in the journal at or
 * before it; where the journal has none any more, from the newest scale event. Throws
 * `service.not-evaluated` when there is neither, and `service.invalid` for a future instant,
 * because the newest evaluation would look like one of that time.
 */
export const explain = async (
  context: QueryContext,
  query: AutoscalerQuery,
  atMs?: number,
): Promise<Explanation> => {
  const presentMs = context.clock();
  if (atMs !== undefined && atMs > presentMs + CLOCKS_APART_MS) {
    const why = `that is a future time; it is now ${rfc3339(presentMs)}`;
    throw invalid(`Cannot explain "${query.name}" at ${rfc3339(atMs)}: ${why}`, {
      name: query.name,
      atMs,
    });
  }
  const located = await findAutoscaler(context, query);
  const untilMs = Math.min(atMs ?? presentMs, presentMs);
  const isPast = atMs !== undefined;
  const [loaded, record, known] = await Promise.all([
    loadSnapshot(context, located, atMs),
    isPast ? asOfItsRules(context, located.record) : located.record,
    isPast ? dayBefore(context, located, untilMs) : hourBefore(context, located.record, untilMs),
  ]);
  const snapshot = { ...loaded, record };
  const shown = await shownDecision(context, snapshot, atMs);
  const { nowMs } = snapshot;
  const { evaluated, isPartial, specThen } = shown;
  const all = { ...snapshot, evaluated };
  const { evaluation } = evaluated;
  const [outside, windows] = await Promise.all([
    outsideAt(context, record, { known, atMs: evaluated.atMs }),
    isPartial
      ? windowsThen(context, all, evaluated, known)
      : windowsAt(all, evaluated.atMs, evaluation.from),
  ]);
  const { namespace, name } = record;
  return present({
    ...{
      cluster: record.cluster,
      namespace,
      name,
      decision: decisionView(evaluated),
      ageSeconds: secondsBetween(evaluated.atMs, nowMs),
      outside,
    },
    stored: shown.stored,
    beforeSeconds:
      atMs === undefined ? undefined : secondsBetween(evaluated.atMs, Math.min(atMs, nowMs)),
    ...{
      metrics: metricsOf(all),
      steps: stepViews(evaluation.steps),
      bounds: boundsThen(evaluation.bounds),
      windows,
      windowsPartial: isPartial,
    },
    otherwise: whatIf(present({ evaluation, windows, spec: specThen })),
  });
};

/**
 * The record as its newest manifest left it: a pause, an override or a takeover changes no rule,
 * and loses no window. A manifest that was never stored counts: on doubt, the rules changed.
 */
const asOfItsRules = async (
  { tables }: QueryContext,
  record: AutoscalerRecord,
): Promise<AutoscalerRecord> => {
  if (record.updatedMs === record.createdMs) return record;
  let updatedMs = record.createdMs;
  for await (const { id, verb, atMs } of changesOf(tables, record))
    if (id.startsWith(`${record.uid}:`) && verb === "apply") updatedMs = Math.max(updatedMs, atMs);
  return { ...record, updatedMs };
};

interface Shown {
  readonly evaluated: Evaluated;
  readonly stored: Explanation["stored"];
  /** True where the stored windows are of a later sync. */
  readonly isPartial: boolean;
  /**
   * The rules by which it was decided; absent where the autoscaler was edited since, or cannot be
   * read.
   */
  readonly specThen: AutoscalerSpec | undefined;
}

const shownDecision = async (
  context: QueryContext,
  known: AutoscalerSnapshot,
  atMs: number | undefined,
): Promise<Shown> => {
  const { record, spec, syncedMs = 0 } = known;
  const journaled = atMs === undefined ? known.evaluated : await factAt(context, known, atMs);
  const evaluated =
    journaled ?? (atMs === undefined ? undefined : await eventBefore(context, record, atMs));
  if (!evaluated) throw notEvaluated(`${record.namespace}/${record.name}`, record.cluster, atMs);
  const isPartial = atMs !== undefined && (!journaled || syncedMs > evaluated.atMs);
  const isEdited = isPartial && record.updatedMs > evaluated.atMs;
  return {
    evaluated,
    stored: journaled ? "evaluation" : "event",
    isPartial,
    specThen: spec.kind === "spec" && !isEdited ? spec.spec : undefined,
  };
};

/** The events of an hour and some minutes before an instant, in order of time. */
const hourBefore = async (
  { tables }: QueryContext,
  record: AutoscalerRecord,
  untilMs: number,
): Promise<KnownEvents> => {
  const sinceMs = untilMs - OUTSIDE_MS - CLOCKS_APART_MS;
  const events = await Array.fromAsync(eventsOfAutoscaler(tables, record, { sinceMs, untilMs }));
  return { sinceMs, events: events.filter(({ uid }) => uid === record.uid) };
};

const OUTSIDE_MS = HOUR_MS;

/**
 * The newest change by others that the sync of an instant could know of. `known` was read beside
 * the journal; it is read again where the newest sync is of an earlier time.
 */
const outsideAt = async (
  context: QueryContext,
  record: AutoscalerRecord,
  { known, atMs }: { readonly known: KnownEvents; readonly atMs: number },
): Promise<Explanation["outside"]> => {
  const sinceMs = atMs - OUTSIDE_MS;
  const { events } = sinceMs >= known.sinceMs ? known : await hourBefore(context, record, atMs);
  const found = events.findLast(
    (event) => event.outcome === "outside" && event.atMs <= atMs && event.atMs >= sinceMs,
  );
  if (!found) return undefined;
  const { at, settledAt, from, to, reason, message } = eventView(found);
  return { at, settledAt, from, to, reason, message };
};

const NEWEST_EVENTS = 10;

/**
 * The newest scale event at or before an instant, as the evaluation that it keeps: its metrics,
 * steps and limits. A refused one explains no count.
 */
const eventBefore = async (
  context: QueryContext,
  record: AutoscalerRecord,
  atMs: number,
): Promise<Evaluated | undefined> => {
  const stretch = {
    sinceMs: record.createdMs,
    untilMs: atMs,
    newestFirst: true,
    pageSize: NEWEST_EVENTS,
  };
  for await (const event of eventsOfAutoscaler(context.tables, record, stretch)) {
    const { uid, namespace, name, from, to, reason, message, metrics, steps, outcome } = event;
    const decided = {
      kind: "scale",
      failed: false,
      from,
      to,
      because: { reason, message },
      metrics,
      steps,
      events: [],
    } as const;
    const evaluation: Evaluation = { uid, namespace, name, ...decided };
    if (uid === record.uid && outcome !== "refused" && outcome !== "outside")
      return { atMs: event.atMs, evaluation };
  }
  return undefined;
};

const notEvaluated = (path: string, cluster: string, atMs: number | undefined): TidemarkError =>
  new TidemarkError(
    "service.not-evaluated",
    `Cannot explain "${path}" in cluster "${cluster}"${atMs === undefined ? "" : ` at ${rfc3339(atMs)}`}: no sync has evaluated it ${atMs === undefined ? "yet" : "by then, or its journal has expired"}`,
    { path, cluster, atMs },
  );
