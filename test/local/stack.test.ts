import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { TABLE_NAMES } from "../../lib/local/run/names.ts";
import { startQueues } from "../../lib/local/run/run-queues.ts";
import { localTables, startStack } from "../../lib/local/run/stack.ts";
import { ensureTables, startTables } from "../../lib/local/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/local/tables/tables-client.ts";
import { clusterName } from "../../lib/model/ids.ts";
import type { LogLine } from "../../lib/report/log-lines.ts";
import { putConnection } from "../../lib/store/records/clusters.ts";
import { tableDefinitions } from "../../lib/store/table/tables.ts";
import { WHOLE, watch } from "../cluster/stand-in/watched.ts";
import { runCluster, workload } from "./cluster/running-cluster.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
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
        user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", command], interactiveMode: "Never" } },
      },
    ],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  });

it("a stack uses the kubeconfig of its start alone, whatever the tables name, and says once where it may not look for rivals", async () => {
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
  const stack = startStack({ clock: Date.now, syncClient: client, scheduleClient: client, queues, connection, reporter });
  closing.push(stack.close);
  const record = { name: clusterName("local"), version: 1 } as Parameters<typeof stack.connect>[0];
  await expect(stack.connect(record)).rejects.toMatchObject({ code: "cluster.access.none" });
  const tables = localTables(client, Date.now);
  const evil = { kind: "kubeconfig", path: join(dir, "evil") } as const;
  writeFileSync(evil.path, programOf(`touch ${join(dir, "ran")}`));
  await putConnection(tables, { cluster: record.name, connection: evil, version: 1 }, undefined);
  await expect(stack.connect(record)).rejects.toMatchObject({
    code: "cluster.access.kubeconfig",
    message: expect.stringContaining("this run was started with another one"),
  });
  expect(existsSync(join(dir, "ran"))).toBe(false);
  await putConnection(tables, { cluster: record.name, connection, version: 2 }, { cluster: record.name, connection: evil, version: 1 });
  const connected = await stack.connect({ ...record, version: 2 });
  for (let looks = 0; looks < 2; looks++) await connected.observe([watch("shop", "web")], WHOLE);
  expect(lines).toEqual([
    {
      level: "warn",
      message: expect.stringMatching(/^Cannot look for a HorizontalPodAutoscaler on the same targets in cluster "local": .*not for you/),
      fields: { outcome: "not seen" },
    },
  ]);
});
