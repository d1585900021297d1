import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { startQueues } from "../../lib/embedded/queue/sqs-server.ts";
import { localTables, startStack } from "../../lib/embedded/run/stack.ts";
import { ensureTables, startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import { readHead } from "../../lib/stack/store/head/head.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import { putCluster, putConnection } from "../../lib/stack/store/records/clusters.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import { WHOLE, watch } from "../cluster/stand-in/watched.ts";
import { CONTEXT, sqsEvent } from "../sync/stand-in-fleet.ts";
import { runCluster, workload } from "./cluster/running-cluster.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0).reverse()) await close();
});

/** A kubeconfig whose credentials come from a program. */
const programOf = (command: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
    users: [
      {
        name: "u",
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "sh",
            args: ["-c", command],
            interactiveMode: "Never",
          },
        },
      },
    ],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  });

it("a stack uses only the kubeconfig of its start, whatever the tables name, and says once where it may not look for rivals", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-stack-"));
  closing.push(() => rmSync(dir, { recursive: true, force: true }));
  const cluster = await runCluster({ workloads: [workload()] });
  closing.push(cluster.remove);
  cluster.faults.add({
    path: "/apis/autoscaling/v2/",
    kind: "status",
    code: 403,
    reason: "Forbidden",
    message: "not for you",
  });
  const queues = await startQueues(join(dir, "queue.jsonl"), Date.now);
  closing.push(queues.close);
  const engine = await startTables(join(dir, "tables"));
  closing.push(engine.close);
  const client = tablesClient(engine.endpoint);
  closing.push(() => client.destroy());
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  const lines: LogLine[] = [];
  const reporter = {
    sync: () => {},
    failed: () => {},
    planned: () => {},
    problems: () => {},
    problemsNotCounted: () => {},
    line: (line: LogLine) => void lines.push(line),
  };
  const connection = { kind: "kubeconfig", path: cluster.kubeconfigPath } as const;
  const stack = startStack({
    clock: Date.now,
    comparesClock: false,
    syncClient: client,
    scheduleClient: client,
    queues,
    connections: [connection],
    reporter,
  });
  closing.push(stack.close);
  const record = { name: clusterName("local"), uid: "uid-of-cluster", version: 1 } as Parameters<
    typeof stack.connect
  >[0];
  await expect(stack.connect(record)).rejects.toMatchObject({ code: "cluster.access.none" });
  const tables = localTables(client, Date.now);
  const evil = { kind: "kubeconfig", path: join(dir, "evil") } as const;
  writeFileSync(evil.path, programOf(`touch ${join(dir, "ran")}`));
  await putConnection(
    tables,
    { cluster: record.name, uid: record.uid, connection: evil, version: 1 },
    undefined,
  );
  await expect(stack.connect(record)).rejects.toMatchObject({
    code: "cluster.access.kubeconfig",
    message: expect.stringContaining("this run was started with another one"),
  });
  expect(existsSync(join(dir, "ran"))).toBe(false);
  await putConnection(
    tables,
    { cluster: record.name, uid: record.uid, connection, version: 2 },
    { cluster: record.name, uid: record.uid, connection: evil, version: 1 },
  );
  const connected = await stack.connect({ ...record, version: 2 });
  for (let looks = 0; looks < 2; looks++) await connected.observe([watch("shop", "web")], WHOLE);
  expect(lines).toEqual([
    {
      level: "warn",
      message: expect.stringMatching(
        /^Cannot look for a HorizontalPodAutoscaler on the same targets in cluster "local": .*not for you/,
      ),
      fields: { outcome: "not seen" },
    },
  ]);
});

const PERIOD_MS = 15_000;

it("a run on a real cluster compares its clock with the API server: a clock that is an hour ahead syncs nothing, leaves no trace, and goes on once it is right", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-clock-"));
  closing.push(() => rmSync(dir, { recursive: true, force: true }));
  const cluster = await runCluster({ workloads: [workload()] });
  closing.push(cluster.remove);
  const queues = await startQueues(join(dir, "queue.jsonl"), Date.now);
  closing.push(queues.close);
  const engine = await startTables(join(dir, "tables"));
  closing.push(engine.close);
  const client = engine.client();
  closing.push(() => client.destroy());
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  const reports: SyncReport[] = [];
  const reporter = {
    sync: (report: SyncReport) => void reports.push(report),
    failed: (error: unknown) => expect.fail(String(error)),
    planned: () => {},
    problems: () => {},
    problemsNotCounted: () => {},
    line: () => {},
  };
  const connection = { kind: "kubeconfig", path: cluster.kubeconfigPath } as const;
  const stack = startStack({
    clock: () => Date.now(),
    comparesClock: true,
    syncClient: client,
    scheduleClient: client,
    queues,
    connections: [connection],
    reporter,
  });
  closing.push(stack.close);
  const tables = localTables(client, Date.now);
  const name = clusterName("real");
  const partitions = [{ name: WHOLE_CLUSTER }];
  const record: ClusterRecord = {
    name,
    uid: "uid-of-cluster",
    syncPeriodMs: PERIOD_MS,
    partitions,
    settings: DEFAULT_SETTINGS,
    version: 1,
  };
  await putConnection(
    tables,
    { cluster: name, uid: record.uid, connection, version: 1 },
    undefined,
  );
  await putCluster(tables, record, undefined);
  await stack.connect(record);
  const partition = { cluster: name, partition: WHOLE_CLUSTER };
  const synced = async (): Promise<SyncReport | undefined> => {
    await stack.sync(sqsEvent({ ...partition, dueMs: Date.now(), periodMs: PERIOD_MS }), CONTEXT);
    return reports.at(-1);
  };
  const real = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => real() + 3_600_000);
  expect(await synced()).toMatchObject({
    kind: "dropped",
    why: "clock",
    wrongByMs: expect.closeTo(3_600_000, -5),
  });
  expect(await readHead(tables, partition)).toBeUndefined();
  vi.restoreAllMocks();
  expect(await synced()).toMatchObject({ kind: "completed" });
  // A step while it runs is seen without another answer.
  vi.spyOn(Date, "now").mockImplementation(() => real() + 3_600_000);
  expect(await synced()).toMatchObject({ kind: "dropped", why: "clock" });
});
