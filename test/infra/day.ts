import { deepEqual, ok } from "node:assert/strict";
import { join } from "node:path";
import {
  type AttributeValue,
  type DynamoDBClient,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { type Queues, startQueues } from "../../lib/embedded/queue/sqs-server.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { OWNER_LABEL } from "../../lib/stack/sync/keep/troubles.ts";
import {
  clusterFolder,
  type Functions,
  hpaOf,
  openFunctions,
  type ReachedCluster,
  SCALE_OF_WEB,
  type StackOf,
  serviceOn,
  startReachedCluster,
  type TableNames,
} from "./alarm-stack.ts";
import type { Sample } from "./lambda/emitted.ts";
import type { Environment } from "./lambda/runtime-api.ts";
import { noMinutes, playMinute, type Stage } from "./minutes.ts";
import type { ParameterValues } from "./settle-conditions.ts";

const MINUTE_MS = 60_000;
export const CLUSTERS = ["dev", "eu-1", "eu-2", "slow"] as const;
type Name = (typeof CLUSTERS)[number];
const PERIOD_MS: Readonly<Record<Name, number>> = {
  dev: MINUTE_MS,
  "eu-1": MINUTE_MS,
  "eu-2": MINUTE_MS,
  slow: 5 * MINUTE_MS,
};

const PAYMENTS = "arn:aws:sns:eu-central-1:123456789012:payments";
/** A topic that a person has deleted. */
const GONE = "arn:aws:sns:eu-central-1:123456789012:gone";
const OPS = "arn:aws:sns:eu-central-1:123456789012:ops";
/** Owners with their topics, and the topic of the alarms, as a deployment gives them. */
export const OWNERS = {
  AlarmOwners: "payments,search",
  OwnerTopics: `${PAYMENTS},${GONE}`,
  AlarmTopicArn: OPS,
};

/** What is deployed when minutes are played. */
export interface DeployedFleet {
  readonly stack: StackOf;
  readonly tables: TableNames;
  readonly parameters: ParameterValues;
}

export interface DayOptions extends DeployedFleet {
  /** A folder for the queue and the clusters. */
  readonly folder: string;
  readonly dynamodb: string;
  readonly client: DynamoDBClient;
}

const started = (environment: Environment | undefined): Environment => {
  if (!environment) throw new TypeError("the functions begin with a deployment");
  return environment;
};

/** A fleet of four clusters whose minutes are played. */
export interface Day {
  /** People's side. */
  readonly service: () => Service;
  /** Plays so many minutes, and returns what fired in them, as "ALARM: what is new". */
  readonly play: (minutes: number) => Promise<readonly string[]>;
  /** The functions and tables of another deployment go on. */
  readonly deploy: (fleet: DeployedFleet) => Promise<void>;
  readonly heal: (name: Name) => void;
  readonly down: (name: Name) => void;
  readonly withoutMetrics: (name: Name) => void;
  readonly withoutRight: (name: Name) => void;
  readonly mostReplicas: (name: Name, maxReplicas: number, owner?: string) => Promise<unknown>;
  /** Makes the record of a cluster one that no version has written, or as it was. */
  readonly damage: (name: Name) => Promise<unknown>;
  readonly mend: (name: Name) => Promise<unknown>;
  /** Clusters whose messages are lost. */
  readonly unserved: Set<Name>;
  /** What fired so far. */
  readonly fired: readonly string[];
  /** The samples of each minute. */
  readonly received: readonly (readonly Sample[])[];
  readonly published: () => Functions["published"];
  readonly planningLog: () => string;
  readonly close: () => Promise<void>;
}

/**
 * Minutes of a fleet: the packaged functions plan and sync it through a real queue, on clocks that
 * are moved ahead, and every alarm of the template is evaluated at the end of each minute.
 */
export const openDay = async ({ folder, dynamodb, client, ...first }: DayOptions): Promise<Day> => {
  let [aheadMs, fleet]: [number, DeployedFleet] = [0, first];
  const clock = (): number => Date.now() + aheadMs;
  const queues: Queues = await startQueues(join(folder, "queues.jsonl"), clock);
  const reached = new Map<Name, ReachedCluster>();
  const secrets: Record<string, string> = {};
  for (const name of CLUSTERS) {
    const cluster = await startReachedCluster(clusterFolder(folder, name), clock);
    reached.set(name, cluster);
    secrets[`tidemark-prod/${name}`] = cluster.balancer.kubeconfig;
  }
  let functions: Functions;
  let playedMs = Date.now();
  let [schedule, sync]: Environment[] = [];
  const service = (): Service => serviceOn(client, clock, fleet.tables);
  const deploy = async (next: DeployedFleet): Promise<void> => {
    await functions?.close();
    fleet = next;
    // The time that a deployment takes here is no time of the fleet, whose functions go on
    // meanwhile.
    aheadMs -= Date.now() - playedMs;
    playedMs = Date.now();
    functions = await openFunctions({
      ...next,
      dynamodb,
      queues,
      secrets,
      deafTopic: GONE,
      aheadMs: () => aheadMs,
    });
    [schedule, sync] = [await functions.start("schedule"), await functions.start("sync")];
  };
  await deploy(first);
  for (const name of CLUSTERS) {
    await service().addCluster({
      name,
      connection: { kind: "secret", secretId: `tidemark-prod/${name}` },
      syncPeriodMs: PERIOD_MS[name],
    });
    await service().apply([{ file: "web.json", text: hpaOf(10) }], {
      dryRun: false,
      cluster: name,
    });
  }

  const unserved = new Set<Name>();
  const faultsOf = (name: Name): ReachedCluster["cluster"]["faults"] => {
    const found = reached.get(name);
    if (!found) throw new RangeError(`Cannot play cluster "${name}": it was not started`);
    return found.cluster.faults;
  };
  const setPeriod = (name: Name, value: AttributeValue): Promise<unknown> =>
    client.send(
      new UpdateItemCommand({
        TableName: fleet.tables.stateTable,
        Key: { pk: { S: "fleet" }, sk: { S: `cluster#${name}` } },
        UpdateExpression: "SET syncPeriodMs = :value",
        ExpressionAttributeValues: { ":value": value },
      }),
    );

  const past = noMinutes();
  const { received } = past;
  const fired: string[] = [];
  const stage: Stage = {
    queues,
    unserved,
    move: (byMs) => (aheadMs += byMs),
    clock,
    stack: () => fleet.stack,
    schedule: () => started(schedule),
    syncs: () => [started(sync)],
  };

  return {
    service,
    deploy,
    play: async (minutes) => {
      const from = fired.length;
      for (let minute = 0; minute < minutes; minute++)
        fired.push(...(await playMinute(stage, past)));
      playedMs = Date.now();
      return fired.slice(from);
    },
    heal: (name) => faultsOf(name).clear(),
    down: (name) =>
      void faultsOf(name).add({
        kind: "status",
        code: 500,
        reason: "InternalError",
        message: "etcd is gone",
        path: "/",
      }),
    withoutMetrics: (name) =>
      void faultsOf(name).add({
        kind: "status",
        code: 503,
        reason: "ServiceUnavailable",
        message: "no endpoints",
        path: "/apis/metrics.k8s.io",
      }),
    withoutRight: (name) =>
      void faultsOf(name).add({
        kind: "status",
        code: 403,
        reason: "Forbidden",
        message: "no right",
        path: SCALE_OF_WEB,
        method: "PUT",
      }),
    mostReplicas: (name, maxReplicas, owner = "payments") =>
      service().apply([{ file: "web.json", text: hpaOf(maxReplicas, { [OWNER_LABEL]: owner }) }], {
        dryRun: false,
        cluster: name,
      }),
    damage: (name) => setPeriod(name, { S: "often" }),
    mend: (name) => setPeriod(name, { N: String(PERIOD_MS[name]) }),
    unserved,
    fired,
    received,
    published: () => functions.published,
    planningLog: () => schedule?.log() ?? "",
    close: async () => {
      await functions.close();
      for (const { close } of reached.values()) await close();
      await queues.close();
    },
  };
};

/** Messages to a topic so far. */
const sentTo = (day: Day, topic: string): ReturnType<Day["published"]> =>
  day.published().filter(({ TopicArn }) => TopicArn === topic);
/** To the topic of the alarms, which a deployment may have made itself. */
const sentToPeople = (day: Day): ReturnType<Day["published"]> =>
  day.published().filter(({ TopicArn }) => TopicArn !== PAYMENTS && TopicArn !== GONE);

/** Minutes in which exactly these alarms fire. */
const fire = async (
  { play }: Day,
  minutes: number,
  alarms: readonly string[] = [],
): Promise<void> => deepEqual(await play(minutes), alarms);

/**
 * A part of the day, which goes on from the one before. Throws where another alarm fires, or none.
 */
export type Scene = (day: Day) => Promise<void>;

/**
 * Each failure is alarmed once, with the name of its cluster in the line of that minute; what goes
 * on, is paused or is slow is silent.
 */
export const SCENES: Readonly<Record<string, Scene>> = {
  "is silent while all is well, with a cluster whose period is five minutes": async (day) => {
    // Alarms look back; before the first minute nothing was planned.
    await day.play(3);
    await fire(day, 17);
    ok(JSON.stringify(day.received.at(-1)).includes("CompletedSyncs"));
  },

  "has one alarm for a cluster that goes down, and none while it stays down": async (day) => {
    day.down("dev");
    await fire(day, 12, ["ClusterProblems: 1 cluster cannot be read for 5 minutes: dev"]);
  },

  "has another alarm when a second cluster goes down, which names the second one only": async (
    day,
  ) => {
    day.down("eu-2");
    await fire(day, 8, ["ClusterProblems: 1 cluster cannot be read for 5 minutes: eu-2"]);
    day.heal("eu-2");
    await fire(day, 3);
  },

  "has an alarm for a cluster whose metrics-server is gone": async (day) => {
    day.withoutMetrics("eu-1");
    await fire(day, 8, [
      "ClusterProblems: 1 cluster answers and nothing can be evaluated for 5 minutes: eu-1",
    ]);
    day.heal("eu-1");
    await fire(day, 3);
  },

  "has one alarm for a cluster whose API server fails in every second sync, whose message names it":
    async (day) => {
      // It was down a moment ago, which was reported.
      await fire(day, 20);
      const told = sentToPeople(day).length;
      const alarms: string[] = [];
      for (let minute = 0; minute < 16; minute++) {
        if (minute % 2 === 0) day.down("eu-1");
        else day.heal("eu-1");
        alarms.push(...(await day.play(1)));
      }
      deepEqual(alarms, [
        "ClusterProblems: 1 cluster fails again and again, so that too few of its due syncs decide: eu-1",
      ]);
      const [message, ...more] = sentToPeople(day).slice(told);
      deepEqual(more, []);
      ok(message?.["Subject"] === "tidemark-prod: eu-1", message?.["Subject"]);
      ok(message?.["Message"]?.includes(": eu-1 since 20"), message?.["Message"]);
      ok(message?.["Message"]?.includes("\ntidemark cluster check eu-1 --stack tidemark-prod\n"));
      day.heal("eu-1");
      await fire(day, 20);
    },

  "has one alarm for a cluster that never works, whose fault changes its kind every three minutes":
    async (day) => {
      const alarms: string[] = [];
      for (let turn = 0; turn < 4; turn++) {
        day.heal("eu-2");
        if (turn % 2 === 0) day.down("eu-2");
        else day.withoutMetrics("eu-2");
        alarms.push(...(await day.play(3)));
      }
      deepEqual(alarms, [
        "ClusterProblems: 1 cluster fails again and again, so that too few of its due syncs decide: eu-2",
      ]);
      day.heal("eu-2");
      await fire(day, 20);
    },

  "is silent where another cluster fails for one sync after the other, each for less than five minutes":
    async (day) => {
      // Both have failed in the scenes before: an hour later that counts no more.
      await fire(day, 60);
      for (const name of ["eu-1", "eu-2"] as const) {
        day.down(name);
        await fire(day, 3);
        day.heal(name);
        await fire(day, 2);
      }
    },

  "is silent while a cluster that is down is paused": async (day) => {
    await day.service().pauseCluster("eu-1");
    day.down("eu-1");
    await fire(day, 10);
    day.heal("eu-1");
    await day.play(4);
    await day.service().resumeCluster("eu-1");
    await fire(day, 3);
  },

  "has an alarm where every scale of an autoscaler is refused for 15 minutes, and its owner a message":
    async (day) => {
      await day.mostReplicas("eu-2", 2);
      await day.play(2);
      day.withoutRight("eu-2");
      await day.mostReplicas("eu-2", 10);
      await fire(day, 14);
      await fire(day, 5, [
        "AutoscalerProblems: 1 autoscaler could not scale for 15 minutes: eu-2/default (shop/web)",
      ]);
      const published = sentTo(day, PAYMENTS);
      deepEqual(
        published.map(({ TopicArn, Subject }) => [TopicArn, Subject]),
        [[PAYMENTS, "tidemark-prod: 1 autoscaler needs a look"]],
      );
      ok(
        published[0]?.["Message"]?.includes(
          "Of payments:\n1 autoscaler could not scale for 15 minutes: eu-2/default\n",
        ),
      );
      day.heal("eu-2");
      await fire(day, 3);
      deepEqual(sentTo(day, PAYMENTS).length, 1);
    },

  "has an alarm where an autoscaler wants more than its maximum for 15 minutes": async (day) => {
    await day.mostReplicas("eu-1", 1, "search");
    const alarms = await day.play(19);
    ok(
      alarms.includes(
        "AutoscalerProblems: 1 autoscaler wants more than its maximum for 15 minutes: eu-1/default (shop/web)",
      ),
      String(alarms),
    );
    // Its owner has a topic that is gone: this wakes the people of the fleet once, in this minute
    // or the next, and keeps no problem from them.
    deepEqual(alarms.map((words) => words.split(":")[0]).toSorted(), [
      "AutoscalerProblems",
      "ClusterProblems",
    ]);
    ok(day.planningLog().includes('Cannot send to the owner \\"search\\"'));
    deepEqual(sentTo(day, PAYMENTS).length, 1);
    await day.mostReplicas("eu-1", 10);
    await fire(day, 3);
  },

  "has an alarm where the syncs of one partition of four are lost, also while the fleet is frozen":
    async (day) => {
      await day.service().freeze("a drill");
      day.unserved.add("eu-2");
      day.down("eu-1");
      await fire(day, 8, [
        "SyncsStopped: 1 partition was not synced for three periods: eu-2/default",
      ]);
      day.unserved.delete("eu-2");
      day.heal("eu-1");
      await day.play(4);
      await day.service().thaw();
      await fire(day, 6, ["ClusterProblems: 1 cluster cannot be read for 5 minutes: dev"]);
    },

  "has an alarm for a record of a cluster that cannot be read, and one for the partition that is not synced for it":
    async (day) => {
      await day.damage("eu-2");
      await fire(day, 3, ["ClusterProblems: 1 cluster has a record that cannot be read: eu-2"]);
      await day.mend("eu-2");
      // Nothing was planned for it meanwhile, and the next syncs are planned two minutes ahead.
      await fire(day, 5, [
        "SyncsStopped: 1 partition was not synced for three periods: eu-2/default",
      ]);
    },
};
