import type { Rights } from "../../rules/model/access.ts";
import { present } from "../../rules/model/json.ts";
import { getAccess } from "../../stack/store/records/access.ts";
import { readFleet } from "../../stack/store/records/clusters.ts";
import { access, canI, grantAccess, requireAccess, revokeAccess } from "./access/access.ts";
import { apply } from "./apply/apply.ts";
import { autoscalers, get } from "./autoscalers.ts";
import { calendars, deleteCalendar, putCalendar } from "./calendars/calendars.ts";
import { changes } from "./changes.ts";
import { adopt, fleet, freeze, thaw } from "./clusters/fleet.ts";
import {
  addCluster,
  cluster,
  clusters,
  pauseCluster,
  replaceCluster,
  resumeCluster,
} from "./clusters/cluster-edits.ts";
import { measuredSyncs } from "./clusters/measured.ts";
import { checkCluster } from "./clusters/connection-check.ts";
import { move, mustHoldFleet } from "./clusters/move-fleet.ts";
import { comparedClock } from "../../stack/store/table/repeat.ts";
import type { Ahead, QueryContext, ServiceContext } from "./context.ts";
import { doctor } from "./doctor/doctor.ts";
import { handBack, pause, remove, resume, takeOver } from "./edits/autoscaler-edits.ts";
import { removeCluster } from "./edits/removal.ts";
import { eventCounts, events } from "./events.ts";
import { describe } from "./explain/describe.ts";
import { explain } from "./explain/explain.ts";
import { readAhead } from "./find-autoscaler.ts";
import { history } from "./history/history.ts";
import { clearOverride, extendOverride, setOverride } from "./overrides/override-edits.ts";
import { overrides } from "./overrides/override-places.ts";
import { partition } from "./partitions/partition-query.ts";
import { resetIntent } from "./partitions/reset-intent.ts";
import { resetTime } from "./partitions/reset-time.ts";
import { resetWindows } from "./partitions/reset-windows.ts";
import { rows } from "./rows/rows.ts";
import { sparklines } from "./rows/sparklines.ts";
import { series } from "./series/series.ts";
import type { AutoscalerQuery, CommandService, QueryService, Service } from "./service.ts";
import { schedule, schedules } from "./schedule.ts";
import { shadow } from "./shadow/shadow.ts";
import { checkSource, deleteSource, putSource, sources } from "./sources/sources.ts";
import { status } from "./status/status.ts";
import { deleteWake, putWake, wake, wakes } from "./wakes/wakes.ts";

/** Opens the service on a pair of tables. */
export const openService = (context: ServiceContext): Service => ({
  ...openQueries(context),
  ...openCommands(context),
});

/** Opens the queries. They write nothing. */
export const openQueries = (context: QueryContext): QueryService =>
  bound<QueryService, QueryContext>(context, {
    ...{
      autoscalers,
      rows,
      get,
      describe,
      explain,
      schedule,
      schedules,
      doctor,
      shadow,
      history,
      sparklines,
      events,
      eventCounts,
      changes,
      series,
    },
    ...{
      clusters,
      cluster,
      partition,
      fleet,
      measuredSyncs,
      overrides,
      calendars,
      status,
      sources,
      wakes,
    },
    ...{ access, canI },
  });

/** The queries of each caller by its rights, and the grants that the rights follow from. */
export const openByRights = (context: Omit<QueryContext, "rights">) => ({
  access: () => getAccess(context.tables),
  ahead: (begins: AutoscalerQuery | "fleet"): Ahead => {
    if (begins === "fleet") {
      const reading = readFleet(context.tables);
      // Where the caller is refused, nobody asks for it any more.
      reading.catch(() => undefined);
      return { fleet: reading };
    }
    try {
      return present({ one: readAhead(context.tables, begins) });
    } catch {
      // The query itself refuses such a name, after the caller is known.
      return {};
    }
  },
  reading: (rights: Rights, ahead?: Ahead): QueryService =>
    openQueries({ ...context, rights, ...(ahead && { ahead }) }),
});

/**
 * Opens the commands. Each edit is recorded with `context.by`. A function that only reads has none
 * of their code, nor the rights that it takes.
 */
export const openCommands = (context: ServiceContext): CommandService =>
  bound<CommandService, ServiceContext>(
    context,
    underComparedClock({
      ...{ apply, delete: remove, pause, resume, takeOver, handBack },
      ...{
        checkCluster,
        addCluster,
        replaceCluster,
        pauseCluster,
        resumeCluster,
        removeCluster,
        resetWindows,
        resetIntent,
        resetTime,
      },
      ...{
        freeze,
        thaw,
        adopt,
        move,
        setOverride,
        extendOverride,
        clearOverride,
        putCalendar,
        deleteCalendar,
        putWake,
        deleteWake,
        wake,
      },
      ...{
        checkSource: checkSource,
        putSource,
        deleteSource,
        grantAccess,
        revokeAccess,
        requireAccess,
      },
    }),
  );

/** The verbs of a service as functions of a context. */
type Verbs<Part, Context> = {
  readonly [Verb in keyof Part]: Part[Verb] extends (...args: infer Args) => infer Answer
    ? (context: Context, ...args: Args) => Answer
    : never;
};
type Work<Context> = (context: Context, ...args: never[]) => unknown;

/** They edit nothing, or decide where the fleet is. */
const HERE_OR_NOT: ReadonlySet<string> = new Set<keyof CommandService>([
  "move",
  "adopt",
  "checkCluster",
  "checkSource",
]);

/**
 * An edit reads the time only by a clock that was compared with the clock of the tables. By a clock
 * that is an hour ahead it would take overrides and pauses in force for ended, and take them away.
 * A query shows what it can under any clock.
 */
const underComparedClock = (
  verbs: Verbs<CommandService, ServiceContext>,
): Verbs<CommandService, ServiceContext> =>
  Object.fromEntries(
    Object.entries<Work<ServiceContext>>(verbs).map(([verb, work]) => [
      verb,
      async (context: ServiceContext, ...args: never[]) => {
        const clock = await comparedClock(context.tables, `do "${verb}"`, context.clock);
        if (!HERE_OR_NOT.has(verb)) await mustHoldFleet(context.tables, verb);
        return work({ ...context, clock }, ...args);
      },
    ]),
  ) as unknown as Verbs<CommandService, ServiceContext>;

const bound = <Part extends object, Context>(context: Context, verbs: Verbs<Part, Context>): Part =>
  Object.fromEntries(
    Object.entries<Work<Context>>(verbs).map(([verb, work]) => [
      verb,
      (...args: never[]) => work(context, ...args),
    ]),
  ) as Part;
