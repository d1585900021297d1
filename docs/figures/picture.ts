import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import { openDataFolder } from "../../lib/cli/session.ts";
import { readIdentity } from "../../lib/local/about.ts";
import type { WorkloadDefinition } from "../../lib/local/cluster/definition.ts";
import { demonstrationWorkloads } from "../../lib/local/cluster/demonstration.ts";
import { folderLayout } from "../../lib/local/folder-layout.ts";
import { demandAt } from "../../lib/local/traces/trace.ts";
import type { EventView } from "../../lib/service/views.ts";
import { type ChartedWorkload, runChart } from "./run-chart.ts";

/**
 * `npm run picture`: plays three virtual hours of the demonstration, reads the scale events that were stored, and draws them over the recorded load into docs/images. The
 * same seed gives the same picture.
 */
const HOURS = 3;
const MINUTES = HOURS * 60;
const MINUTE_MS = 60_000;
const IMAGES = join(import.meta.dirname, "../images");
const START = join(import.meta.dirname, "../../lib/local/start.ts");

const TITLES: Readonly<Record<string, string>> = {
  daily: "a day's ramp, calls per minute of one Azure function",
  steps: "steps, and five minutes without metrics, calls per minute of another",
  crowd: "requests per minute to NASA's web server around a launch",
};

const play = async (data: string): Promise<void> => {
  const child = spawn(process.execPath, [START, "--speed", "600", "--for", `${HOURS}h`, "--seed", "1", "--data", data], { stdio: "ignore" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`Cannot draw a run: it ended with ${code}`);
};

const storedEvents = async (data: string): Promise<readonly EventView[]> => {
  const session = await openDataFolder(data, "picture");
  try {
    const events: EventView[] = [];
    for await (const event of session.service.events({})) events.push(event);
    return events;
  } finally {
    await session.close();
  }
};

const charted = (definition: WorkloadDefinition, events: readonly EventView[], startMs: number): ChartedWorkload => {
  const { name, trace, traceOffsetMs = 0, outages = [], requests, targetCpuPercent = 100, cpuMillicoresPerUnit, initialReplicas } = definition;
  const unitsPerPod = (requests.cpuMillicores * targetCpuPercent) / 100 / cpuMillicoresPerUnit;
  const needed = Array.from({ length: MINUTES + 1 }, (_, minute) => {
    const atMs = minute * MINUTE_MS;
    const { value, missing } = demandAt(trace, traceOffsetMs + atMs);
    const unseen = missing || outages.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
    return { minute, pods: unseen ? undefined : value / unitsPerPod };
  });
  const scales = events
    .filter((event) => event.name === name && event.outcome !== "refused")
    .map(({ at, from, to }) => ({ minute: (Date.parse(at) - startMs) / MINUTE_MS, from, to }));
  return { name, title: TITLES[name] ?? "", needed, initialReplicas, scales };
};

const data = mkdtempSync(join(tmpdir(), "tidemark-picture-"));
try {
  await play(data);
  const about = readIdentity(folderLayout(data));
  if (about === undefined || about === "beginning") throw new Error("Cannot draw a run: its folder does not say when it began");
  const { startMs } = about;
  const events = await storedEvents(data);
  const svg = runChart(
    (await demonstrationWorkloads()).map((definition) => charted(definition, events, startMs)),
    MINUTES,
  );
  mkdirSync(IMAGES, { recursive: true });
  writeFileSync(join(IMAGES, "run.svg"), svg);
  writeFileSync(join(IMAGES, "run.png"), new Resvg(svg, { background: "white", fitTo: { mode: "zoom", value: 2 } }).render().asPng());
  process.stdout.write(`${events.length} scale events in docs/images/run.svg and run.png\n`);
} finally {
  rmSync(data, { recursive: true, force: true });
}
