import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import * as z from "zod";
import { shippedTracePath } from "../../../lib/embedded/traces/read-trace.ts";
import { MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { hpa, podAutoscaler } from "../world.ts";
import { noise } from "./loads.ts";

/**
 * `npm run prove -- forecast [--trace FILE]…`: replays an HPA over recorded and made loads of some
 * days, and the same HPA whose minimum follows forecasts, as `tidemark replay --trace` does.
 */
const { values } = parseArgs({
  options: { trace: { type: "string", multiple: true, default: [] } },
});

const folder = mkdtempSync(join(tmpdir(), "tidemark-prove-forecast-"));
const written = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const DAY_MINUTES = 1_440;
/** Two weeks of an office, with weekends and noise: a load that comes again. */
const office = (): string => {
  const random = noise(17);
  const at = (minute: number): number => {
    const hour = (minute % DAY_MINUTES) / 60;
    const isWeekend = Math.floor(minute / DAY_MINUTES) % 7 >= 5;
    const worked = hour >= 7 && hour < 19 ? Math.sin((Math.PI * (hour - 7)) / 12) : 0;
    return (40 + (isWeekend ? 30 : 360) * worked) * (0.9 + 0.2 * random());
  };
  return made(at, 14);
};
/** Ten days of a load that wanders, and that no season foretells. */
const wandering = (): string => {
  const random = noise(5);
  let load = 200;
  return made(() => {
    load = Math.min(400, Math.max(40, load + 12 * (random() - 0.5)));
    return load;
  }, 10);
};
/** A week with a quarter of an hour of four times the load at each full hour. */
const hourly = (): string => {
  const random = noise(29);
  return made((minute) => (minute % 60 < 15 ? 320 : 80) * (0.9 + 0.2 * random()), 7);
};

const BEGIN_MS = Date.UTC(2026, 0, 5);
const made = (valueAt: (minute: number) => number, days: number): string =>
  [
    "timestamp,value",
    ...Array.from(
      { length: days * DAY_MINUTES },
      (_, minute) => `${(BEGIN_MS + minute * MINUTE_MS) / 1_000},${valueAt(minute).toFixed(1)}`,
    ),
    "",
  ].join("\n");

const LOADS = [
  shippedTracePath("nasa-http-launch-week-1m"),
  shippedTracePath("nab-ec2-cpu-noisy-5m"),
  written("made: an office.csv", office()),
  written("made: full hours.csv", hourly()),
  written("made: wandering.csv", wandering()),
];

const BOUNDS = { minReplicas: 2, maxReplicas: 60 };
const { metrics } = hpa().spec;
const advised = (quantile: string): object =>
  podAutoscaler({
    ...{ ...BOUNDS, rules: "hpa", hpa: { metrics } },
    advice: { forecast: "floor", horizonMinutes: 30, quantile },
  });
const POLICIES = ["without", "p50", "p90"] as const;
const files = [
  written("without.yaml", JSON.stringify(hpa(BOUNDS))),
  written("p50.yaml", JSON.stringify(advised("p50"))),
  written("p90.yaml", JSON.stringify(advised("p90"))),
];

const report = z.object({
  policies: z
    .array(
      z.object({
        replicaHours: z.number(),
        aboveTarget: z.number(),
        unserved: z.number(),
        scales: z.number(),
      }),
    )
    .length(POLICIES.length),
});

const replayed = (trace: string) => {
  const words = [
    "replay",
    "--trace",
    trace,
    "-o",
    "json",
    ...files.flatMap((path) => ["-f", path]),
  ];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "../../../bin/tidemark.js"), ...words],
    { encoding: "utf8", maxBuffer: 2 ** 26 },
  );
  if (status !== 0) throw new Error(`the replay of "${trace}" failed: ${stderr}`);
  return report.parse(JSON.parse(stdout)).policies;
};

const PERCENT = 100;
const inPercent = (share: number, digits = 1): string => `${(share * PERCENT).toFixed(digits)} %`;
const more = (share: number): string =>
  `${share >= 1 ? "+" : ""}${((share - 1) * PERCENT).toFixed(1)} %`;

const table = new Table({
  head: ["load", "policy", "above target", "not served", "replica-hours", "scales"],
  style: { head: [] },
});
let isWorse = false;
try {
  for (const trace of values.trace.length > 0 ? values.trace : LOADS) {
    const policies = replayed(trace);
    const [without] = policies;
    if (!without) throw new Error("a report has its policies");
    for (const [at, one] of policies.entries()) {
      const { aboveTarget, unserved, replicaHours, scales } = one;
      // A floor at what half of the steps need is inside the tolerance of the target as often as not.
      isWorse ||= POLICIES[at] === "p90" && aboveTarget > without.aboveTarget;
      table.push([
        ...[at === 0 ? basename(trace, ".csv") : "", POLICIES[at] ?? ""],
        ...[inPercent(aboveTarget, 2), inPercent(unserved, 2)],
        `${replicaHours.toFixed(0)}${at === 0 ? "" : ` (${more(replicaHours / without.replicaHours)})`}`,
        String(scales),
      ]);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${table.toString()}\n`);
if (isWorse) {
  process.stdout.write("A forecast by p90 raised the time above target.\n");
  process.exitCode = 1;
}
