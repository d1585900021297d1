import type { ServiceContext } from "../service/context.ts";
import type { Service } from "../service/service.ts";

type Work<Verb extends keyof Service> = (context: ServiceContext, ...args: Parameters<Service[Verb]>) => ReturnType<Service[Verb]>;

/** The code of each verb of the service, as `openService` has it (lib/service/open.ts). A process calls one or two of them, and the rest of the service is two thirds of what there is to load. */
const CODE: { readonly [Verb in keyof Service]: () => Promise<Work<Verb>> } = {
  autoscalers: async () => (await import("../service/autoscalers.ts")).autoscalers,
  rows: async () => (await import("../service/rows/rows.ts")).rows,
  get: async () => get,
  describe: async () => (await import("../service/explain/describe.ts")).describe,
  explain: async () => (await import("../service/explain/explain.ts")).explain,
  shadow: async () => (await import("../service/shadow/shadow.ts")).shadow,
  history: async () => (await import("../service/history/history.ts")).history,
  events: async () => (await import("../service/events.ts")).events,
  eventCounts: async () => (await import("../service/events.ts")).eventCounts,
  changes: async () => (await import("../service/changes.ts")).changes,
  series: async () => (await import("../service/series/series.ts")).series,
  clusters: async () => (await import("../service/clusters/cluster-edits.ts")).clusters,
  cluster: async () => (await import("../service/clusters/cluster-edits.ts")).cluster,
  partition: async () => (await import("../service/partitions/partition-query.ts")).partition,
  fleet: async () => (await import("../service/clusters/fleet.ts")).fleet,
  overrides: async () => (await import("../service/overrides/override-places.ts")).overrides,
  calendars: async () => (await import("../service/calendars/calendars.ts")).calendars,
  status: async () => (await import("../service/status/status.ts")).status,
  sources: async () => (await import("../service/sources/sources.ts")).sources,
  access: async () => (await import("../service/access/access.ts")).access,
  canI: async () => (await import("../service/access/access.ts")).canI,
  apply: async () => (await import("../service/apply/apply.ts")).apply,
  delete: async () => (await import("../service/edits/autoscaler-edits.ts")).remove,
  pause: async () => (await import("../service/edits/autoscaler-edits.ts")).pause,
  resume: async () => (await import("../service/edits/autoscaler-edits.ts")).resume,
  takeOver: async () => (await import("../service/edits/autoscaler-edits.ts")).takeOver,
  handBack: async () => (await import("../service/edits/autoscaler-edits.ts")).handBack,
  checkCluster: async () => (await import("../service/clusters/connection-check.ts")).checkCluster,
  addCluster: async () => (await import("../service/clusters/cluster-edits.ts")).addCluster,
  replaceCluster: async () => (await import("../service/clusters/cluster-edits.ts")).replaceCluster,
  pauseCluster: async () => (await import("../service/clusters/cluster-edits.ts")).pauseCluster,
  resumeCluster: async () => (await import("../service/clusters/cluster-edits.ts")).resumeCluster,
  removeCluster: async () => (await import("../service/edits/removal.ts")).removeCluster,
  resetWindows: async () => (await import("../service/partitions/reset-windows.ts")).resetWindows,
  resetIntent: async () => (await import("../service/partitions/reset-intent.ts")).resetIntent,
  resetTime: async () => (await import("../service/partitions/reset-time.ts")).resetTime,
  freeze: async () => (await import("../service/clusters/fleet.ts")).freeze,
  thaw: async () => (await import("../service/clusters/fleet.ts")).thaw,
  adopt: async () => (await import("../service/clusters/fleet.ts")).adopt,
  setOverride: async () => (await import("../service/overrides/override-edits.ts")).setOverride,
  extendOverride: async () => (await import("../service/overrides/override-edits.ts")).extendOverride,
  clearOverride: async () => (await import("../service/overrides/override-edits.ts")).clearOverride,
  putCalendar: async () => (await import("../service/calendars/calendars.ts")).putCalendar,
  deleteCalendar: async () => (await import("../service/calendars/calendars.ts")).deleteCalendar,
  checkSource: async () => (await import("../service/sources/sources.ts")).checkSource,
  putSource: async () => (await import("../service/sources/sources.ts")).putSource,
  deleteSource: async () => (await import("../service/sources/sources.ts")).deleteSource,
  grantAccess: async () => (await import("../service/access/access.ts")).grantAccess,
  revokeAccess: async () => (await import("../service/access/access.ts")).revokeAccess,
  requireAccess: async () => (await import("../service/access/access.ts")).requireAccess,
};

const get: Work<"get"> = async (context, query) => {
  const [{ loadSnapshot }, { findAutoscaler }, { autoscalerView }] = await Promise.all([
    import("../service/autoscalers.ts"),
    import("../service/find-autoscaler.ts"),
    import("../service/views/autoscaler-view.ts"),
  ]);
  return autoscalerView(await loadSnapshot(context, await findAutoscaler(context, query)));
};

type Lists = { readonly [Verb in keyof Service as ReturnType<Service[Verb]> extends AsyncIterable<unknown> ? Verb : never]: true };
/** Verbs whose answer is read item by item. */
const LISTS: Lists = { autoscalers: true, rows: true, events: true, eventCounts: true, changes: true, clusters: true, overrides: true };

/** The service on a pair of tables, of which each verb loads its code with its first call. */
export const lazyService = (context: ServiceContext): Service =>
  Object.fromEntries(
    Object.entries(CODE).map(([verb, load]) => [verb, Object.hasOwn(LISTS, verb) ? listOf(load, context) : answerOf(load, context)]),
  ) as unknown as Service;

type Load = () => Promise<(context: ServiceContext, ...args: never[]) => unknown>;

const answerOf =
  (load: Load, context: ServiceContext) =>
  async (...args: never[]): Promise<unknown> =>
    (await load())(context, ...args);

const listOf = (load: Load, context: ServiceContext) =>
  async function* (...args: never[]): AsyncGenerator<unknown> {
    yield* (await load())(context, ...args) as AsyncIterable<unknown>;
  };
