import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { statistics } from "../../../lib/embedded/cluster/reading.ts";
import type { ClusterOptions } from "../../../lib/embedded/cluster/simulated-cluster.ts";
import { TidemarkError } from "../../../lib/rules/model/errors.ts";
import { reading } from "./readings.ts";
import { httpsRequest, runCluster, START_MS, workload } from "./running-cluster.ts";

const SCALE = "/apis/apps/v1/namespaces/shop/deployments/web/scale";

let dataDir = "";
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tidemark-restart-"));
});
afterEach(() => rm(dataDir, { recursive: true }));

const run = (options: Partial<ClusterOptions> = {}) => runCluster({ dataDir, ...options });

const failure = async (options: Partial<ClusterOptions> = {}): Promise<TidemarkError> => {
  const error = await run(options).catch((cause: unknown) => cause);
  if (!(error instanceof TidemarkError))
    throw new TypeError(`Expected a TidemarkError, got ${String(error)}`);
  return error;
};

const journal = () => join(dataDir, "cluster-writes.jsonl");

describe("a data folder", () => {
  it("goes on as if nothing had happened", async () => {
    const first = await run();
    expect(first.resumedAfterMs).toBeUndefined();
    first.time.nowMs += 60_000;
    await first.fetch(SCALE, { method: "PUT", body: { spec: { replicas: 5 } } });
    first.time.nowMs += 33_000;
    const before = {
      pods: (await first.fetch("/api/v1/pods")).json,
      statistics: first.each(statistics),
      readings: first.each(reading),
    };
    const { kubeConfig } = first;
    await first.close();

    const second = await run();
    expect(second.resumedAfterMs).toBe(START_MS + 60_000);
    expect(second.startMs).toBe(START_MS);
    second.time.nowMs = START_MS + 93_000;
    expect({
      pods: (await second.fetch("/api/v1/pods")).json,
      statistics: second.each(statistics),
      readings: second.each(reading),
    }).toEqual(before);
    expect(second.kubeConfig.getCurrentUser()).toEqual(kubeConfig.getCurrentUser());
    expect(second.kubeConfig.getCurrentCluster()?.caData).toBe(
      kubeConfig.getCurrentCluster()?.caData,
    );
    await second.close();
  });

  it("keeps its secrets to its owner", async () => {
    const cluster = await run();
    for (const file of ["cluster-credentials.json", "kubeconfig", "cluster-writes.jsonl"])
      expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
    await cluster.close();
  });

  it("renews a certificate that is about to expire, and keeps the token", async () => {
    const first = await run();
    const user = first.kubeConfig.getCurrentUser();
    const caData = first.kubeConfig.getCurrentCluster()?.caData;
    await first.close();
    const inAYearMs = Date.now() + 380 * 86_400_000;
    const second = await run({ wallClock: () => inAYearMs });
    expect(second.kubeConfig.getCurrentUser()).toEqual(user);
    expect(second.kubeConfig.getCurrentCluster()?.caData).not.toBe(caData);
    await second.close();
  });

  it("never loses a write that was answered, whenever the process is killed", async () => {
    const script = fileURLToPath(new URL("./killed-process.ts", import.meta.url));
    for (let round = 1; round <= 2; round++) {
      const child = spawn(process.execPath, [script, dataDir, String(round * 1000)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [url] = await once(child.stdout.setEncoding("utf8"), "data");
      const credentials = JSON.parse(
        await readFile(join(dataDir, "cluster-credentials.json"), "utf8"),
      );
      const answer = await httpsRequest(`${String(url).trim()}${SCALE}`, credentials, {
        method: "PUT",
        body: { spec: { replicas: 2 + round } },
      });
      expect(answer.code).toBe(200);
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const cluster = await run();
    expect(cluster.resumedAfterMs).toBe(START_MS + 2000);
    expect((await cluster.fetch(SCALE)).json).toMatchObject({ spec: { replicas: 4 } });
    expect(
      (await cluster.fetch("/apis/apps/v1/namespaces/shop/deployments/web")).json,
    ).toMatchObject({ metadata: { generation: 3 } });
    await cluster.close();
  });

  it("drops half a line, which was never answered, and goes on behind it", async () => {
    const first = await run();
    await first.fetch(SCALE, { method: "PUT", body: { spec: { replicas: 5 } } });
    await first.close();
    await appendFile(journal(), '{"atMs":17676000');
    const second = await run();
    await second.fetch(SCALE, { method: "PUT", body: { spec: { replicas: 6 } } });
    await second.close();
    const third = await run();
    expect((await third.fetch("/apis/apps/v1/namespaces/shop/deployments/web")).json).toMatchObject(
      {
        metadata: { generation: 3 },
        spec: { replicas: 6 },
      },
    );
    await third.close();
  });

  it.each([
    ["of another seed", { seed: 2 }, "its seed is 1, not 2"],
    [
      "of other workloads",
      { workloads: [workload({ initialReplicas: 3 })] },
      "its workloads or traces are others",
    ],
  ])("is refused for a run %s", async (_, options, why) => {
    await (await run()).close();
    const error = await failure(options);
    expect(error.code).toBe("local.cluster-differs");
    expect(error.message).toBe(`Cannot continue the simulated cluster in "${dataDir}": ${why}`);
    await (await run({ workloads: [workload({ targetCpuPercent: 70 })] })).close();
  });

  it("is refused when its journal is broken in the middle", async () => {
    await (await run()).close();
    await writeFile(journal(), `${await readFile(journal(), "utf8")}nonsense\n`);
    const error = await failure();
    expect(error.code).toBe("local.journal-broken");
    expect(error.message).toBe(
      `Cannot continue the simulated cluster: line 2 of "${journal()}" is not what was written there`,
    );
  });

  it("is refused when its credentials are broken", async () => {
    await (await run()).close();
    await writeFile(join(dataDir, "cluster-credentials.json"), "{}");
    expect((await failure()).code).toBe("local.credentials-unreadable");
  });
});
