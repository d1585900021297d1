import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { openFolder } from "../embedded/folder/data-folder.ts";
import { findFolder } from "../embedded/folder/folder-lock.ts";
import { dataOption, DEFAULT_DATA_FOLDER, folderLayout, TABLE_NAMES } from "../embedded/layout.ts";
import { answerByService, FOLDER_REFRESH_SECONDS } from "../dashboard/serve/answer-by-service.ts";
import type { Waker } from "../stack/plan/wake.ts";
import type { Tables } from "../stack/store/table/tables.ts";
import type { ServiceContext } from "../answers/service/context.ts";
import { insertByStatement } from "../stack/store/history/item.ts";
import type { DeadLetters, StatusView } from "../answers/views/status.ts";
import type { CommandTarget } from "./select/command-target.ts";
import type { Session } from "./io.ts";
import { usage } from "./usage-error.ts";
import type { Service } from "../answers/service/service.ts";

export const openTarget = async (target: CommandTarget, by: string): Promise<Session> => {
  // Loaded on demand: a folder needs no signatures, a stack needs no tables.
  if (target.kind === "stack") return (await import("./stack-session.ts")).openStack(target);
  if (target.kind === "named stack")
    return (await import("./stack-session.ts")).openNamedStack(target);
  return openDataFolder(target.from === "default" ? defaultFolder() : target.dir, by);
};

/** The data folder of a command without --data. Throws a usage error when there are several. */
const defaultFolder = (): string => {
  const search = findFolder();
  if (search.kind === "one") return search.dir;
  const names = search.dirs.map((dir) => `"${dir}"`).join(", ");
  throw usage(
    `Cannot choose a data folder: ${search.alive ? "runs are alive in" : "no run is alive, and there are"} ${names}${search.alive ? "" : `, of which "${search.last}" was used last`}; name one with --data`,
  );
};

/**
 * Opens the data folder of a running or ended embedded run. Throws `local.no-data`,
 * `local.folder-in-use`.
 */
export const openDataFolder = async (dataDir: string, by: string): Promise<Session> => {
  const folder = await openFolder(dataDir);
  const client = folder.client();
  const tables = {
    client,
    ...TABLE_NAMES,
    clock: () => performance.now(),
    wait: async (ms: number) => wait(ms),
    random: Math.random,
    token: randomUUID,
    // No deadline, because an export may take long. Each call has a bounded number of retries
    // (lib/stack/store/table/repeat.ts).
  };
  const deadLetters = async (): Promise<DeadLetters> => {
    const { deadLettersIn } = await import("../embedded/queue/sqs-server.ts");
    return { syncs: deadLettersIn(folderLayout(folder.dir).queue) };
  };
  const insert = insertByStatement(tables);
  const waking = wakesOf({ ...tables, clock: folder.clock }, folder.run?.queueEndpoint);
  const everyService = lazyService({
    ...(waking && { wake: waking.wake }),
    tables,
    insert,
    clock: folder.clock,
    by,
    newUid: randomUUID,
    ownAddresses: true,
    deadLetters,
    checkConnection: checkHere,
    checkSource: checkSourceHere(folder.run?.sourceQueuesUrl),
  });
  const isAlive = folder.run !== undefined;
  const place = `folder ${dataDir}, ${isAlive ? "whose run is alive" : "no run is alive"}`;
  const service = isAlive
    ? everyService
    : {
        ...everyService,
        status: async () => statusWithoutRun(await everyService.status(), dataDir),
      };
  return {
    service,
    dashboard: {
      answerApi: answerByService({ service, tables, insert, clock: folder.clock, by }),
      caller: async () => by,
      clock: folder.clock,
      place,
      target: dataOption(dataDir).trim(),
      refreshSeconds: FOLDER_REFRESH_SECONDS,
    },
    place,
    ...(isAlive ? {} : { ended: true }),
    nowMs: folder.clock(),
    clock: folder.clock,
    endsInOrder: true,
    close: async () => {
      client.destroy();
      waking?.close();
      await folder.close();
    },
  };
};

