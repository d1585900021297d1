import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { scheduleHandler } from "../../../functions/schedule.ts";
import { syncHandler, type SyncHandler } from "../../../functions/sync.ts";
import {
  kubeconfigFileAccess,
  ON_THIS_MACHINE,
} from "../../stack/cluster/access/kubeconfig-file.ts";
import type { Trusted } from "../../stack/cluster/access/access.ts";
import { clusterClients } from "../../stack/cluster/connect.ts";
import type { ClusterClient } from "../../stack/cluster/cluster-client.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import type { Connection } from "../../rules/model/records.ts";
import { noticeLine } from "../../stack/report/log-lines.ts";
import type { Reporter } from "../../stack/report/reporter.ts";
import { insertByStatement } from "../../stack/store/history/item.ts";
import { serverClockOf } from "../../stack/store/table/server-clock.ts";
import type { Tables as StoreTables } from "../../stack/store/table/tables.ts";
import { sourcesWhenAsked } from "../../stack/sync/observe/ask-sources.ts";
import { PURE_PART } from "../../stack/sync/pure-part.ts";
import type { SyncPorts } from "../../stack/sync/sync-ports.ts";
import { messageOf, DEFAULT_TIMING } from "../../stack/plan/message.ts";
import { warmCache } from "../../stack/sync/load/warm-cache.ts";
import { TABLE_NAMES } from "../layout.ts";
import { localQueue } from "../queue/local-queue.ts";
import type { Queues } from "../queue/sqs-server.ts";
import { type Waker, wakerOf } from "../../stack/plan/wake.ts";
import { openStored } from "../../stack/sync/connected.ts";
import { accountAt } from "./queue-server.ts";
import type { SyncDependencies } from "../../lambda/syncing.ts";

export interface SyncOptions {
  readonly clock: () => number;
  /** The time of each cluster, where their syncs overlap. Absent: `clock` is the time of all. */
  readonly clockOf?: (cluster: string) => number;
  /** Only the client of the sync, so that its writes can be counted. */
  readonly syncClient: DynamoDBClient;
  /**
   * True on a real cluster: its API server then says whether the clock of this machine is right.
   */
  readonly comparesClock: boolean;
  /**
   * The clusters of the start. No other kubeconfig is used, whatever the tables say: a kubeconfig
   * names programs that are run.
   */
  readonly connections: readonly Connection[];
  readonly reporter: Reporter;
  /** Where the recorded queues are. */
  readonly queuesUrl?: string;
  /**
   * When a simulated cluster last got a workload, which may be of a new kind. In real time, as
   * `Date.now` has it.
   */
  readonly newestKindMs?: () => number;
}

export interface StackOptions extends SyncOptions {
  readonly scheduleClient: DynamoDBClient;
  readonly queues: Queues;
}

/** The function `sync` as it runs on AWS, with clients of the local tables. */
export interface Syncs {
  readonly sync: SyncHandler;
  /** The clients that the sync uses, kept warm. */
  readonly connect: SyncPorts["connect"];
  readonly close: () => Promise<void>;
}

/** The two functions as they run on AWS, with clients of the local tables and queue. */
export interface Stack extends Syncs {
  readonly schedule: ReturnType<typeof scheduleHandler>;
  readonly wake: Waker;
}

export const startStack = (options: StackOptions): Stack => {
  const { clock, scheduleClient, queues, reporter } = options;
  const { close, compared, ...syncs } = startSyncs(options);
  const { queue, close: closeQueue } = localQueue(queues.endpoint);
  const tables = { ...localTables(scheduleClient, clock), ...compared };
  return {
    ...syncs,
    schedule: scheduleHandler({ tables, queue, reporter }),
    wake: wakerOf({ tables, queue }),
    close: async () => {
      await close();
      closeQueue();
    },
  };
};

