import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Service } from "../../../lib/answers/service/service.ts";
import { type Queues, startQueues } from "../../../lib/embedded/queue/sqs-server.ts";
import {
  called,
  clusterFolder,
  eventOfMessage,
  type Functions,
  hpaOf,
  openFunctions,
  serviceOn,
  type StackOf,
  startReachedCluster,
  WEB,
  TABLES,
} from "../alarm-stack.ts";
import type { Environment } from "../lambda/runtime-api.ts";
import { startReplicas } from "./replicas.ts";

const MINUTE_MS = 60_000;
const STEP_MS = 5_000;
const REGIONS = ["eu-central-1", "eu-west-1"] as const;
const CLUSTER = "eu-1";

/** What a run showed. */
export interface Drill {
  /** From the moment in which the first region stopped until the other one had the fleet. */
  readonly allowedAfterMs: number;
  /** From the same moment until the first sync of the other region had ended. */
  readonly syncedAfterMs: number;
  /** Items that the first region had written and not replicated. */
  readonly lostItems: number;
  /** What the count of the workload was, in order. */
  readonly counts: readonly number[];
}

interface Region {
  readonly name: string;
  readonly queues: Queues;
  readonly functions: Functions;
  readonly schedule: Environment;
  readonly sync: Environment;
  /** Looks at the leases of the fleet, where the stack keeps some. */
  readonly connect?: Environment;
  readonly service: Service;
  isUp: boolean;
  plannedMinute: number;
}

/** 100 units take 4 pods; 250 take 10. The first ten minutes are before the drill. */
const LOAD = {
  points: Array.from({ length: 120 }, (_, minute) => ({
    atMs: minute * MINUTE_MS,
    value: minute < 24 ? 100 : 250,
  })),
  unit: "calls",
  stepMs: MINUTE_MS,
};

const WITNESS = { region: "eu-north-1", table: "tidemark-prod-witness" } as const;
const witnessArn = `arn:aws:dynamodb:${WITNESS.region}:123456789012:table/${WITNESS.table}`;

/**
 * Two deployed stacks, with the rights of their roles, on two replicas of the tables. The first
 * region is switched off in the middle of its work, before its last writes were replicated. A
 * person moves the fleet as soon as that is allowed, and the first region comes back later. With
 * `afterMinutes` nobody moves it: both stacks keep leases, and the standby takes the fleet by itself
 * so long after their end.
 */
