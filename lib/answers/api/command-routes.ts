import type { SentWake } from "../service/requests.ts";
import { wakesOfAlerts } from "../../stack/plan/wake-alerts.ts";
import type { ApplyOptions, AutoscalerEdit, CommandService } from "../service/service.ts";
import type { Applied, EditResult } from "../views/autoscaler.ts";
import { present } from "../../rules/model/json.ts";
import * as input from "./input-schemas.ts";
import {
  type EditContext,
  invalidRequest,
  postJson,
  postRoute,
  type Route,
  type RouteContext,
} from "./route.ts";
import { taggedJson } from "./request-and-answer.ts";
import type * as z from "zod";

/** A function takes requests of at most 6 MB, including what encloses the body. */
export const APPLY_BODY_BYTES_MAX = 5_000_000;
/**
 * The change item of a cluster holds the record before and after the edit, and an item has at most
 * 400 KB.
 */
const CLUSTER_BODY_BYTES_MAX = 128 * 1024;

/** Patterns, headers and parameters at their limits have 60 KB. */
const SOURCE_BODY_BYTES_MAX = 96 * 1024;

/** The object of another controller, and the name of the autoscaler. */
const RIVAL_BODY_BYTES_MAX = 256 * 1024;

/** A hundred alerts with their annotations. */
const WAKE_BODY_BYTES_MAX = 512 * 1024;

/** The wakes of a body, which was checked. */
const wakesIn = ({
  alerts,
  cluster,
  namespace,
  names,
  reason = "a request",
}: z.infer<typeof input.WAKE>): readonly SentWake[] => {
  if (alerts !== undefined) return wakesOfAlerts(alerts);
  return cluster === undefined ? [] : [{ cluster, ...present({ namespace, names }), reason }];
};

/** Refuses a pause whose end has passed. */
const inFuture = (untilMs: number | undefined, { clock }: RouteContext): number | undefined => {
  if (untilMs === undefined || untilMs > clock()) return untilMs;
  throw invalidRequest([
    { field: "until", message: `has passed: it is ${new Date(clock()).toISOString()}` },
  ]);
};

/**
 * An edit of one autoscaler, under the condition of the request. Its answer has the tag of what is
 * stored then.
 */
const editRoute = <Input extends AutoscalerEdit>(
  summary: string,
  schema: z.ZodType<Input>,
  edit: (service: CommandService, query: Input, context: RouteContext) => Promise<EditResult>,
  options: { readonly bodyBytesMax?: number } = {},
): Route<CommandService> => {
  const call = async (service: CommandService, query: Input, context: EditContext) => {
    const edited = await edit(service, { ...query, ...context.condition }, context);
    return taggedJson(edited, edited);
  };
  return postRoute("visible", summary, schema, call, { ...options, conditional: true });
};

/**
 * The tag belongs to one stored autoscaler, so an apply of several has none. Nor has a dry run,
 * because what it answers is not stored.
 */
const onlyOne = ([first, ...more]: readonly Applied[]): Partial<Applied> =>
  first && more.length === 0 ? first : {};

const CONNECTS = { connects: () => true };

