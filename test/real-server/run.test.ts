import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { exportedEvents, startRun, tidemark } from "../e2e/start-process.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { until } from "./scene.ts";

const dir = mkdtempSync(join(tmpdir(), "tidemark-real-run-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

onServer("npm start -- --kubeconfig on a real API server", (newScene) => {
  it("scales a Deployment as the user tidemark, and the command tells why", async () => {
    const scene = await newScene("run");
    const workload = await scene.make("Deployment", "web", 2);
    await scene.running(workload, 2);
    await scene.metrics({ [`cpu ${scene.namespace}/web`]: 300 });
    const manifest = MANIFESTS.hpa(workload, "cpu");
    const [file, data] = [join(dir, "web.json"), join(dir, "data")];
    writeFileSync(
      file,
      JSON.stringify({
        ...manifest,
        metadata: { ...manifest.metadata, namespace: scene.namespace },
      }),
    );
    const run = startRun(["--kubeconfig", scene.kubeconfig, "--manifest", file, "--data", data]);
    await until("the deployment is scaled", async () => (await scene.replicas(workload)) === 3);
    await scene.running(workload, 3);
    run.child.kill("SIGTERM");
    const { code, err } = await run.ended;
    expect([code, err]).toEqual([0, ""]);
    expect(await exportedEvents(data)).toMatchObject([
      { name: "web", from: 2, to: 3, outcome: "applied" },
    ]);
    const { out } = await tidemark(["describe", "web", "--data", data]);
    expect(out).toContain("MetricAboveTarget: cpu 150% of 100% asks for 3");
  });
});
