import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hpa, podAutoscaler } from "../replay/world.ts";
import { inside } from "./inside.ts";

let folder: string;
const path = (name: string): string => join(folder, name);
const START_SECONDS = Date.UTC(2026, 0, 5) / 1_000;
const MINUTES = 360;

/** Six hours with a wave of 40 minutes, and a jump to the fourfold once in two hours. */
const loadAt = (minute: number): number =>
  Math.round((150 + 80 * Math.sin(minute / 6.4)) * (minute % 120 < 8 ? 4 : 1));
const csvOf = (valueAt: (minute: number) => number | undefined): string => {
  const rows = Array.from({ length: MINUTES }, (_, at) => {
    const value = valueAt(at);
    return value === undefined ? [] : [`${START_SECONDS + at * 60},${value}`];
  });
  return `timestamp,value\n${rows.flat().join("\n")}\n`;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-tune-"));
  writeFileSync(path("load.csv"), csvOf(loadAt));
  writeFileSync(
    path("gap.csv"),
    csvOf((at) => (at > 200 && at < 230 ? undefined : loadAt(at))),
  );
  // What each of eight pods used, and no more than all of its request.
  writeFileSync(
    path("use.csv"),
    csvOf((at) => Math.min(100, loadAt(at) / 4)),
  );
  writeFileSync(path("hpa.yaml"), JSON.stringify(hpa({ minReplicas: 4 })));
  const original = { rules: "hpa", hpa: { cpuUtilization: { targetPercentage: 80 } } };
  writeFileSync(path("original.yaml"), JSON.stringify(podAutoscaler(original)));
});
afterAll(() => rmSync(folder, { recursive: true }));

const never = async (): Promise<never> => {
  throw new Error("opened");
};
const ran = (words: readonly string[]) => inside(words, { open: never });
const tuned = (words: string, trace = "load.csv", files: readonly string[] = ["hpa.yaml"]) =>
  ran([
    ...[
      "tune",
      "--utc",
      "--quick",
      "--trace",
      path(trace),
      ...files.flatMap((file) => ["-f", path(file)]),
    ],
    ...words.split(" ").filter((word) => word !== ""),
  ]);
/** What a search of the load with capacity 100 says: asked once for the tests that only read it. */
const report = () => (asked ??= json("--capacity 100"));
let asked: ReturnType<typeof json> | undefined;
const json = async (words: string, trace?: string) => {
  const { code, out, err } = await tuned(`${words} -o json`, trace);
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
};

interface FoundPoint {
  readonly names: readonly string[];
  readonly settings: Readonly<Record<string, number>>;
  readonly figures: Readonly<Record<"replicaHours" | "aboveTarget" | "scales", number>>;
}
interface Point {
  readonly name: string;
  readonly holds: boolean;
  readonly differs?: string;
  readonly policy?: FoundPoint["figures"];
}