/** One route per command. */
export const COMMAND_ROUTES: Readonly<Record<keyof CommandService, Route<CommandService>>> = {
  apply: postRoute(
    "visible",
    "creates or updates autoscalers: checks all documents of all sources, then stores each",
    input.APPLY,
    async (service, { sources, ...options }, { condition }) => {
      let passedOver: unknown;
      const onPassedOver: ApplyOptions["onPassedOver"] = (counts) => {
        passedOver = counts;
      };
      const applied = await service.apply(sources, { ...options, ...condition, onPassedOver });
      return taggedJson(
        { applied, ...(passedOver !== undefined && { passedOver }) },
        options.dryRun ? {} : onlyOne(applied),
      );
    },
    { bodyBytesMax: APPLY_BODY_BYTES_MAX, conditional: true },
  ),
  delete: editRoute("forgets an autoscaler", input.AUTOSCALER, (service, query) =>
    service.delete(query),
  ),
  pause: editRoute(
    "holds an autoscaler's workload where it is",
    input.AUTOSCALER_UNTIL,
    (service, { until, ...query }, context) => service.pause(query, inFuture(until, context)),
  ),
  resume: editRoute("ends a pause", input.AUTOSCALER, (service, query) => service.resume(query)),
  takeOver: editRoute(
    "keeps the object of another controller in the history, before a person takes it away; " +
      "with `failed` it says that the takeover before was refused and not made",
    input.TAKEOVER,
    (service, query) => service.takeOver(query),
    { bodyBytesMax: RIVAL_BODY_BYTES_MAX },
  ),
  handBack: editRoute(
    "pauses an autoscaler and keeps the object of another controller, " +
      "before a person makes it again",
    input.AUTOSCALER_RIVAL,
    (service, query) => service.handBack(query),
    { bodyBytesMax: RIVAL_BODY_BYTES_MAX },
  ),
  checkCluster: postJson(
    "cluster",
    "looks at a cluster from where the syncs connect to it",
    input.CLUSTER_CHECK,
    (service, check) => service.checkCluster(check),
    CONNECTS,
  ),
  addCluster: postJson(
    "cluster",
    "connects a cluster",
    input.NEW_CLUSTER,
    (service, cluster) => service.addCluster(cluster),
    {
      ...CONNECTS,
      bodyBytesMax: CLUSTER_BODY_BYTES_MAX,
    },
  ),
  replaceCluster: postJson(
    "cluster",
    "changes a cluster's connection, period, settings or partitions",
    input.CLUSTER_CHANGE,
    (service, cluster) => service.replaceCluster(cluster),
    {
      bodyBytesMax: CLUSTER_BODY_BYTES_MAX,
      connects: ({ connection, recommenderHosts }) =>
        connection !== undefined || recommenderHosts !== undefined,
    },
  ),
  pauseCluster: postJson(
    "cluster",
    "holds every workload of a cluster",
    input.CLUSTER_UNTIL,
    (service, { name, until }, context) => service.pauseCluster(name, inFuture(until, context)),
  ),
  resumeCluster: postJson("cluster", "ends a cluster's pause", input.CLUSTER, (service, { name }) =>
    service.resumeCluster(name),
  ),
  removeCluster: postJson(
    "cluster",
    "forgets a cluster that has no autoscalers",
    input.CLUSTER,
    async (service, { name }) => {
      await service.removeCluster(name);
      return { name };
    },
  ),
  resetWindows: postJson(
    "cluster",
    "replaces a windows page that cannot be read",
    input.PARTITION_PAGE,
    (service, { name, page }) => service.resetWindows(name, page),
  ),
  resetIntent: postJson(
    "cluster",
    "settles an open intent that cannot be read",
    input.PARTITION_INTENT,
    (service, { name, intent }) => service.resetIntent(name, intent),
  ),
  resetTime: postJson(
    "cluster",
    "repairs a partition with times that are ahead of the clock",
    input.PARTITION,
    (service, { name }) => service.resetTime(name),
  ),
  freeze: postJson(
    "fleet",
    "holds every workload of every cluster",
    input.FREEZE,
    (service, { reason, replace }) => service.freeze(reason, replace),
  ),
  thaw: postJson("fleet", "ends the freeze", input.NO_FIELDS, (service) => service.thaw()),
  // A caller with the right to connect clusters may adopt tables.
  adopt: postJson(
    "fleet",
    "takes restored or copied tables as the tables of this stack, and freezes the fleet",
    input.NO_FIELDS,
    (service) => service.adopt(),
    CONNECTS,
  ),
  move: postJson(
    "fleet",
    "gives the fleet up for another region, or takes it there once no other stack can act",
    input.FLEET_MOVE,
    (service, { to }) => service.move(to),
    CONNECTS,
  ),
  setOverride: postJson(
    "visible",
    "sets bounds or a hold for some time, over schedule and manifest, " +
      "for an autoscaler, a namespace, a cluster or the fleet",
    input.NEW_OVERRIDE,
    (service, { from, until, ...wanted }) =>
      service.setOverride({ ...wanted, ...present({ fromMs: from, untilMs: until }) }),
  ),
  extendOverride: postJson(
    "visible",
    "gives an override another end",
    input.OVERRIDE_UNTIL,
    (service, { until, ...edit }) => service.extendOverride({ ...edit, untilMs: until }),
  ),
  clearOverride: postJson("visible", "ends an override now", input.OVERRIDE, (service, edit) =>
    service.clearOverride(edit),
  ),
  putCalendar: postJson(
    "fleet",
    "stores a calendar of dates that schedules name, or replaces the one of its name",
    input.NEW_CALENDAR,
    (service, calendar) => service.putCalendar(calendar),
  ),
  deleteCalendar: postJson(
    "fleet",
    "deletes a calendar; one that a schedule names only with `force`, " +
      "and its autoscaler then holds until there is a calendar of this name",
    input.CALENDAR,
    async (service, { name, force }) => {
      await service.deleteCalendar(name, force);
      return { name };
    },
  ),
  checkSource: postJson(
    "connect",
    "asks a metric source from where the syncs ask it",
    input.SOURCE_CHECK,
    (service, check) => service.checkSource(check),
  ),
  putSource: postJson(
    "connect",
    "registers a metric source, or replaces the one of its name",
    input.NEW_SOURCE,
    (service, source) => service.putSource(source),
    { bodyBytesMax: SOURCE_BODY_BYTES_MAX },
  ),
  deleteSource: postJson(
    "connect",
    "forgets a metric source; metrics that name it are then missing",
    input.SOURCE,
    async (service, { name }) => {
      await service.deleteSource(name);
      return { name };
    },
  ),
  putWake: postJson(
    "visible",
    "registers the wake of an alarm, or replaces the one of its name",
    input.NEW_WAKE,
    (service, wake) => service.putWake(wake),
  ),
  deleteWake: postJson(
    "visible",
    "forgets a wake: its alarm wakes nothing from then on",
    input.WAKE_NAME,
    async (service, { name }) => {
      await service.deleteWake(name);
      return { name };
    },
  ),
  wake: postJson(
    "visible",
    "has a cluster or a namespace synced now, at most once in five seconds; " +
      "takes the payloads of webhooks of Alertmanager and Grafana too, " +
      "whose alerts name it by the labels `cluster`, `namespace` and `autoscaler`",
    input.WAKE,
    (service, body) => service.wake(wakesIn(body)),
    { bodyBytesMax: WAKE_BODY_BYTES_MAX },
  ),
  grantAccess: postJson(
    "connect",
    "gives callers a right, which limits them to their grants",
    input.GRANT,
    (service, grant) => service.grantAccess(grant),
  ),
  revokeAccess: postJson("connect", "takes a grant back", input.REVOKE, (service, { id }) =>
    service.revokeAccess(id),
  ),
  requireAccess: postJson(
    "connect",
    "refuses callers without a grant, or no longer",
    input.REQUIRE,
    (service, { required }) => service.requireAccess(required),
  ),
};