/** Sends wakes to the queue of a living run. Its client is loaded with the first. */
const wakesOf = (
  tables: Tables,
  queueEndpoint: string | undefined,
): { readonly wake: Waker; readonly close: () => void } | undefined => {
  if (queueEndpoint === undefined) return undefined;
  let close = (): void => {};
  const wake: Waker = async (...wanted) => {
    const [{ localQueue }, { wakerOf }] = await Promise.all([
      import("../embedded/queue/local-queue.ts"),
      import("../stack/plan/wake.ts"),
    ]);
    const opened = localQueue(queueEndpoint);
    close = opened.close;
    return wakerOf({ tables, queue: opened.queue })(...wanted);
  };
  return { wake, close: () => close() };
};

/**
 * Where no run is alive, nothing is synced, and the clock of the folder stands: what was healthy
 * when the run ended is not healthy now.
 */
const statusWithoutRun = (status: StatusView, dir: string): StatusView => ({
  ...status,
  healthy: false,
  problems: [
    {
      kind: "no run",
      message: `No run is alive on the data folder "${dir}": nothing is synced or scaled, and all else here is as of the end of the last run`,
      next: dir === DEFAULT_DATA_FOLDER ? "npm start" : `npm start -- --data ${dir}`,
    },
    ...status.problems,
  ],
});

/**
 * The syncs of a data folder run on this machine, with its files and addresses. Loaded on demand:
 * few commands look at a cluster.
 */
const checkHere: NonNullable<ServiceContext["checkConnection"]> = async (target) => {
  const [{ checkConnection }, { ON_THIS_MACHINE }] = await Promise.all([
    import("../stack/cluster/check/check-connection.ts"),
    import("../stack/cluster/access/kubeconfig-file.ts"),
  ]);
  // The real clock also where the folder's is virtual: tokens and certificates age in real time.
  return checkConnection(target, { clock: Date.now, trusted: ON_THIS_MACHINE });
};

/** The recorded queues answer while their run is alive. */
const checkSourceHere =
  (queuesUrl: string | undefined): NonNullable<ServiceContext["checkSource"]> =>
  async (target) => {
    const [{ askOnce }, { ON_THIS_MACHINE }, { accountAt }] = await Promise.all([
      import("../stack/source-client/check-source.ts"),
      import("../stack/cluster/access/kubeconfig-file.ts"),
      import("../embedded/run/queue-server.ts"),
    ]);
    return askOnce(target, {
      clock: Date.now,
      trusted: ON_THIS_MACHINE,
      ownAddresses: true,
      ...(queuesUrl !== undefined && { ownAccount: accountAt(queuesUrl) }),
    });
  };

type Work<Verb extends keyof Service> = (
  context: ServiceContext,
  ...args: Parameters<Service[Verb]>
) => ReturnType<Service[Verb]>;

/** The verbs of a module of the service, each of which loads it. */
const from = <Verb extends keyof Service>(
  load: () => Promise<{ readonly [Each in NoInfer<Verb>]: Work<Each> }>,
  ...verbs: readonly Verb[]
) =>
  Object.fromEntries(
    verbs.map((verb) => [verb, async () => (await load())[verb]]),
  ) as unknown as Pick<Code, Verb>;

type Code = { readonly [Verb in keyof Service]: () => Promise<Work<Verb>> };

/**
 * The code of each verb of the service, as `openService` has it (lib/answers/service/open.ts). A
 * process calls one or two of them, and the rest of the service is two thirds of what there is to
 * load.
 */