describe("tidemark tune --trace", () => {
  it("prints the front with a plot, the points on the other days, and what each changes", async () => {
    const { code, out, err } = await tuned("--capacity 100 --price 0.1");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("reported on 2026-01-05T03:18:00Z to 2026-01-05T06:00:00Z");
    expect(out).toMatch(/^POINT +HOURS +DOLLARS +ABOVE +REVERSALS +SCALES +TARGET/m);
    expect(out).toContain("○ as it is");
    expect(out).toMatch(/^replica-hours +[\d.]+ +[\d.]+ \([-+][\d.]+ %\)/m);
    expect(out).toMatch(/^--- current\n\+\+\+ (cheapest|safest|knee|fewest)$/m);
    expect(out).toContain("Nothing is applied");
  });

  it("gives the same answer for the same seed", async () => {
    const words = "--capacity 100 --seed 7";
    const [one, other] = [await json(words), await json(words)];
    expect(other).toEqual(one);
    expect((await json("--capacity 100 --seed 8")).front).not.toEqual(one.front);
  });

  it("has points that are what their names say on the days that were tuned on", async () => {
    const { now, front } = await report();
    const named = (name: string): readonly FoundPoint[] =>
      front.filter(({ names }: FoundPoint) => names.includes(name));
    expect(named("knee")).toHaveLength(1);
    for (const { figures } of [...named("cheapest"), ...named("safest")]) {
      expect(figures.replicaHours).toBeLessThanOrEqual(now.replicaHours);
      expect(figures.aboveTarget).toBeLessThanOrEqual(now.aboveTarget);
    }
    for (const { figures } of named("fewest"))
      expect(figures.scales).toBeLessThanOrEqual(now.scales);
  });

  it("says of each name whether it holds on the other days", async () => {
    const { points } = await report();
    const [current, ...named] = points as readonly Point[];
    for (const { holds, differs } of named) expect(differs === undefined).toBe(holds);
    const held = named.filter(({ name, holds, policy }) => policy && holds && name !== "knee");
    for (const { name, policy } of held) {
      const dearest = (current?.policy?.replicaHours ?? 0) * (name === "fewest" ? 1.05 : 1);
      expect(policy?.replicaHours).toBeLessThanOrEqual(dearest);
      expect(policy?.aboveTarget).toBeLessThanOrEqual(current?.policy?.aboveTarget ?? 0);
    }
  });

  it("never has a minimum below the one that keeps the worst hour served, and says which that is", async () => {
    const { guards, front } = await report();
    const [, least = "0"] = /^minReplicas is (\d+) at least/.exec(guards[0]) ?? [];
    // The jumps to the fourfold hit the troughs of the wave, where the minimum is what there is.
    expect(Number(least)).toBeGreaterThan(1);
    for (const { settings } of front as readonly FoundPoint[])
      expect(settings["minReplicas"]).toBeGreaterThanOrEqual(Number(least));
  });

  it("never raises a target where the pods used all that they ask for, and says so", async () => {
    const { guards, front } = await json("--pods 8", "use.csv");
    expect(guards[1]).toMatch(/^No target rises: demand was cut off in [\d.]+ % of the time/);
    for (const { settings } of front as readonly FoundPoint[])
      expect(settings["targetPercent"]).toBeLessThanOrEqual(100);
  });

  it("raises a maximum only where the count was at it, never lowers it, and says so", async () => {
    const { guards, front } = await json("--capacity 100 --quick");
    expect(guards[2]).toMatch(/^maxReplicas stays at 20: the count was \d+ at most$/);
    for (const { settings } of front as readonly FoundPoint[])
      expect(settings["maxReplicas"]).toBe(20);
    // A pod serves so little that the maximum is what there is.
    const reached = await json("--capacity 10 --quick");
    expect(reached.guards[2]).toBe(
      "maxReplicas may rise up to 40, because the count was at 20; --keep max leaves it there",
    );
    for (const { settings } of reached.front as readonly FoundPoint[])
      expect(settings["maxReplicas"]).toBeGreaterThanOrEqual(20);
  });

  it("keeps what it is told to keep", async () => {
    const { guards, front } = await json("--capacity 100 --keep min,max,target");
    expect(guards.join()).not.toContain("maxReplicas");
    for (const { settings } of front as readonly FoundPoint[])
      expect(settings).toMatchObject({ minReplicas: 4, maxReplicas: 20, targetPercent: 100 });
  });

  it("leaves a gap of the load out of every share", async () => {
    const { points } = await json("--capacity 100", "gap.csv");
    for (const { policy } of points) expect(policy?.coverage ?? 0).toBeLessThan(0.9);
  });

  it("writes the manifest of each point once, and a replay of it has the figures of the report", async () => {
    const words = `--capacity 100 --write ${path("tuned")}`;
    const { points } = JSON.parse((await tuned(`${words} -o json`)).out);
    const knee = points.find(({ name }: Point) => name === "knee").policy;
    expect(readdirSync(path("tuned"))).toEqual(
      expect.arrayContaining(["current.yaml", "knee.yaml"]),
    );
    const replay = await ran([
      ...["replay", "--trace", path("load.csv"), "--capacity", "100", "--warm-up", "198m"],
      ...["-f", path("hpa.yaml"), "-f", path("tuned/knee.yaml"), "-o", "json"],
    ]);
    const { policies } = JSON.parse(replay.out);
    expect(policies[1]).toMatchObject({
      ...{ replicaHours: knee.replicaHours, aboveTarget: knee.aboveTarget, scales: knee.scales },
    });
    const again = await tuned(`${words} -o csv`);
    expect(again.out).toMatch(/^POINT,HOURS,ABOVE/);
    expect(again.err).toContain("is there already; give another folder");
  });

  it.each([
    ["markdown", /^### What better numbers would have done[\s\S]*```diff/],
    ["yaml", /^of: load\.csv/],
  ])("prints %s", async (format, form) => {
    expect((await tuned(`--capacity 100 -o ${format}`)).out).toMatch(form);
  });

  it.each([
    ["--days 7+7", 'Cannot use --days "7+7": 5h24m are known'],
    ["--days 7", 'Cannot use --days "7" here: give two numbers, the days to tune on and the days'],
    ["--keep cost", 'Cannot read --keep "cost": give some of target,tolerances'],
    ["--keep target,tolerances,windows,policies,min,max", "there is nothing left to tune"],
    ["--seed x", 'Cannot read --seed "x": give a whole number from 0 to 2147483647'],
    ["--since 3d", "Cannot use --since with --trace"],
  ])("refuses %s", async (words, message) => {
    const { code, err } = await tuned(words);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  it("refuses two manifests, and rules that have no native form, by their name", async () => {
    const two = await tuned("", "load.csv", ["hpa.yaml", "original.yaml"]);
    expect(two.err).toContain("Cannot tune 2 manifests together");
    const original = await tuned("", "load.csv", ["original.yaml"]);
    expect(original.err).toContain('Cannot tune "original.yaml": its rules have no counterpart');
    expect(original.err).toContain("(original)");
  });
});
