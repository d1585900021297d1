import { join } from "node:path";
import { type AttributeValue, type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Queues, startQueues } from "../../lib/local/run/run-queues.ts";
import { ensureTables } from "../../lib/local/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/local/tables/tables-client.ts";
import type { Service } from "../../lib/service/service.ts";
import { tableDefinitions } from "../../lib/store/table/tables.ts";
import { OWNER_LABEL } from "../../lib/sync/troubles.ts";
import {
  alarmsIn,
  called,
  clusterFolder,
  eventOfMessage,
  hpaOf,
  openFunctions,
  type ReachedCluster,
  SCALE_OF_WEB,
  serviceOn,
  startReachedCluster,
  TABLES,
} from "./alarm-stack.ts";
import { HAS_DYNOXIDE, startDynoxide } from "./lambda/dynoxide.ts";
import type { Sample } from "./lambda/emitted.ts";
import { fires } from "./lambda/fires.ts";
import type { Environment } from "./lambda/runtime-api.ts";
import { packageStack, type Stack } from "./packaged.ts";

/**
 * A day of a fleet, played minute by minute: the packaged functions plan and sync it through a real queue, on clocks that are moved ahead, and every alarm of the template is evaluated at the end of each minute. Each failure
 * is alarmed once, with the name of its cluster in the line of that minute; what goes on, is paused or is slow is silent.
 */
const MINUTE_MS = 60_000;
/** Syncs start at most this late. */
const STEP_MS = 10_000;
const CLUSTERS = ["dev", "eu-1", "eu-2", "slow"] as const;
type Name = (typeof CLUSTERS)[number];
const PERIOD_MS: Readonly<Record<Name, number>> = { dev: MINUTE_MS, "eu-1": MINUTE_MS, "eu-2": MINUTE_MS, slow: 5 * MINUTE_MS };

const PAYMENTS = "arn:aws:sns:eu-central-1:123456789012:payments";
/** A topic that somebody has deleted. */
const GONE = "arn:aws:sns:eu-central-1:123456789012:gone";

const closing: (() => Promise<void>)[] = [];
let stack: Stack;
let state: DynamoDBClient;
let service: Service;
let queues: Queues;
let schedule: Environment;
let sync: Environment;
let published: readonly Readonly<Record<string, string>>[] = [];
let aheadMs = 0;
const reached = new Map<Name, ReachedCluster>();
/** Partitions whose messages are lost. */
const unserved = new Set<Name>();
const clock = (): number => Date.now() + aheadMs;

