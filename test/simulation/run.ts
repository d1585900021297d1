import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { olderCommit, olderTree } from "./beside/older-tree.ts";
import { type Coverage, coverageText, joinedCoverage } from "./coverage.ts";
import type { SeedOutcome } from "./seed.ts";

/**
 * `npm run simulate -- --seeds N [--first-seed K] [--coverage] [--beside [COMMIT]]`: plays seeds K
 * … K+N−1, prints the story of each that fails, and ends with 1 if one did. With --coverage it also
 * tells which faults met which calls. With --beside a part of the environments work by the build of
 * another commit, by default the newest tag, over the same table. With --weeks the seeds are of
 * weeks, which judge what readers are shown.
 */
const { values } = parseArgs({
  // "--beside" alone means the newest tag.
  args: process.argv
    .slice(2)
    .flatMap((arg, at, all) =>
      arg === "--beside" && (all[at + 1] ?? "--").startsWith("--") ? ["--beside="] : [arg],
    ),
  options: {
    seeds: { type: "string", default: "100" },
    "first-seed": { type: "string", default: "0" },
    coverage: { type: "boolean", default: false },
    beside: { type: "string" },
    weeks: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(
    "npm run simulate -- [--seeds N] [--first-seed K] [--coverage] [--beside [COMMIT]] [--weeks]\n",
  );
  process.exit(0);
}
const besideFolder = besideFolderOf(values.beside);
const seeds = Number(values.seeds);
const first = Number(values["first-seed"]);
if (!Number.isInteger(seeds) || seeds < 1 || !Number.isInteger(first) || first < 0) {
  process.stderr.write(
    "Cannot simulate: --seeds must be a whole number above 0, --first-seed one not below 0\n",
  );
  process.exit(2);
}

const SECOND_MS = 1_000;
const PROGRESS_MS = 250;
/** Without a terminal there is a line of progress for so many seeds. */
const SEEDS_PER_LINE = 1_000;
const { stdout } = process;
const startedMs = performance.now();
let next = first;
let passed = 0;
let failed = 0;
let toldMs = 0;
const coverages: Coverage[] = [];

const progress = (): void => {
  const played = passed + failed;
  const due = stdout.isTTY
    ? performance.now() - toldMs >= PROGRESS_MS
    : played % SEEDS_PER_LINE === 0;
  if (!due) return;
  toldMs = performance.now();
  const rate = played / ((toldMs - startedMs) / SECOND_MS);
  const text = `${played} of ${seeds} seeds, ${failed} failed, ${rate.toFixed(1)} a second`;
  stdout.write(stdout.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
};

const told = ({ seed, violation, story, coverage }: SeedOutcome): void => {
  if (values.coverage) coverages.push(coverage);
  if (!violation) {
    passed++;
    return;
  }
  failed++;
  if (stdout.isTTY) stdout.write("\r\u001b[K");
  stdout.write(
    `Seed ${seed} failed: ${violation.invariant}\n${story.map((line) => `  ${line}\n`).join("")}  ${violation.message}\n`,
  );
  const kind = values.weeks ? " --weeks" : "";
  stdout.write(`  Play it alone: npm run simulate --${kind} --seeds 1 --first-seed ${seed}\n`);
};

/** One thread that plays seed after seed until none is left. */
const playAll = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./seeds-worker.ts", import.meta.url), {
      workerData: { besideFolder, weeks: values.weeks },
    });
    const go = (): void => {
      if (next < first + seeds) worker.postMessage(next++);
      else void worker.terminate().then(() => resolve());
    };
    worker.on("message", (outcome: SeedOutcome) => {
      told(outcome);
      progress();
      go();
    });
    worker.on("error", reject);
    go();
  });

await Promise.all(Array.from({ length: Math.min(availableParallelism(), seeds) }, playAll));
if (stdout.isTTY) stdout.write("\r\u001b[K");
if (values.coverage) stdout.write(`${coverageText(joinedCoverage(coverages))}\n`);
const took = (performance.now() - startedMs) / SECOND_MS;
stdout.write(
  `${seeds} seeds in ${took.toFixed(1)} s, ${(seeds / took).toFixed(1)} a second\n${passed} passed, ${failed} failed\n`,
);
process.exitCode = failed > 0 ? 1 : 0;

/**
 * The sources of the older build, or undefined where none is wanted. The folder is removed when
 * this process ends.
 */
function besideFolderOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  try {
    const commit = olderCommit(name === "" ? undefined : name);
    const folder = olderTree(commit);
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    process.stdout.write(`Beside ${commit.slice(0, 12)}\n`);
    return folder;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