const CODE: Code = {
  ...from(() => import("../answers/service/autoscalers.ts"), "autoscalers", "get"),
  ...from(() => import("../answers/service/rows/rows.ts"), "rows"),
  ...from(() => import("../answers/service/explain/describe.ts"), "describe"),
  ...from(() => import("../answers/service/explain/explain.ts"), "explain"),
  ...from(() => import("../answers/service/schedule.ts"), "schedule", "schedules"),
  ...from(() => import("../answers/service/doctor/doctor.ts"), "doctor"),
  ...from(() => import("../answers/service/shadow/shadow.ts"), "shadow"),
  ...from(() => import("../answers/service/history/history.ts"), "history"),
  ...from(() => import("../answers/service/rows/sparklines.ts"), "sparklines"),
  ...from(() => import("../answers/service/events.ts"), "events", "eventCounts"),
  ...from(() => import("../answers/service/changes.ts"), "changes"),
  ...from(() => import("../answers/service/series/series.ts"), "series"),
  ...from(
    () => import("../answers/service/clusters/cluster-edits.ts"),
    "clusters",
    "cluster",
    "addCluster",
    "replaceCluster",
  ),
  ...from(
    () => import("../answers/service/clusters/cluster-edits.ts"),
    "pauseCluster",
    "resumeCluster",
  ),
  ...from(() => import("../answers/service/clusters/connection-check.ts"), "checkCluster"),
  ...from(() => import("../answers/service/clusters/fleet.ts"), "fleet", "freeze", "thaw", "adopt"),
  ...from(() => import("../answers/service/clusters/measured.ts"), "measuredSyncs"),
  ...from(() => import("../answers/service/clusters/move-fleet.ts"), "move"),
  ...from(() => import("../answers/service/partitions/partition-query.ts"), "partition"),
  ...from(() => import("../answers/service/partitions/reset-windows.ts"), "resetWindows"),
  ...from(() => import("../answers/service/partitions/reset-intent.ts"), "resetIntent"),
  ...from(() => import("../answers/service/partitions/reset-time.ts"), "resetTime"),
  ...from(() => import("../answers/service/overrides/override-places.ts"), "overrides"),
  ...from(
    () => import("../answers/service/overrides/override-edits.ts"),
    "setOverride",
    "extendOverride",
    "clearOverride",
  ),
  ...from(
    () => import("../answers/service/calendars/calendars.ts"),
    "calendars",
    "putCalendar",
    "deleteCalendar",
  ),
  ...from(
    () => import("../answers/service/wakes/wakes.ts"),
    "wakes",
    "putWake",
    "deleteWake",
    "wake",
  ),
  ...from(() => import("../answers/service/status/status.ts"), "status"),
  ...from(
    () => import("../answers/service/sources/sources.ts"),
    "sources",
    "checkSource",
    "putSource",
    "deleteSource",
  ),
  ...from(
    () => import("../answers/service/access/access.ts"),
    "access",
    "canI",
    "grantAccess",
    "revokeAccess",
    "requireAccess",
  ),
  ...from(() => import("../answers/service/apply/apply.ts"), "apply"),
  delete: async () => (await import("../answers/service/edits/autoscaler-edits.ts")).remove,
  ...from(
    () => import("../answers/service/edits/autoscaler-edits.ts"),
    "pause",
    "resume",
    "takeOver",
    "handBack",
  ),
  ...from(() => import("../answers/service/edits/removal.ts"), "removeCluster"),
};

type Lists = {
  readonly [Verb in keyof Service as ReturnType<Service[Verb]> extends AsyncIterable<unknown>
    ? Verb
    : never]: true;
};
/** Verbs whose answer is read item by item. */
const LISTS: Lists = {
  autoscalers: true,
  doctor: true,
  rows: true,
  events: true,
  eventCounts: true,
  changes: true,
  clusters: true,
  overrides: true,
};

/** The service on a pair of tables, of which each verb loads its code with its first call. */
const lazyService = (context: ServiceContext): Service =>
  Object.fromEntries(
    Object.entries<Load>(CODE).map(([verb, load]) => {
      const answer = async (...args: never[]): Promise<unknown> => (await load())(context, ...args);
      const list = async function* (...args: never[]): AsyncGenerator<unknown> {
        yield* (await load())(context, ...args) as AsyncIterable<unknown>;
      };
      return [verb, Object.hasOwn(LISTS, verb) ? list : answer];
    }),
  ) as unknown as Service;

type Load = () => Promise<(context: ServiceContext, ...args: never[]) => unknown>;