beforeAll(async () => {
  if (!HAS_DYNOXIDE) return;
  stack = await packageStack();
  closing.push(stack.done);
  const dynoxide = await startDynoxide();
  closing.push(dynoxide.stop);
  queues = await startQueues(join(stack.folder, "queues.jsonl"), clock);
  closing.push(queues.close);
  state = tablesClient(dynoxide.endpoint);
  closing.push(async () => state.destroy());
  await ensureTables(state, tableDefinitions(TABLES));
  service = serviceOn(state, clock);
  const secrets: Record<string, string> = {};
  for (const name of CLUSTERS) {
    const cluster = await startReachedCluster(clusterFolder(stack, name), clock);
    closing.push(cluster.close);
    reached.set(name, cluster);
    const secretId = `tidemark-prod/${name}`;
    secrets[secretId] = cluster.balancer.kubeconfig;
    await service.addCluster({ name, connection: { kind: "secret", secretId }, syncPeriodMs: PERIOD_MS[name] });
    await service.apply([{ file: "web.json", text: hpaOf(10) }], { dryRun: false, cluster: name });
  }
  const parameters = { AlarmOwners: "payments,search", OwnerTopics: `${PAYMENTS},${GONE}` };
  const functions = await openFunctions({
    stack,
    dynamodb: dynoxide.endpoint,
    queues,
    secrets,
    parameters,
    deafTopic: GONE,
    aheadMs: () => aheadMs,
  });
  ({ published } = functions);
  closing.push(functions.close);
  [schedule, sync] = [await functions.start("schedule"), await functions.start("sync")];
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const clusterNamed = (name: Name): ReachedCluster["cluster"] => {
  const found = reached.get(name);
  if (!found) throw new RangeError(`Cannot play cluster "${name}": it was not started`);
  return found.cluster;
};
const heal = (name: Name): void => clusterNamed(name).faults.clear();
const down = (name: Name): void =>
  void clusterNamed(name).faults.add({ kind: "status", code: 500, reason: "InternalError", message: "etcd is gone", path: "/" });
const withoutMetrics = (name: Name): void =>
  void clusterNamed(name).faults.add({
    kind: "status",
    code: 503,
    reason: "ServiceUnavailable",
    message: "no endpoints",
    path: "/apis/metrics.k8s.io",
  });
const withoutRight = (name: Name): void =>
  void clusterNamed(name).faults.add({ kind: "status", code: 403, reason: "Forbidden", message: "no right", path: SCALE_OF_WEB, method: "PUT" });
const mostReplicas = (name: Name, maxReplicas: number, owner = "payments"): Promise<unknown> =>
  service.apply([{ file: "web.json", text: hpaOf(maxReplicas, { [OWNER_LABEL]: owner }) }], { dryRun: false, cluster: name });
const setPeriod = (name: Name, value: AttributeValue): Promise<unknown> =>
  state.send(
    new UpdateItemCommand({
      TableName: TABLES.stateTable,
      Key: { pk: { S: "fleet" }, sk: { S: `cluster#${name}` } },
      UpdateExpression: "SET syncPeriodMs = :value",
      ExpressionAttributeValues: { ":value": value },
    }),
  );
/** A record as no version has written it. */
const damage = (name: Name): Promise<unknown> => setPeriod(name, { S: "often" });
const mend = (name: Name): Promise<unknown> => setPeriod(name, { N: String(PERIOD_MS[name]) });

interface Fired {
  readonly minute: number;
  readonly alarm: string;
  /** What the line of `schedule` says is new. */
  readonly line: string;
}

const received: (readonly Sample[])[] = [];
const fired: Fired[] = [];
const on = new Set<string>();

/** What is due is synced, and its message is gone. */
const serveDue = async (): Promise<readonly Sample[]> => {
  const samples: Sample[] = [];
  for (const { body, inFlight } of queues.sync.receive(1_000)) {
    const { cluster }: { readonly cluster: Name } = JSON.parse(body);
    if (!unserved.has(cluster)) samples.push(...(await called(sync, "SyncLambdaFunction", eventOfMessage(body))));
    queues.sync.remove(inFlight?.receipt ?? "");
  }
  return samples;
};

const NEW = /New problems: ([^"]*)/g;

/** One minute of the clock: a call of the scheduler, the syncs that are due, and then every alarm. */
const playMinute = async (): Promise<void> => {
  const logged = schedule.log().length;
  const minute = [...(await called(schedule, "ScheduleLambdaFunction", { scheduledTime: new Date(clock()).toISOString() }))];
  const startedMs = Date.now();
  for (let playedMs = 0; playedMs < MINUTE_MS; playedMs += STEP_MS) {
    minute.push(...(await serveDue()));
    aheadMs += STEP_MS;
  }
  // The time that playing took is a part of the minute.
  aheadMs -= Math.min(Date.now() - startedMs, STEP_MS);
  received.push(minute);
  const line = [...schedule.log().slice(logged).matchAll(NEW)].map(([, text = ""]) => text).join(" ");
  for (const [alarm, properties] of alarmsIn(stack)) {
    const isOn = fires(properties, received);
    if (isOn && !on.has(alarm)) fired.push({ minute: received.length - 1, alarm, line });
    if (isOn) on.add(alarm);
    else on.delete(alarm);
  }
};

/** Plays so many minutes, and returns what fired in them, as "ALARM: what is new". */
const play = async (minutes: number): Promise<readonly string[]> => {
  const from = fired.length;
  for (let minute = 0; minute < minutes; minute++) await playMinute();
  return fired.slice(from).map(({ alarm, line }) => `${alarm}: ${line.replaceAll(/ since [^;,]*/g, "")}`);
};

describe.skipIf(!HAS_DYNOXIDE)("a day of the fleet, which needs the table engine @dynoxide/linux-x64", () => {
  it("is silent while all is well, with a cluster whose period is five minutes", async () => {
    // Alarms look back; before the first minute nothing was planned.
    await play(3);
    on.clear();
    expect(await play(17)).toEqual([]);
    expect(JSON.stringify(received.at(-1))).toContain("CompletedSyncs");
  }, 120_000);

  it("has one alarm for a cluster that goes down, and none while it stays down", async () => {
    down("dev");
    expect(await play(12)).toEqual(["ClusterProblems: 1 cluster cannot be read for 5 minutes: dev"]);
  }, 120_000);

  it("has another alarm when a second cluster goes down, which names the second one only", async () => {
    down("eu-2");
    expect(await play(8)).toEqual(["ClusterProblems: 1 cluster cannot be read for 5 minutes: eu-2"]);
    heal("eu-2");
    expect(await play(3)).toEqual([]);
  }, 120_000);

  it("has an alarm for a cluster whose metrics-server is gone", async () => {
    withoutMetrics("eu-1");
    expect(await play(8)).toEqual(["ClusterProblems: 1 cluster answers and nothing can be evaluated for 5 minutes: eu-1"]);
    heal("eu-1");
    expect(await play(3)).toEqual([]);
  }, 120_000);

  it("is silent where another cluster fails for one sync after the other, each for less than five minutes", async () => {
    for (const name of ["eu-1", "eu-2", "eu-1"] as const) {
      down(name);
      expect(await play(3)).toEqual([]);
      heal(name);
      expect(await play(2)).toEqual([]);
    }
  }, 120_000);

  it("is silent while a cluster that is down is paused", async () => {
    await service.pauseCluster("eu-1");
    down("eu-1");
    expect(await play(10)).toEqual([]);
    heal("eu-1");
    await play(2);
    await service.resumeCluster("eu-1");
    expect(await play(3)).toEqual([]);
  }, 120_000);

  it("has an alarm where every scale of an autoscaler is refused for 15 minutes", async () => {
    await mostReplicas("eu-2", 2);
    await play(2);
    withoutRight("eu-2");
    await mostReplicas("eu-2", 10);
    expect(await play(14)).toEqual([]);
    expect(await play(5)).toEqual(["AutoscalerProblems: 1 autoscaler could not scale for 15 minutes: eu-2/default (shop/web)"]);
    expect(published.map(({ TopicArn, Subject }) => [TopicArn, Subject])).toEqual([[PAYMENTS, "tidemark-prod: 1 autoscaler needs a look"]]);
    expect(published[0]?.["Message"]).toContain("Of payments:\n1 autoscaler could not scale for 15 minutes: eu-2/default\n");
    heal("eu-2");
    expect(await play(3)).toEqual([]);
    expect(published).toHaveLength(1);
  }, 120_000);

  it("has an alarm where an autoscaler wants more than its maximum for 15 minutes", async () => {
    await mostReplicas("eu-1", 1, "search");
    const alarms = await play(19);
    expect(alarms).toContain("AutoscalerProblems: 1 autoscaler wants more than its maximum for 15 minutes: eu-1/default (shop/web)");
    // Its owner has a topic that is gone: this wakes the people of the fleet once, in this minute or the next, and keeps no problem from them.
    expect(alarms.map((words) => words.split(":")[0]).toSorted()).toEqual(["AutoscalerProblems", "ClusterProblems"]);
    expect(schedule.log()).toContain('Cannot tell the owner \\"search\\"');
    expect(published).toHaveLength(1);
    await mostReplicas("eu-1", 10);
    expect(await play(3)).toEqual([]);
  }, 120_000);

  it("has an alarm where the syncs of one partition of four are lost, also while the fleet is frozen", async () => {
    await service.freeze("a drill");
    unserved.add("eu-2");
    down("eu-1");
    expect(await play(8)).toEqual(["SyncsStopped: 1 partition was not synced for three periods: eu-2/default"]);
    unserved.delete("eu-2");
    heal("eu-1");
    await play(2);
    await service.thaw();
    expect(await play(6)).toEqual(["ClusterProblems: 1 cluster cannot be read for 5 minutes: dev"]);
  }, 120_000);

  it("has an alarm for a record of a cluster that cannot be read, and one for the partition that is not synced for it", async () => {
    await damage("eu-2");
    expect(await play(3)).toEqual(["ClusterProblems: 1 cluster has a record that cannot be read: eu-2"]);
    await mend("eu-2");
    // Nothing was planned for it meanwhile, and the next syncs are planned two minutes ahead.
    expect(await play(5)).toEqual(["SyncsStopped: 1 partition was not synced for three periods: eu-2/default"]);
  }, 120_000);
});