/** `compared`: what the store needs to compare the clock of this machine. */
export const startSyncs = (
  options: SyncOptions,
): Syncs & { readonly compared: Partial<StoreTables> } => {
  const {
    clock,
    clockOf,
    comparesClock,
    syncClient,
    connections,
    reporter,
    queuesUrl,
    newestKindMs,
  } = options;
  // Tokens and connections age in real time, as a run on a real cluster has it.
  const wallClock = comparesClock ? clock : Date.now;
  const serverClock = serverClockOf(wallClock, () => performance.now());
  let newest: ClusterClient | undefined;
  const compared: Partial<StoreTables> = comparesClock
    ? { serverClock: serverClock.difference, askServerClock: async () => newest?.look?.(LOOK_MS) }
    : {};
  const tables = { ...localTables(syncClient, clock), ...compared };
  const notice = (message: string): void => reporter.line(noticeLine(message));
  const seen = { onDated: serverClock.onAnswer, ...(newestKindMs && { newestKindMs }) };
  const clients = clusterClients(
    { clock: wallClock, trusted: trustedOf(connections), notice, ...seen },
    openStored(tables),
  );
  const connect: SyncPorts["connect"] = async (cluster) =>
    (newest = await clients.clientFor(cluster));
  const ports = {
    tables,
    insert: insertByStatement(tables),
    connect,
    rules: PURE_PART,
    timing: DEFAULT_TIMING,
    cache: warmCache(),
    ...(!comparesClock && { realClock: () => performance.now() }),
    sources: sourcesWhenAsked({
      clock: Date.now,
      ownAddresses: true,
      ...(queuesUrl !== undefined && { ownAccount: accountAt(queuesUrl) }),
    }),
  };
  return {
    sync: clockOf ? ofEachCluster({ ports, reporter }, clockOf) : syncHandler({ ports, reporter }),
    connect,
    compared,
    close: clients.closeAll,
  };
};

/** The cluster of a message. One that cannot be read has none, and its sync says why. */
export const clusterIn = (body: string): string => {
  try {
    return messageOf(body).cluster;
  } catch {
    return "";
  }
};

/**
 * The function `sync` by the time of the cluster that a message is for. Its environment is one for
 * all of them.
 */
const ofEachCluster = (
  { ports, reporter }: SyncDependencies,
  clockOf: (cluster: string) => number,
): SyncHandler => {
  const handlers = new Map<string, SyncHandler>();
  const made = (cluster: string): SyncHandler => {
    const tables = { ...ports.tables, clock: () => clockOf(cluster) };
    const handler = syncHandler({
      ports: { ...ports, tables, insert: insertByStatement(tables) },
      reporter,
    });
    handlers.set(cluster, handler);
    return handler;
  };
  return (event, context) => {
    const cluster = clusterIn(event.Records[0]?.body ?? "");
    return (handlers.get(cluster) ?? made(cluster))(event, context);
  };
};

const trustedOf = (connections: readonly Connection[]): Trusted => ({
  ...ON_THIS_MACHINE,
  kubeconfigFile: async (file) => {
    const isOfStart = (connection: Connection): boolean =>
      connection.kind === "kubeconfig" &&
      connection.path === file.path &&
      connection.context === file.context;
    if (connections.some(isOfStart)) return kubeconfigFileAccess(file);
    throw new TidemarkError(
      "cluster.access.kubeconfig",
      `Cannot use kubeconfig "${foreignText(file.path)}" for cluster "${file.cluster}": this run was started with another one; start a run of its own for that cluster, with --kubeconfig and a folder of its own (--data)`,
      { from: file.path, cluster: file.cluster },
    );
  },
});

/** The store's view of the embedded tables. */
export const localTables = (client: DynamoDBClient, clock: () => number): StoreTables => ({
  client,
  ...TABLE_NAMES,
  clock,
  wait,
  random: Math.random,
  token: randomUUID,
});

/** How long the API server may take to show its clock. */
const LOOK_MS = 2_000;
