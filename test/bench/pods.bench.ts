import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINES } from "../contracts/engines.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { appsOf, fillCluster } from "../control-plane/fill.ts";
import { startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { startControlPlane } from "../control-plane/start.ts";
import { bareLists } from "./bare-lists.ts";
import { CPU } from "./burst-subject.ts";
import { medians, openSubject, type RunningEngine, steadySyncs } from "./cluster.bench.ts";

/**
 * `npm run bench -- pods`: what a steady sync asks of a real API server, and what comes over the
 * network, by the number of pods of a workload. Fails where it cannot measure.
 */
const WORKLOADS = 250;
const PODS = [1, 5, 20] as const;
const PACE_MS = 1_500;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

export const run = async (): Promise<void> => {
  const binaries = controlPlaneBinaries();
  const engine = ENGINES.find(({ name }) => name === "dynoxide");
  const missing = binaries.kind === "missing" ? binaries.message : engine?.missing;
  if (binaries.kind === "missing" || !engine || missing !== undefined) {
    say(`Not measured: ${missing}`);
    process.exitCode = 1;
    return;
  }
  say(
    "| pods of a workload | KiB of a sync | calls | own CPU ms | API server CPU ms | other work |",
  );
  say("|---:|---:|---:|---:|---:|---:|");
  const lists: string[] = [];
  for (const pods of PODS) {
    const started = await engine.start();
    try {
      const { row, bare } = await measured(pods, binaries.folder, started);
      say(row);
      lists.push(`${pods} pods: ${bare}`);
    } finally {
      await started.close();
    }
  }
  say(`Bare LISTs. ${lists.join(". ")}`);
};

const measured = async (
  pods: number,
  binaries: string,
  engine: RunningEngine,
): Promise<{ readonly row: string; readonly bare: string }> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-pods-"));
  const plane = await startControlPlane(binaries);
  try {
    const apps = appsOf(WORKLOADS).map((app) => ({ ...app, pods }));
    await fillCluster(plane, apps);
    const adapter = await startMetricsAdapter(plane, apps, dir);
    adapter.cpuMilli = CPU.calm;
    const subject = await openSubject({ plane, apps, dir }, engine);
    const { steady, serverMs, others } = await steadySyncs(plane, subject.sync, PACE_MS);
    const { bytes, calls, ownMs } = medians(steady);
    const bare = await bareLists(plane);
    await subject.stop();
    await adapter.close();
    const numbers = [pods, bytes / 1_024, calls, ownMs, serverMs].map((one) =>
      Math.round(one).toLocaleString("en"),
    );
    return { row: `| ${numbers.join(" | ")} | ${Math.round(others * 100)} % |`, bare };
  } finally {
    await plane.close();
    rmSync(dir, { recursive: true, force: true });
  }
};
