import type { ApplyOptions, CommandService } from "../service/service.ts";
import type { Applied, EditResult } from "../views/autoscaler.ts";
import {
  APPLY,
  AUTOSCALER,
  AUTOSCALER_RIVAL,
  AUTOSCALER_UNTIL,
  CALENDAR,
  CLUSTER,
  CLUSTER_CHANGE,
  CLUSTER_CHECK,
  CLUSTER_UNTIL,
  FREEZE,
  GRANT,
  NEW_CALENDAR,
  NEW_CLUSTER,
  NEW_OVERRIDE,
  NEW_SOURCE,
  NOTHING,
  OVERRIDE,
  OVERRIDE_UNTIL,
  PARTITION,
  PARTITION_INTENT,
  PARTITION_PAGE,
  REQUIRE,
  REVOKE,
  SOURCE,
  SOURCE_CHECK,
  TAKEOVER,
} from "./input-schemas.ts";
import { invalid, postRoute, type Route, type RouteContext } from "./route.ts";
import { json, type Reply, taggedJson } from "./request-and-answer.ts";

/** A function takes requests of at most 6 MB, including what encloses the body. */
export const APPLY_BODY_BYTES_MAX = 5_000_000;
/** The change item of a cluster holds the record before and after the edit, and an item has at most 400 KB. */
const CLUSTER_BODY_BYTES_MAX = 128 * 1024;

/** Patterns, headers and parameters at their limits have 60 KB. */
const SOURCE_BODY_BYTES_MAX = 96 * 1024;

/** The object of another controller, and the name of the autoscaler. */
const RIVAL_BODY_BYTES_MAX = 256 * 1024;

/** Refuses a pause whose end has passed. */
const inFuture = (untilMs: number | undefined, { clock }: RouteContext): number | undefined => {
  if (untilMs === undefined || untilMs > clock()) return untilMs;
  throw invalid([{ field: "until", message: `has passed: it is ${new Date(clock()).toISOString()}` }]);
};

const editedJson = (edited: EditResult): Reply => taggedJson(edited, edited);

/** The tag belongs to one stored autoscaler, so an apply of several has none. Nor has a dry run, because what it answers is not stored. */
const onlyOne = ([first, ...more]: readonly Applied[]): Partial<Applied> => (first && more.length === 0 ? first : {});

