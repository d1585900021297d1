import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { killedRun } from "./killed-run.ts";
import { exportedEvents, replicasNow, startRun } from "./start-process.ts";
import { story } from "./story.ts";

const TOTAL_MS = 20 * 60_000;
const ARGS = ["--seed", "7", "--speed", "100000"];
/** A few moments; `npm run prove -- kill-test --kills 50` takes many at random. */
const KILLS = [
  { since: "greeting", ms: 100 },
  { since: "spawn", ms: 600 },
  { since: "greeting", ms: 500 },
  { since: "greeting", ms: 900 },
] as const;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-kill-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("a run that is killed again and again", () => {
  it("has the same events and replicas as one that was not disturbed, and says that it went on", {
    timeout: 180_000,
  }, async () => {
    const [calm, killed] = [join(dir, "calm"), join(dir, "killed")];
    expect((await startRun(["--data", calm, "--for", `${TOTAL_MS}ms`, ...ARGS]).ended).code).toBe(
      0,
    );
    const { killedAtMs, said } = await killedRun({
      data: killed,
      args: ARGS,
      totalMs: TOTAL_MS,
      kills: KILLS,
    });
    expect(killedAtMs.length).toBeGreaterThan(1);
    expect(said.join("")).toMatch(/^Resumed at .* virtual time/m);
    expect(story(await exportedEvents(killed))).toEqual(story(await exportedEvents(calm)));
    expect(await replicasNow(killed)).toEqual(await replicasNow(calm));
  });

  it("is not taken for killed when it was over before", { timeout: 60_000 }, async () => {
    const kills = [
      { since: "greeting", ms: 60_000 } as const,
      { since: "greeting", ms: 0 } as const,
    ];
    const { killedAtMs, said } = await killedRun({
      data: join(dir, "short"),
      args: ARGS,
      totalMs: 60_000,
      kills,
    });
    expect([killedAtMs, said.length]).toEqual([[], 1]);
  });
});
