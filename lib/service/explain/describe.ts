import type { AutoscalerRef } from "../../model/ids.ts";
import type { ScaleEventRecord } from "../../model/records.ts";
import { NEW_WINDOWS, type Windows } from "../../model/windows.ts";
import { askDialect } from "../../policy/dialects.ts";
import { eventsOfAutoscaler } from "../../store/history/events.ts";
import { known } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { AutoscalerQuery } from "../service.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import type { Description } from "../views/autoscaler.ts";
import { autoscalerView, eventView } from "../views/autoscaler-of.ts";
import { NO_WINDOWS, type WindowsView } from "../views/windows.ts";
import { windowsView } from "./autoscaler-windows.ts";

/** Newest scale events that a description shows. */
const SHOWN_EVENTS = 10;

/** Everything about one autoscaler: head, windows page and newest journal page, each read once. */
export const describe = async (context: QueryContext, query: AutoscalerQuery): Promise<Description> => {
  const found = await findAutoscaler(context, query);
  const all = await known(context, found);
  const newest = await newestEvents(context, found.record, all.nowMs);
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

/** What the windows held at an instant, at which the workload had `count` replicas; nothing is known of those of a manifest that is not understood. */
export const windowsOf = (
  { spec, windows, windowsProblem, cluster, evaluated }: AutoscalerSnapshot,
  atMs: number,
  count: number | undefined,
): WindowsView => {
  if (windowsProblem !== undefined) return { ...NO_WINDOWS, problem: windowsProblem };
  if (spec.kind !== "spec") return NO_WINDOWS;
  const stored = upTo(windows ?? NEW_WINDOWS, atMs);
  // The journal tells since when something lasts as it was at that instant; the page is of the newest sync.
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

/** Windows without what came after an instant. What has left every window since is gone for good, and missing here. */
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

const newestEvents = async (context: QueryContext, ref: AutoscalerRef, untilMs: number): Promise<readonly ScaleEventRecord[]> => {
  const newest: ScaleEventRecord[] = [];
  const stretch = { sinceMs: 0, untilMs, newestFirst: true, pageSize: SHOWN_EVENTS };
  for await (const event of eventsOfAutoscaler(context.tables, ref, stretch)) if (newest.push(event) === SHOWN_EVENTS) break;
  return newest;
};
