import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportedEvents, startRun, tidemark } from "./start-process.ts";

/** Office hours in Berlin with a ramp and a holiday, the Saturday. */
const OFFICE = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: office, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: office }
  minReplicas: 2
  maxReplicas: 40
  metrics: [{ resource: { name: cpu }, target: 60 }]
  schedule:
    - { name: hours, timeZone: Europe/Berlin, days: [Mon-Sun], from: "08:00", to: "18:00", minReplicas: 20, rampMinutes: { in: 60 }, except: [2024-03-30] }
`;
/**
 * On Sunday, 31 March 2024, the clock of Berlin goes one hour ahead. The run begins on the Friday
 * before, and ends when the office is open on Sunday.
 */
const BEGIN = "2024-03-29T04:00:00Z";
const START_MS_MAX = 5_000;
const SPEED = ["--seed", "7", "--speed", "100000"];

let dir: string;
let data: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-clock-"));
  data = join(dir, "run");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * The CPU time of all processes that this one started and that ended (proc(5)), in ticks of 10 ms:
 * another program on the machine does not change it.
 */
const startedCpuMs = (): number => {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return 10 * (Number(fields[13]) + Number(fields[14]));
};

const said = async (...args: readonly string[]): Promise<string> => {
  const { code, out, err } = await tidemark([...args, "--data", data]);
  if (code !== 0) throw new Error(`tidemark ${args.join(" ")} ended with ${code}: ${err}`);
  return out;
};

describe("three days with a change of the clock", { retry: 0, timeout: 900_000 }, () => {
  it("opens the office at eight by the local clock on both sides of the change, with its ramp, and not on the holiday; an override that was forgotten ends by itself", async () => {
    const manifest = join(dir, "office.yaml");
    writeFileSync(manifest, OFFICE);
    const first = await startRun([
      "--data",
      data,
      "--manifest",
      manifest,
      "--begin",
      BEGIN,
      "--for",
      "1m",
      ...SPEED,
    ]).ended;
    expect([first.code, first.err]).toEqual([0, ""]);
    // A sync each quarter of an hour, so that the days are played in half a minute.
    await said("cluster", "add", "local", "--replace", "--period", "15m");
    await said(
      "override",
      "set",
      "shop/office",
      "--min",
      "30",
      "--until",
      "90m",
      "--reason",
      "incident 4711",
    );
    const run = await startRun(["--data", data, "--for", "51h", ...SPEED]).ended;
    expect([run.code, run.err]).toEqual([0, ""]);

    // A start over such a history, and its end, take five seconds on a machine with nothing else to
    // do.
    const beforeMs = startedCpuMs();
    const resumed = await startRun(["--data", data, "--for", "1m", ...SPEED]).ended;
    expect([resumed.code, resumed.err]).toEqual([0, ""]);
    const tookMs = startedCpuMs() - beforeMs;
    expect(tookMs).toBeGreaterThan(0);
    expect(tookMs).toBeLessThan(START_MS_MAX);

    const events = await exportedEvents(data);
    const countAt = (time: string): number =>
      events.findLast(({ at }) => Date.parse(at) <= Date.parse(time))?.to ?? 0;
    const raised = (day: string) =>
      events.filter(
        ({ at, reason, message }) =>
          at.startsWith(day) &&
          reason === "SetMinimum" &&
          message?.includes('by the schedule "hours"'),
      );
    // The incident: the override holds for 90 minutes, and the metrics decide again.
    expect(countAt("2024-03-29T04:20:00Z")).toBe(30);
    expect(countAt("2024-03-29T05:50:00Z")).toBeLessThan(30);
    // Eight o'clock is at 07:00 UTC on Friday and at 06:00 UTC on Sunday. A sync comes a
    // quarter of an hour later at most.
    for (const eight of ["2024-03-29T07:15:00Z", "2024-03-31T06:15:00Z"])
      expect(countAt(eight)).toBeGreaterThanOrEqual(20);
    const [ramp, full] = raised("2024-03-31");
    expect(ramp?.message).toContain("on its ramp up");
    expect([
      full?.to,
      full && full.at > "2024-03-31T06:00" && full.at < "2024-03-31T06:15",
    ]).toEqual([20, true]);
    // The holiday has no floor.
    expect(raised("2024-03-30")).toEqual([]);

    // The same is said by the commands: the view of the run, the schedule, and the explanation of a
    // moment.
    expect(run.out).toMatch(
      /shop\/office \d+ → \d+ applied: SetMinimum, .*minReplicas is \d+ by the schedule "hours", on its ramp up/,
    );
    expect(await said("override", "list", "--all", "--expired")).toContain("incident 4711");
    expect(await said("override", "list")).toContain("No overrides");
    const ahead = await said(
      "schedule",
      "shop/office",
      "--utc",
      "--at",
      "2024-04-06T20:00:00Z",
      "--next",
      "2",
    );
    expect(ahead).toContain("2024-04-07 08:00 Europe/Berlin   2024-04-07T06:00:00Z   20");
    const explained = await said("explain", "shop/office", "--utc", "--at", "2024-03-31T06:30:00Z");
    expect(explained).toMatch(/minReplicas\s+20\s+by the schedule "hours"/);
  });
});
