import type { AutoscalerRef } from "../../model/ids.ts";
import { NEW_WINDOWS, type Windows } from "../../model/windows.ts";
import { askDialect } from "../../policy/dialects.ts";
import { eventsOfAutoscaler } from "../../store/history/events.ts";
import type { Description } from "../../views/autoscaler.ts";
import type { WindowsView } from "../../views/windows.ts";
import { loadSnapshot } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { AutoscalerQuery } from "../service.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { autoscalerView } from "../views/autoscaler-view.ts";
import { eventView } from "../views/event-view.ts";
import { NO_WINDOWS, windowsView } from "./autoscaler-windows.ts";
import type { EventRecord } from "../../model/scale-records.ts";

/** Number of newest scale events in a description. */
const SHOWN_EVENTS = 10;

/** Describes one autoscaler. It reads the head, the windows page and the newest journal page once each. */
export const describe = async (context: QueryContext, query: AutoscalerQuery): Promise<Description> => {
  const snapshot = await findAutoscaler(context, query);
  const all = await loadSnapshot(context, snapshot);
  const newest = await newestEvents(context, snapshot.record, all.nowMs);
  const view = autoscalerView(all);
  return {
    ...view,
    ...behaviorOf(all.spec),
    windows: windowsOf(all, all.nowMs, view.currentReplicas),
    events: newest.map(eventView).toReversed(),
  };
};

const behaviorOf = (spec: AutoscalerSnapshot["spec"]): Pick<Description, "behavior"> => {
  const behavior = spec.kind === "spec" ? askDialect(spec.spec, ({ explains }, own) => explains.behavior(own)) : undefined;
  return behavior ? { behavior } : {};
};

/** The windows of an autoscaler at an instant, when its workload had `count` replicas; empty when the manifest cannot be read. */
export const windowsOf = (
  { spec, windows, windowsProblem, cluster, evaluated }: AutoscalerSnapshot,
  atMs: number,
  count: number | undefined,
): WindowsView => {
  if (windowsProblem !== undefined) return { ...NO_WINDOWS, problem: windowsProblem };
  if (spec.kind !== "spec") return NO_WINDOWS;
  const stored = upTo(windows ?? NEW_WINDOWS, atMs);
  // The journal has the conditions of that instant; the page has the conditions of the newest sync.
  const conditions = evaluated?.evaluation.status?.conditions ?? stored.status.conditions;
  return windowsView(
    spec.spec,
    { ...stored, status: { ...stored.status, conditions } },
    {
      settings: cluster.settings,
      nowMs: atMs,
      ...(count !== undefined && { count }),
    },
  );
};

/** Windows without anything later than an instant. Entries that have left every window since then are missing. */
const upTo = ({ memory: { recommendations, scaleUps, scaleDowns }, status }: Windows, atMs: number): Windows => {
  const { lastScaleMs, ...rest } = status;
  return {
    memory: {
      recommendations: recommendations?.filter((run) => run.firstMs <= atMs).map((run) => ({ ...run, lastMs: Math.min(run.lastMs, atMs) })) ?? null,
      scaleUps: scaleUps.filter((change) => change.atMs <= atMs),
      scaleDowns: scaleDowns.filter((change) => change.atMs <= atMs),
    },
    status: { ...rest, ...(lastScaleMs !== undefined && lastScaleMs <= atMs && { lastScaleMs }) },
  };
};

const newestEvents = async (context: QueryContext, ref: AutoscalerRef, untilMs: number): Promise<readonly EventRecord[]> => {
  const newest: EventRecord[] = [];
  const stretch = { sinceMs: 0, untilMs, newestFirst: true, pageSize: SHOWN_EVENTS };
  for await (const event of eventsOfAutoscaler(context.tables, ref, stretch)) if (newest.push(event) === SHOWN_EVENTS) break;
  return newest;
};