/** One route per command. */
export const COMMAND_ROUTES: Readonly<Record<keyof CommandService, Route<CommandService>>> = {
  apply: postRoute(
    "creates or updates autoscalers: checks all documents of all sources, then stores each",
    APPLY,
    async (service, { sources, ...options }, { condition }) => {
      let passedOver: unknown;
      const onPassedOver: ApplyOptions["onPassedOver"] = (counts) => {
        passedOver = counts;
      };
      const applied = await service.apply(sources, { ...options, ...condition, onPassedOver });
      return taggedJson({ applied, ...(passedOver !== undefined && { passedOver }) }, options.dryRun ? {} : onlyOne(applied));
    },
    { bodyBytesMax: APPLY_BODY_BYTES_MAX, conditional: true },
  ),
  delete: postRoute(
    "forgets an autoscaler",
    AUTOSCALER,
    async (service, query, { condition }) => editedJson(await service.delete({ ...query, ...condition })),
    { conditional: true },
  ),
  pause: postRoute(
    "holds an autoscaler's workload where it is",
    AUTOSCALER_UNTIL,
    async (service, { until, ...query }, context) => editedJson(await service.pause({ ...query, ...context.condition }, inFuture(until, context))),
    { conditional: true },
  ),
  resume: postRoute(
    "ends a pause",
    AUTOSCALER,
    async (service, query, { condition }) => editedJson(await service.resume({ ...query, ...condition })),
    { conditional: true },
  ),
  takeOver: postRoute(
    "keeps the object of another controller in the history, before a person takes it away; with `failed` it says that the takeover before was refused and not made",
    TAKEOVER,
    async (service, query, { condition }) => editedJson(await service.takeOver({ ...query, ...condition })),
    { bodyBytesMax: RIVAL_BODY_BYTES_MAX, conditional: true },
  ),
  handBack: postRoute(
    "pauses an autoscaler and keeps the object of another controller, before a person makes it again",
    AUTOSCALER_RIVAL,
    async (service, query, { condition }) => editedJson(await service.handBack({ ...query, ...condition })),
    { bodyBytesMax: RIVAL_BODY_BYTES_MAX, conditional: true },
  ),
  checkCluster: postRoute(
    "looks at a cluster from where the syncs connect to it",
    CLUSTER_CHECK,
    async (service, check) => json(await service.checkCluster(check)),
    {
      connects: () => true,
    },
  ),
  addCluster: postRoute("connects a cluster", NEW_CLUSTER, async (service, cluster) => json(await service.addCluster(cluster)), {
    bodyBytesMax: CLUSTER_BODY_BYTES_MAX,
    connects: () => true,
  }),
  replaceCluster: postRoute(
    "changes a cluster's connection, period, settings or partitions",
    CLUSTER_CHANGE,
    async (service, cluster) => json(await service.replaceCluster(cluster)),
    {
      bodyBytesMax: CLUSTER_BODY_BYTES_MAX,
      connects: ({ connection, recommenderHosts }) => connection !== undefined || recommenderHosts !== undefined,
    },
  ),
  pauseCluster: postRoute("holds every workload of a cluster", CLUSTER_UNTIL, async (service, { name, until }, context) =>
    json(await service.pauseCluster(name, inFuture(until, context))),
  ),
  resumeCluster: postRoute("ends a cluster's pause", CLUSTER, async (service, { name }) => json(await service.resumeCluster(name))),
  removeCluster: postRoute("forgets a cluster that has no autoscalers", CLUSTER, async (service, { name }) => {
    await service.removeCluster(name);
    return json({ name });
  }),
  resetWindows: postRoute("replaces a windows page that cannot be read", PARTITION_PAGE, async (service, { name, page }) =>
    json(await service.resetWindows(name, page)),
  ),
  resetIntent: postRoute("settles an open intent that cannot be read", PARTITION_INTENT, async (service, { name, intent }) =>
    json(await service.resetIntent(name, intent)),
  ),
  resetTime: postRoute("repairs a partition with times that are ahead of the clock", PARTITION, async (service, { name }) =>
    json(await service.resetTime(name)),
  ),
  freeze: postRoute("holds every workload of every cluster", FREEZE, async (service, { reason, replace }) =>
    json(await service.freeze(reason, replace)),
  ),
  thaw: postRoute("ends the freeze", NOTHING, async (service) => json(await service.thaw())),
  // A caller with the right to connect clusters may adopt tables.
  adopt: postRoute(
    "takes restored or copied tables as the tables of this stack, and freezes the fleet",
    NOTHING,
    async (service) => json(await service.adopt()),
    { connects: () => true },
  ),
  setOverride: postRoute(
    "sets bounds or a hold for some time, over schedule and manifest, for an autoscaler, a namespace, a cluster or the fleet",
    NEW_OVERRIDE,
    async (service, { from, until, ...wanted }) =>
      json(await service.setOverride({ ...wanted, ...(from !== undefined && { fromMs: from }), ...(until !== undefined && { untilMs: until }) })),
  ),
  extendOverride: postRoute("gives an override another end", OVERRIDE_UNTIL, async (service, { until, ...edit }) =>
    json(await service.extendOverride({ ...edit, untilMs: until })),
  ),
  clearOverride: postRoute("ends an override now", OVERRIDE, async (service, edit) => json(await service.clearOverride(edit))),
  putCalendar: postRoute("stores a calendar of dates that schedules name, or replaces the one of its name", NEW_CALENDAR, async (service, calendar) =>
    json(await service.putCalendar(calendar)),
  ),
  deleteCalendar: postRoute(
    "deletes a calendar; one that a schedule names only with `force`, and its autoscaler then holds until there is a calendar of this name",
    CALENDAR,
    async (service, { name, force }) => {
      await service.deleteCalendar(name, force);
      return json({ name });
    },
  ),
  checkSource: postRoute(
    "asks a metric source from where the syncs ask it",
    SOURCE_CHECK,
    async (service, check) => json(await service.checkSource(check)),
    { connects: () => true },
  ),
  putSource: postRoute(
    "registers a metric source, or replaces the one of its name",
    NEW_SOURCE,
    async (service, source) => json(await service.putSource(source)),
    { bodyBytesMax: SOURCE_BODY_BYTES_MAX, connects: () => true },
  ),
  deleteSource: postRoute(
    "forgets a metric source; metrics that name it are then missing",
    SOURCE,
    async (service, { name }) => {
      await service.deleteSource(name);
      return json({ name });
    },
    { connects: () => true },
  ),
  grantAccess: postRoute(
    "gives callers a right, which limits them to their grants",
    GRANT,
    async (service, grant) => json(await service.grantAccess(grant)),
    { connects: () => true },
  ),
  revokeAccess: postRoute("takes a grant back", REVOKE, async (service, { id }) => json(await service.revokeAccess(id)), { connects: () => true }),
  requireAccess: postRoute(
    "refuses callers without a grant, or no longer",
    REQUIRE,
    async (service, { required }) => json(await service.requireAccess(required)),
    { connects: () => true },
  ),
};
