import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomUUID } from "node:crypto";
import type { QueueMessage } from "../../lib/embedded/queue/message.ts";
import type { Draft, Queue } from "../../lib/embedded/queue/queue.ts";
import { sqsFailure, type SqsServer, startSqsServer } from "../../lib/embedded/queue/sqs-server.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../lib/embedded/host/loopback.ts";
import { clusterName, namespace, partitionName } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { markPlanned } from "../../lib/stack/store/records/plan-records.ts";
import { messageOf } from "../../lib/stack/plan/message.ts";
import { planSyncs } from "../../lib/stack/plan/schedule.ts";
import { startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { testTables } from "./world.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";

const CLUSTERS = 500;
const PARTITIONS = 4;
const PERIOD_MS = 15_000;
/** Every so many messages one is refused when it is first sent. */
const REFUSED_EVERY = 7;

/** What the server's queue keeps: messages in the order they came. Nothing is received here. */
const keptQueue = () => {
  const kept: Draft[] = [];
  const seen = new Set<string>();
  let refused = 0;
  const send = (draft: Draft): QueueMessage => {
    if (!seen.has(draft.body) && seen.add(draft.body).size % REFUSED_EVERY === 0) {
      refused++;
      throw sqsFailure("ServiceUnavailable", "try again");
    }
    kept.push(draft);
    return {
      ...draft,
      id: randomUUID(),
      sequence: kept.length,
      sentMs: NOON,
      visibleAtMs: NOON + draft.delayMs,
      receiveCount: 0,
    };
  };
  const never = (): never => {
    throw new TypeError("planning only sends");
  };
  const settings = { name: "sync", visibilityTimeoutMs: 30_000, retentionMs: 3_600_000 };
  const queue: Queue = {
    settings,
    send,
    receive: never,
    remove: never,
    counts: never,
    nextVisibleMs: never,
    recoverInFlight: never,
  };
  return { queue, kept, refused: () => refused };
};

let server: SqsServer;
let client: SQSClient;
const { queue, kept, refused } = keptQueue();
beforeAll(async () => {
  server = await startSqsServer([queue]);
  client = new SQSClient({
    endpoint: server.endpoint,
    region: LOOPBACK_REGION,
    credentials: LOOPBACK_CREDENTIALS,
    maxAttempts: 1,
  });
});
afterAll(async () => {
  client.destroy();
  await server.close();
});

describe("schedule() of a fleet", () => {
  it("plans 500 clusters of 4 partitions in one run: batched, what was refused sent again, due instants spread over the period", async () => {
    const engine = await startMemory();
    const clock = () => NOON + 20_000;
    const tables = testTables(engine.client, engine.tables, clock);
    const partitions = Array.from({ length: PARTITIONS }, (_, at) => ({
      name: partitionName(`p${at}`),
      namespaces: [namespace(`team-${at}`)],
    }));
    const rest = {
      connection: { kind: "secret", secretId: "x" },
      syncPeriodMs: PERIOD_MS,
      settings: DEFAULT_SETTINGS,
      version: 1,
    } as const;
    for (let at = 0; at < CLUSTERS; at++)
      await putCluster(
        tables,
        { name: clusterName(`cluster-${at}`), uid: `uid-${at}`, partitions, ...rest },
        undefined,
      );
    await markPlanned(tables, [NOON, NOON + MINUTE_MS]);
    let requests = 0;
    client.middlewareStack.add((next) => (args) => {
      requests++;
      return next(args);
    });
    const to = {
      client,
      queueUrl: server.urlOf(queue),
      wait: async () => undefined,
      random: () => 0,
    };
    const report = await planSyncs({ tables, queue: to }, { scheduledMs: NOON });
    await engine.close();

    const wanted = CLUSTERS * PARTITIONS * (MINUTE_MS / PERIOD_MS);
    expect(report).toMatchObject({ clusters: CLUSTERS, sent: wanted, skipped: 0, unreadable: [] });
    const messages = kept.map(({ body, delayMs, groupId }) => ({
      ...messageOf(body),
      delayMs,
      groupId,
    }));
    expect(new Set(kept.map(({ body }) => body)).size).toBe(wanted);
    expect(kept).toHaveLength(wanted);
    for (const { dueMs, delayMs, cluster, groupId } of messages) {
      expect(clock() + delayMs).toBe(dueMs);
      expect(groupId).toBe(cluster);
    }
    // Ten to a request, and each batch with refusals once or more again.
    expect(refused()).toBe(Math.floor(wanted / REFUSED_EVERY));
    expect(requests).toBeGreaterThan(wanted / 10);
    expect(requests).toBeLessThanOrEqual(2 * Math.ceil(wanted / 10));

    const seconds = Map.groupBy(messages, ({ dueMs }) => dueMs);
    expect(seconds.size).toBe(MINUTE_MS / 1_000);
    // The mean is 133. A stable hash: docs/speed.md gives this very figure.
    expect(Math.max(...[...seconds.values()].map(({ length }) => length))).toBe(160);
  });
});
