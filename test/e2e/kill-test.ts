import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { VIRTUAL_START_MS } from "../../lib/embedded/run/setup.ts";
import { type Kill, type Killed, killedRun } from "./killed-run.ts";
import { exportedEvents, replicasNow, startRun } from "./start-process.ts";
import { story } from "./story.ts";

/**
 * `npm run prove -- kill-test --kills 50`: kills one run at random moments and compares its events
 * and replicas with those of an undisturbed run. Prints one line per start; ends with 1 when not
 * every kill met a living run, or, with the difference, when the stories differ.
 */
const { values } = parseArgs({
  options: { kills: { type: "string", default: "50" }, seed: { type: "string", default: "7" } },
});
const wantedKills = Number(values.kills);
if (!Number.isInteger(wantedKills) || wantedKills < 1)
  throw new RangeError(`Cannot kill "${values.kills}" times: wanted a whole number of at least 1`);

const MINUTE_MS = 60_000;
/**
 * Virtual time of the run for each kill, and its end that is left alone: far more than a run plays
 * in the longest random wait, however fast the machine.
 */
const MINUTES_PER_KILL = 8;
const MINUTES_AFTER = 60;
const killsEndMs = wantedKills * MINUTES_PER_KILL * MINUTE_MS;
const totalMs = killsEndMs + MINUTES_AFTER * MINUTE_MS;
const args = ["--seed", values.seed, "--speed", "100000"];

/**
 * One kill in each equal part of the virtual run. Some meet the start of the process; of the others
 * half meet a sync that scales, if the part has one, the rest any moment of the three or so syncs
 * that follow a random instant.
 */
const AT_START_SHARE = 0.2;
const AT_SCALE_SHARE = 0.5;
const START_MS = 1_200;
const SYNCS_MS = 40;
const ONE_SYNC_MS = 20;
const randomKills = (scalesAtMs: readonly number[]): readonly Kill[] =>
  Array.from({ length: wantedKills }, (_, at) => {
    if (Math.random() < AT_START_SHARE) return { since: "spawn", ms: Math.random() * START_MS };
    const [fromMs, partMs] = [(at / wantedKills) * killsEndMs, killsEndMs / wantedKills];
    const scales = scalesAtMs.filter((ms) => ms >= fromMs && ms < fromMs + partMs);
    const scaleMs = scales[Math.floor(Math.random() * scales.length)];
    if (scaleMs !== undefined && Math.random() < AT_SCALE_SHARE)
      return { since: "virtual", atMs: scaleMs, ms: Math.random() * ONE_SYNC_MS };
    return {
      since: "virtual",
      atMs: fromMs + Math.random() * partMs,
      ms: Math.random() * SYNCS_MS,
    };
  });

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const told = ({ killedAtMs, said }: Killed): string => {
  const silent = said.filter((out) => out === "").length;
  const resumed = said.filter((out) => out.includes("delivered again")).length;
  const settled = said.filter((out) => out.includes("under way")).length;
  const minutes = (ms: number | undefined): number => Math.round((ms ?? 0) / MINUTE_MS);
  return [
    `${killedAtMs.length} of ${wantedKills} kills`,
    `between minute ${minutes(killedAtMs[0])} and ${minutes(killedAtMs.at(-1))} of ${minutes(totalMs)}`,
    `${silent} before the run's first word`,
    `${resumed} left an unfinished sync`,
    `${settled} a scale under way`,
  ].join(", ");
};

const dir = mkdtempSync(join(tmpdir(), "tidemark-kill-test-"));
try {
  const [calm, killed] = [join(dir, "calm"), join(dir, "killed")];
  const { code, err } = await startRun(["--data", calm, "--for", `${totalMs}ms`, ...args]).ended;
  if (code !== 0) throw new Error(`The undisturbed run ended with ${code}: ${err}`);
  const scalesAtMs = (await exportedEvents(calm)).map(
    ({ at }) => Date.parse(at) - VIRTUAL_START_MS,
  );
  const done = await killedRun({ data: killed, args, totalMs, kills: randomKills(scalesAtMs) });
  for (const out of done.said) print(out.split("\n")[0] || "(killed before its first word)");
  print(told(done));
  if (done.killedAtMs.length < wantedKills) {
    print(`Cannot kill the run ${wantedKills} times: it ended after ${done.killedAtMs.length}`);
    process.exitCode = 1;
  }
  const [wanted, got] = await Promise.all(
    [calm, killed].map(async (data) => ({
      events: story(await exportedEvents(data)),
      replicas: await replicasNow(data),
    })),
  );
  const same = isDeepStrictEqual(wanted, got);
  print(
    `${got?.events.length} events and the replicas of ${Object.keys(got?.replicas ?? {}).length} workloads: ${same ? "the same story" : "another story"}`,
  );
  if (!same) {
    const texts = (part: typeof wanted) => [
      ...(part?.events ?? []).map((event) => JSON.stringify(event)),
      JSON.stringify(part?.replicas),
    ];
    for (const line of texts(wanted)) if (!texts(got).includes(line)) print(`- ${line}`);
    for (const line of texts(got)) if (!texts(wanted).includes(line)) print(`+ ${line}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
