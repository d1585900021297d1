import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { type Kill, killedRun } from "./killed-run.ts";
import { exportedEvents, replicasNow, startRun } from "./start-process.ts";
import { story } from "./story.ts";

/**
 * `npm run kill-test -- --kills 50`: kills one run at random moments and compares its events and replicas with those of an undisturbed run. Prints one line per start; ends
 * with 1 and the difference when the stories differ.
 */
const { values } = parseArgs({
  options: { kills: { type: "string", default: "50" }, seed: { type: "string", default: "7" } },
});
/** Virtual time that a run plays between two kills, more or less: so the run is long enough to be killed as often as asked. */
const MINUTES_PER_KILL = 4;
const totalMs = Number(values.kills) * MINUTES_PER_KILL * 60_000;
const args = ["--seed", values.seed, "--speed", "100000"];
/** Most kills meet a run at work, some its start. */
const AT_START_SHARE = 0.2;
const randomKill = (): Kill =>
  Math.random() < AT_START_SHARE ? { since: "spawn", ms: Math.random() * 1500 } : { since: "greeting", ms: Math.random() * 1500 };

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const dir = mkdtempSync(join(tmpdir(), "tidemark-kill-test-"));
try {
  const [calm, killed] = [join(dir, "calm"), join(dir, "killed")];
  const { code, err } = await startRun(["--data", calm, "--for", `${totalMs}ms`, ...args]).ended;
  if (code !== 0) throw new Error(`The undisturbed run ended with ${code}: ${err}`);
  const { kills, said } = await killedRun({ data: killed, args, totalMs, kills: Array.from({ length: Number(values.kills) }, randomKill) });
  for (const out of said) print(out.split("\n")[0] || "(killed before its first word)");
  const [wanted, got] = await Promise.all(
    [calm, killed].map(async (data) => ({ events: story(await exportedEvents(data)), replicas: await replicasNow(data) })),
  );
  const same = isDeepStrictEqual(wanted, got);
  print(`${kills} of ${values.kills} kills, ${got?.events.length} events, ${same ? "the same story" : "another story"}`);
  if (!same) {
    const texts = (part: typeof wanted) => part?.events.map((event) => JSON.stringify(event)) ?? [];
    for (const line of texts(wanted)) if (!texts(got).includes(line)) print(`- ${line}`);
    for (const line of texts(got)) if (!texts(wanted).includes(line)) print(`+ ${line}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
