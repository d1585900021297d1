import type { Rights } from "../model/access.ts";
import { getAccess } from "../store/records/access.ts";
import { access, canI, grantAccess, requireAccess, revokeAccess } from "./access/access.ts";
import { apply } from "./apply/apply.ts";
import { autoscalers, get } from "./autoscalers.ts";
import { calendars, deleteCalendar, putCalendar } from "./calendars/calendars.ts";
import { changes } from "./changes.ts";
import { adopt, fleet, freeze, thaw } from "./clusters/fleet.ts";
import { addCluster, cluster, clusters, pauseCluster, replaceCluster, resumeCluster } from "./clusters/cluster-edits.ts";
import { checkCluster } from "./clusters/connection-check.ts";
import type { QueryContext, ServiceContext } from "./context.ts";
import { handBack, pause, remove, resume, takeOver } from "./edits/autoscaler-edits.ts";
import { removeCluster } from "./edits/removal.ts";
import { eventCounts, events } from "./events.ts";
import { describe } from "./explain/describe.ts";
import { explain } from "./explain/explain.ts";
import { history } from "./history/history.ts";
import { clearOverride, extendOverride, setOverride } from "./overrides/override-edits.ts";
import { overrides } from "./overrides/override-places.ts";
import { partition } from "./partitions/partition-query.ts";
import { resetIntent } from "./partitions/reset-intent.ts";
import { resetTime } from "./partitions/reset-time.ts";
import { resetWindows } from "./partitions/reset-windows.ts";
import { rows } from "./rows/rows.ts";
import { series } from "./series/series.ts";
import type { CommandService, QueryService, Service } from "./service.ts";
import { shadow } from "./shadow/shadow.ts";
import { checkSource, deleteSource, putSource, sources } from "./sources/sources.ts";
import { status } from "./status/status.ts";

/** Opens the service on a pair of tables. */
export const openService = (context: ServiceContext): Service => ({ ...openQueries(context), ...openCommands(context) });

/** Opens the queries. They write nothing. */
export const openQueries = (context: QueryContext): QueryService => ({
  autoscalers: (filter, after) => autoscalers(context, filter, after),
  rows: (query, after, firstMs) => rows(context, query, after, firstMs),
  get: (query) => get(context, query),
  describe: (query) => describe(context, query),
  explain: (query, atMs) => explain(context, query, atMs),
  shadow: (query) => shadow(context, query),
  history: (query) => history(context, query),
  events: (query) => events(context, query),
  eventCounts: (query, after) => eventCounts(context, query, after),
  changes: (query) => changes(context, query),
  series: (query) => series(context, query),

  clusters: (after) => clusters(context, after),
  cluster: (name) => cluster(context, name),
  partition: (path) => partition(context, path),
  fleet: () => fleet(context),
  overrides: (query, after) => overrides(context, query, after),
  calendars: () => calendars(context),
  status: () => status(context),

  sources: () => sources(context),
  access: () => access(context),
  canI: (query) => canI(context, query),
});

/** The queries of each caller by its rights, and the grants that the rights follow from. */
export const openByRights = (context: Omit<QueryContext, "rights">) => ({
  access: () => getAccess(context.tables),
  reading: (rights: Rights): QueryService => openQueries({ ...context, rights }),
});

/** Opens the commands. Each edit is recorded with `context.by`. */
export const openCommands = (context: ServiceContext): CommandService => ({
  apply: (manifests, options) => apply(context, manifests, options),
  delete: (query) => remove(context, query),
  pause: (query, untilMs) => pause(context, query, untilMs),
  resume: (query) => resume(context, query),
  takeOver: (query) => takeOver(context, query),
  handBack: (query) => handBack(context, query),

  checkCluster: (check) => checkCluster(context, check),
  addCluster: (wanted) => addCluster(context, wanted),
  replaceCluster: (wanted) => replaceCluster(context, wanted),
  pauseCluster: (name, untilMs) => pauseCluster(context, name, untilMs),
  resumeCluster: (name) => resumeCluster(context, name),
  removeCluster: (name) => removeCluster(context, name),
  resetWindows: (path, page) => resetWindows(context, path, page),
  resetIntent: (path, id) => resetIntent(context, path, id),
  resetTime: (path) => resetTime(context, path),

  freeze: (reason, replace) => freeze(context, reason, replace),
  thaw: () => thaw(context),
  adopt: () => adopt(context),

  setOverride: (wanted) => setOverride(context, wanted),
  extendOverride: (edit) => extendOverride(context, edit),
  clearOverride: (edit) => clearOverride(context, edit),

  putCalendar: (calendar) => putCalendar(context, calendar),
  deleteCalendar: (name, force) => deleteCalendar(context, name, force),

  checkSource: (check) => checkSource(context, check),
  putSource: (source) => putSource(context, source),
  deleteSource: (name) => deleteSource(context, name),

  grantAccess: (grant) => grantAccess(context, grant),
  revokeAccess: (id) => revokeAccess(context, id),
  requireAccess: (required) => requireAccess(context, required),
});