export const playDrill = async (
  stack: StackOf,
  say: (line: string) => void,
  afterMinutes?: number,
): Promise<Drill> => {
  const startedMs = Date.now();
  let [playedMs, aheadMs] = [0, 0];
  const clock = (): number => Date.now() + aheadMs;
  const closing: (() => Promise<unknown>)[] = [];
  const folder = join(stack.folder, `standby-drill-${afterMinutes ?? "by-hand"}`);
  const parameters = afterMinutes !== undefined && {
    parameters: { WitnessTable: witnessArn, TakeOverAfterMinutes: String(afterMinutes) },
  };
  await mkdir(folder, { recursive: true });
  try {
    const replicas = await startReplicas(
      REGIONS,
      TABLES,
      afterMinutes === undefined ? undefined : WITNESS,
    );
    closing.push(replicas.close);
    const cluster = await startReachedCluster(clusterFolder(folder, CLUSTER), clock, {
      workloads: [{ ...WEB, trace: LOAD }],
    });
    closing.push(cluster.close);
    const secrets = { [`tidemark-prod/${CLUSTER}`]: cluster.balancer.kubeconfig };
    const open = async (name: string): Promise<Region> => {
      const queues = await startQueues(join(folder, `queues-${name}.jsonl`), clock);
      closing.push(queues.close);
      const functions = await openFunctions({
        ...{ stack, queues, secrets, region: name, dynamodb: replicas.endpoint },
        aheadMs: () => aheadMs,
        ...parameters,
      });
      closing.push(functions.close);
      const client = replicas.clientIn(name);
      closing.push(async () => client.destroy());
      return {
        ...{ name, queues, functions, isUp: true, plannedMinute: 0 },
        schedule: await functions.start("schedule"),
        sync: await functions.start("sync"),
        ...(parameters && { connect: await functions.start("connect") }),
        service: serviceOn(client, clock),
      };
    };
    const [one, two] = [await open(REGIONS[0]), await open(REGIONS[1])];
    const counts: number[] = [];
    const synced: Record<string, number[]> = { [one.name]: [], [two.name]: [] };

    /** What EventBridge Scheduler calls each minute. */
    const fires = async (region: Region): Promise<void> => {
      const minute = Math.floor(clock() / MINUTE_MS);
      if (region.plannedMinute === minute) return;
      region.plannedMinute = minute;
      const scheduledTime = new Date(minute * MINUTE_MS).toISOString();
      await called(region.schedule, "ScheduleLambdaFunction", { scheduledTime });
      if (region.connect)
        await called(region.connect, "ConnectLambdaFunction", { lookAtLeases: true });
    };
    const lives = async (region: Region): Promise<void> => {
      if (!region.isUp) return;
      await fires(region);
      for (const { body, inFlight } of region.queues.sync.receive(1_000)) {
        const samples = await called(region.sync, "SyncLambdaFunction", eventOfMessage(body));
        region.queues.sync.remove(inFlight?.receipt ?? "");
        if (samples.some(({ key }) => key.includes("CompletedSyncs")))
          synced[region.name]?.push(clock());
      }
    };
    const live = async (ms: number, isCut = false): Promise<void> => {
      for (const untilMs = playedMs + ms; playedMs < untilMs; ) {
        for (const region of [one, two]) await lives(region);
        if (!isCut) await replicas.replicate();
        const [count] = cluster.cluster.each(({ live: pods }) => pods.length);
        if (count !== undefined && count !== counts.at(-1)) counts.push(count);
        playedMs += STEP_MS;
        aheadMs = Math.max(aheadMs, startedMs + playedMs - Date.now());
      }
    };

    await one.service.addCluster({
      name: CLUSTER,
      connection: { kind: "secret", secretId: `tidemark-prod/${CLUSTER}` },
      syncPeriodMs: 15_000,
    });
    await one.service.move(one.name);
    const manifest = [{ file: "web.json", text: hpaOf(10) }];
    await one.service.apply(manifest, { dryRun: false, cluster: CLUSTER });
    await live(6 * MINUTE_MS);
    deepEqual(counts, [2, 4], "the first region has scaled");
    equal(synced[two.name]?.length, 0, "the standby has synced nothing");

    // The last seconds of the first region are not replicated: its syncs, and an edit.
    await live(10_000, true);
    await one.service.setOverride({
      ...{ cluster: CLUSTER, namespace: "shop", name: "web", max: 7 },
      ...{ reason: "made in the last second", untilMs: clock() + 60 * MINUTE_MS },
    });
    const lostItems = await replicas.behind();
    const downMs = clock();
    one.isUp = false;
    replicas.down.add(one.name);
    say(`${one.name} is down; ${lostItems} items of its last seconds were not replicated`);

    const isTaken = async (): Promise<boolean> => {
      if (parameters) return (await two.service.fleet()).standby === undefined;
      const refused = await two.service.move(two.name).then(
        () => "",
        (error: Error) => error.message,
      );
      if (refused !== "") ok(/may act until/.test(refused), refused);
      return refused === "";
    };
    let allowedMs = 0;
    for (; allowedMs === 0; await live(STEP_MS)) {
      if (await isTaken()) allowedMs = clock();
      const minutes = 10 + (afterMinutes ?? 0);
      ok(clock() - downMs < minutes * MINUTE_MS, `the fleet moves within ${minutes} minutes`);
    }
    while (synced[two.name]?.length === 0) await live(STEP_MS);
    const drill = {
      allowedAfterMs: allowedMs - downMs,
      syncedAfterMs: (synced[two.name]?.[0] ?? 0) - downMs,
      lostItems,
      counts,
    };
    say(
      `${parameters ? "the standby had taken the fleet by itself" : "a move was allowed"} ${seconds(drill.allowedAfterMs)} after that, and the first sync of ${two.name} ended after ${seconds(drill.syncedAfterMs)}`,
    );
    await live(12 * MINUTE_MS);
    equal(counts.at(-1), 10, "the second region scales on");
    deepEqual(
      await Array.fromAsync(two.service.overrides({})),
      [],
      "the edit of the last second is lost",
    );

    const before = synced[one.name]?.length;
    replicas.down.delete(one.name);
    one.isUp = true;
    await live(4 * MINUTE_MS);
    equal(synced[one.name]?.length, before, "the first region syncs nothing after it is back");
    const events = await Array.fromAsync(two.service.events({}));
    // A scale that was made twice, or by both, would be two events of one change of the count.
    deepEqual(
      events.map(({ from, to }) => [from, to]),
      counts.slice(1).map((count, at) => [counts[at], count]),
      "each change of the count has one event",
    );
    deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      "the count only rises with the load",
    );
    say(
      `${one.name} is back, syncs nothing, and each of the ${events.length} scales was made once`,
    );
    return drill;
  } finally {
    for (const close of closing.toReversed()) await close();
  }
};

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
