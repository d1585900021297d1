import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { startQueues } from "../../lib/local/run/run-queues.ts";
import { startStack } from "../../lib/local/run/stack.ts";
import { tablesClient } from "../../lib/local/tables/tables-client.ts";
import { clusterName } from "../../lib/model/ids.ts";
import type { LogLine } from "../../lib/report/log-lines.ts";
import { WHOLE, watch } from "../cluster/stand-in/watched.ts";
import { runCluster, workload } from "./cluster/running-cluster.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it("a stack that may not look for rivals says so in the log, once", async () => {
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
  const client = tablesClient("http://127.0.0.1:1");
  closing.push(() => client.destroy());
  const lines: LogLine[] = [];
  const reporter = { sync: () => {}, failed: () => {}, planned: () => {}, line: (line: LogLine) => void lines.push(line) };
  const stack = startStack({ clock: Date.now, syncClient: client, scheduleClient: client, queues, reporter });
  closing.push(stack.close);
  const connection = { kind: "kubeconfig", path: cluster.kubeconfigPath } as const;
  const connected = await stack.connect({ name: clusterName("local"), connection, version: 1 } as Parameters<typeof stack.connect>[0]);
  for (let looks = 0; looks < 2; looks++) await connected.observe([watch("shop", "web")], WHOLE);
  expect(lines).toEqual([
    {
      level: "warn",
      message: expect.stringMatching(/^Cannot look for a HorizontalPodAutoscaler on the same targets in cluster "local": .*not for you/),
      fields: { outcome: "not seen" },
    },
  ]);
});
