import { join } from "node:path";
import { ensureTables } from "../../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../../lib/embedded/tables/tables-client.ts";
import { startQueues } from "../../../lib/embedded/queue/sqs-server.ts";
import { tableDefinitions } from "../../../lib/stack/store/table/tables.ts";
import { mapWithLimit } from "../../../lib/stack/store/table/wait-for-all.ts";
import {
  clusterFolder,
  openFunctions,
  type ReachedCluster,
  startReachedCluster,
  WEB,
} from "../alarm-stack.ts";
import type { DeployedFleet } from "../day.ts";
import type { Consumed } from "../lambda/account.ts";
import { startDynoxide } from "../lambda/dynoxide.ts";
import type { Environment } from "../lambda/runtime-api.ts";
import { noMinutes, playMinute, type Stage } from "../minutes.ts";
import { SIMULATED } from "./git.ts";
import { commandLine, type Said, urlOf } from "./people.ts";

const MINUTE_MS = 60_000;
/** So that a cluster that lets its sync wait lets no other cluster wait. */
const SYNCS_AT_ONCE = 4;
const WAVE_MINUTES = 47;
const WAVE_HOURS = 24;

/** A load that goes up and down, and in each cluster at another time. */
const cartOf = (at: number): typeof WEB => ({
  ...WEB,
  name: "cart",
  trace: {
    points: Array.from({ length: WAVE_HOURS * 60 }, (_, minute) => ({
      atMs: minute * MINUTE_MS,
      value: Math.round(120 + 60 * Math.sin((2 * Math.PI * (minute + 7 * at)) / WAVE_MINUTES)),
    })),
    unit: "calls",
    stepMs: MINUTE_MS,
  },
});

/** What the functions asked for since the first minute, as the account counted it. */
export interface Counted {
  writeUnits: number;
  readUnits: number;
}

export interface Fleet {
  readonly cli: (...args: readonly string[]) => Promise<Said>;
  /** One minute of all clusters; the alarms that begin in it. */
  readonly playMinute: () => Promise<readonly string[]>;
  readonly simulated: ReadonlyMap<string, ReachedCluster>;
  readonly unserved: Set<string>;
  readonly clock: () => number;
  readonly aheadMs: () => number;
  /** Of the functions that plan and sync, people's questions left out. */
  readonly counted: Counted;
  readonly sends: () => number;
  readonly logBytes: () => number;
  /** Calls of `schedule` and `sync`. */
  readonly invocations: () => { readonly schedule: number; readonly sync: number };
  /** Messages to people's topics, in their order. */
  readonly published: () => readonly Readonly<Record<string, string>>[];
  readonly addSecret: (name: string, text: string) => void;
  readonly close: () => Promise<void>;
}

const OWN_ROLES: ReadonlySet<string> = new Set(["schedule", "sync"]);

/**
 * The functions of a deployment, empty tables that charge as DynamoDB does, a queue, and the
 * simulated clusters with their secrets. The clock of all of them is moved ahead.
 */
export const openFleet = async (
  { stack, tables, parameters }: DeployedFleet,
  folder: string,
): Promise<Fleet> => {
  let aheadMs = 0;
  const clock = (): number => Date.now() + aheadMs;
  const closing: (() => Promise<unknown>)[] = [];
  const dynoxide = await startDynoxide();
  closing.push(dynoxide.stop);
  const client = tablesClient(dynoxide.endpoint);
  closing.push(async () => client.destroy());
  await ensureTables(client, tableDefinitions(tables));
  const queues = await startQueues(join(folder, "queues.jsonl"), clock);
  closing.push(queues.close);
  const simulated = new Map<string, ReachedCluster>();
  const secrets: Record<string, string> = {};
  await mapWithLimit(SIMULATED, 4, async (name) => {
    const at = SIMULATED.indexOf(name);
    const cluster = await startReachedCluster(clusterFolder(folder, name), clock, {
      seed: at + 1,
      workloads: [WEB, cartOf(at)],
    });
    closing.push(cluster.close);
    simulated.set(name, cluster);
    secrets[`tidemark-prod/${name}`] = cluster.balancer.kubeconfig;
  });
  const counted: Counted = { writeUnits: 0, readUnits: 0 };
  const onConsumed = ({ role, isWrite, units }: Consumed): void => {
    if (OWN_ROLES.has(role)) counted[isWrite ? "writeUnits" : "readUnits"] += units;
  };
  const environments = new Map<string, Environment>();
  const running = (name: string): Environment => {
    const environment = environments.get(name);
    if (!environment) throw new TypeError(`the function ${name} has not begun`);
    return environment;
  };
  const connectUrl = await urlOf(() => running("connect"), clock);
  const apiUrl = await urlOf(() => running("api"), clock);
  const functions = await openFunctions({
    ...{ stack, tables, parameters, queues, secrets, onConsumed },
    dynamodb: dynoxide.endpoint,
    aheadMs: () => aheadMs,
    connectUrl: `${connectUrl.url}/`,
  });
  closing.push(functions.close, connectUrl.close, apiUrl.close);
  const syncs: Environment[] = [];
  for (let at = 0; at < SYNCS_AT_ONCE; at++) syncs.push(await functions.start("sync"));
  for (const name of ["schedule", "api", "connect"] as const)
    environments.set(name, await functions.start(name));
  const unserved = new Set<string>();
  const [stage, past]: [Stage, ReturnType<typeof noMinutes>] = [
    {
      ...{ queues, unserved, clock },
      move: (byMs) => (aheadMs += byMs),
      stack: () => stack,
      schedule: () => running("schedule"),
      syncs: () => syncs,
    },
    noMinutes(),
  ];
  const invoked = (logicalId: string): number =>
    past.received
      .flat()
      .filter(({ key }) => key.startsWith("AWS/Lambda Invocations") && key.includes(logicalId))
      .length;
  return {
    cli: commandLine(apiUrl.url, () => aheadMs, folder),
    playMinute: () => playMinute(stage, past),
    ...{ simulated, unserved, clock, counted },
    aheadMs: () => aheadMs,
    sends: () =>
      functions.calls.filter(
        ({ role, action }) => OWN_ROLES.has(role) && action === "sqs:SendMessage",
      ).length,
    logBytes: () =>
      [running("schedule"), ...syncs].reduce((sum, one) => sum + Buffer.byteLength(one.log()), 0),
    invocations: () => ({
      schedule: invoked("ScheduleLambdaFunction"),
      sync: invoked("SyncLambdaFunction"),
    }),
    published: () => functions.published,
    addSecret: (name, text) => {
      secrets[`tidemark-prod/${name}`] = text;
    },
    close: async () => {
      for (const close of closing.reverse()) await close();
    },
  };
};
