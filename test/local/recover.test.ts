import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { connect } from "../../lib/stack/cluster/connect.ts";
import {
  type SimulatedCluster,
  startSimulatedCluster,
} from "../../lib/embedded/cluster/simulated-cluster.ts";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { ensureCluster } from "../../lib/embedded/run/ensure-cluster.ts";
import { endDeadLeases } from "../../lib/embedded/run/recover.ts";
import { localTables } from "../../lib/embedded/run/stack.ts";
import { demonstrationWorkloads } from "../../lib/embedded/run/world.ts";
import {
  type EmbeddedTables as Embedded,
  ensureTables,
  startTables,
} from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { claim } from "../../lib/stack/store/head/claim.ts";
import { readHead } from "../../lib/stack/store/head/head.ts";
import { storeIntents } from "../../lib/stack/store/head/store-intents.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { type Tables, tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import { bodiesOf } from "../store/records.ts";
import type { Intent } from "../../lib/rules/model/scale-records.ts";

const NOW_MS = Date.UTC(2026, 0, 5, 8);
const SHOP = namespace("shop");
let dir: string;
let embedded: Embedded;
let dynamo: DynamoDBClient;
let tables: Tables;
let simulated: SimulatedCluster;
let cluster: ClusterRecord;
let client: ClusterClient;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-recover-"));
  embedded = await startTables(join(dir, "tables"));
  dynamo = tablesClient(embedded.endpoint);
  await ensureTables(dynamo, tableDefinitions(TABLE_NAMES));
  tables = localTables(dynamo, () => NOW_MS);
  simulated = await startSimulatedCluster({
    dataDir: join(dir, "cluster"),
    clock: () => NOW_MS,
    seed: 1,
    workloads: await demonstrationWorkloads(),
  });
  cluster = await ensureCluster(
    { tables, insert: insertByStatement(tables), clock: () => NOW_MS, by: "ada", newUid: () => "" },
    {
      name: clusterName("local"),
      connection: { kind: "kubeconfig", path: simulated.kubeconfigPath },
    },
  );
  client = await connect(
    {
      ...cluster,
      kubeSystemUid: undefined,
      connection: { kind: "kubeconfig", path: simulated.kubeconfigPath },
    },
    { clock: Date.now, trusted: ON_THIS_MACHINE },
  );
});
afterEach(async () => {
  client.close();
  await simulated.close();
  dynamo.destroy();
  await embedded.close();
  rmSync(dir, { recursive: true, force: true });
});

const partition = () => ({ cluster: cluster.name, partition: WHOLE_CLUSTER });
const claimAt = (dueMs: number) =>
  claim(tables, { partition: partition(), dueMs, clockMs: NOW_MS, leaseUntilMs: NOW_MS + 34_000 });
const target = (name: string) => ({ apiVersion: "apps/v1", kind: "Deployment", name });

/** A holder that stored the intent to scale a workload by one, and died; `sent`: after its PUT. */
const dyingHolder = async (name: string, sent: boolean) => {
  const claimed = await claimAt(NOW_MS);
  const reading = await client.readScale(SHOP, target(name), 5_000);
  if (claimed.kind !== "claimed" || reading.kind !== "read")
    throw new Error("The partition is free and the workload is there");
  const { epoch, writeNumber } = claimed.head;
  const intent: Intent = {
    id: `uid-1:${epoch}`,
    uid: autoscalerUid("uid-1"),
    namespace: SHOP,
    name: autoscalerName(name),
    target: target(name),
    from: reading.specReplicas,
    to: reading.specReplicas + 1,
    targetUid: reading.uid,
    resourceVersion: reading.resourceVersion,
    ...(reading.generation !== undefined && { targetGeneration: reading.generation }),
    decidedMs: NOW_MS,
    deadlineMs: NOW_MS + 39_000,
    specGeneration: 1,
    because: { reason: "MetricAboveTarget", message: "cpu above target" },
    metrics: [],
    steps: [],
  };
  await storeIntents(
    tables,
    { partition: partition(), epoch, writeNumber },
    bodiesOf(intent),
    NOW_MS,
  );
  const write = {
    namespace: SHOP,
    target: intent.target,
    targetUid: intent.targetUid,
    resourceVersion: intent.resourceVersion,
    replicas: intent.to,
  };
  if (sent) expect((await client.putScale(write, 5_000)).kind).toBe("applied");
  return intent;
};
const recovered = () =>
  endDeadLeases({ tables, clusters: [cluster], connect: async () => client, nowMs: NOW_MS });

describe("endDeadLeases()", () => {
  it("lets the interrupted sync begin again at once", async () => {
    await claimAt(NOW_MS);
    expect(await claimAt(NOW_MS)).toMatchObject({ kind: "held" });
    expect(await recovered()).toEqual({ leases: 1, reached: 0, withdrawn: 0 });
    expect(await claimAt(NOW_MS)).toMatchObject({
      kind: "claimed",
      head: { epoch: 2, releasedEpoch: 0 },
    });
  });

  it("withdraws an intent whose PUT never reached the cluster", async () => {
    await dyingHolder("daily", false);
    expect(await recovered()).toEqual({ leases: 1, reached: 0, withdrawn: 1 });
    expect((await readHead(tables, partition()))?.intents).toEqual([]);
  });

  it("leaves an intent that the cluster has carried out, due to be settled now", async () => {
    const intent = await dyingHolder("daily", true);
    expect(await recovered()).toEqual({ leases: 1, reached: 1, withdrawn: 0 });
    expect((await readHead(tables, partition()))?.intents).toEqual([
      { ...intent, deadlineMs: NOW_MS - 1 },
    ]);
  });

  it("changes nothing where no holder died, and nothing the second time", async () => {
    expect(await recovered()).toEqual({ leases: 0, reached: 0, withdrawn: 0 });
    await dyingHolder("daily", true);
    await recovered();
    const head = await readHead(tables, partition());
    expect(await recovered()).toEqual({ leases: 0, reached: 0, withdrawn: 0 });
    expect(await readHead(tables, partition())).toEqual(head);
  });
});
