import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type SimulatedCluster,
  startSimulatedCluster,
} from "../../lib/embedded/cluster/simulated-cluster.ts";
import { CLUSTER_WRITES } from "../../lib/embedded/layout.ts";
import { demonstrationWorkloads } from "../../lib/embedded/run/world.ts";
import { exportedEvents, startRun, tidemark } from "./start-process.ts";

const CROWD = fileURLToPath(new URL("../../examples/crowd.yaml", import.meta.url));
let dir: string;
let cluster: SimulatedCluster;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-real-"));
  cluster = await startSimulatedCluster({
    dataDir: join(dir, "cluster"),
    clock: Date.now,
    seed: 1,
    workloads: await demonstrationWorkloads(),
  });
});
afterAll(async () => {
  await cluster.close();
  rmSync(dir, { recursive: true, force: true });
});

const replicas = () =>
  Object.fromEntries(cluster.each(({ model, state }) => [model.name, state.replicas]));

describe("npm start -- --kubeconfig", { timeout: 120_000 }, () => {
  it("scales a cluster that it did not make in real time, for the manifests applied and nothing else", async () => {
    const before = replicas();
    const data = join(dir, "data");
    const run = startRun([
      "--kubeconfig",
      cluster.kubeconfigPath,
      "--manifest",
      CROWD,
      "--data",
      data,
    ]);
    for (let attempt = 0; attempt < 400 && replicas()["crowd"] === before["crowd"]; attempt++)
      await wait(100);
    run.child.kill("SIGTERM");
    const { code, out, err } = await run.ended;
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^Began on cluster "[a-z0-9-]+" in real time/m);
    const events = await exportedEvents(data);
    expect(events).toMatchObject([{ name: "crowd", from: 8, outcome: "applied" }]);
    expect(Math.abs(Date.parse(events[0]?.at ?? "") - Date.now())).toBeLessThan(120_000);
    expect(replicas()).toEqual({ ...before, crowd: events[0]?.to });
  });

  it("gives its cluster no second name", async () => {
    const data = join(dir, "data");
    const { code, err } = await tidemark([
      "cluster",
      "add",
      "again",
      "--kubeconfig",
      cluster.kubeconfigPath,
      "--data",
      data,
    ]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /Cannot add cluster "again": it is cluster "[a-z0-9-]+" under a second name: both would scale its workloads/,
    );
  });

  it("holds where another cluster answers by the same kubeconfig", async () => {
    const data = join(dir, "data");
    const other = await startSimulatedCluster({
      dataDir: join(dir, "other"),
      clock: Date.now,
      seed: 2,
      workloads: await demonstrationWorkloads(),
    });
    const own = readFileSync(cluster.kubeconfigPath);
    copyFileSync(other.kubeconfigPath, cluster.kubeconfigPath);
    const run = startRun(["--kubeconfig", cluster.kubeconfigPath, "--data", data]);
    const status = async (): Promise<string> => (await tidemark(["status", "--data", data])).out;
    await expect
      .poll(status, { timeout: 60_000, interval: 2_000 })
      .toContain("another cluster answers, whose kube-system has the uid");
    run.child.kill("SIGTERM");
    await run.ended;
    writeFileSync(cluster.kubeconfigPath, own);
    await other.close();
    expect(
      readFileSync(join(dir, "other", CLUSTER_WRITES), "utf8")
        .trim()
        .split("\n"),
    ).toHaveLength(1);
  });

  it("does not take a folder of a simulated cluster for a real one, nor the other way round", async () => {
    const data = join(dir, "data");
    const { code, err } = await startRun(["--data", data, "--for", "1m"]).ended;
    expect([code, err]).toEqual([
      1,
      `error: Cannot continue in "${data}": it belongs to a real cluster, not to a simulated cluster; for a run of its own: npm start -- --for 1m --data ${data}-2\n`,
    ]);
  });

  it("begins with no autoscaler at all when none was named", async () => {
    const data = join(dir, "empty");
    const { code, out } = await startRun([
      "--kubeconfig",
      cluster.kubeconfigPath,
      "--data",
      data,
      "--for",
      "1s",
    ]).ended;
    expect(code).toBe(0);
    expect(out).toContain("it scales nothing until you apply a manifest");
    expect((await tidemark(["get", "--data", data])).err).toContain("No autoscalers");
  });

  it("says what is wrong with a kubeconfig", async () => {
    const { code, out, err } = await startRun([
      "--kubeconfig",
      cluster.kubeconfigPath,
      "--context",
      "none",
      "--data",
      join(dir, "wrong"),
      "--for",
      "1s",
    ]).ended;
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^error: Cannot use kubeconfig ".*": context "none" is not in it, there are ".+"$/m,
    );
  });
});
