import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hpa, podAutoscaler } from "../replay/world.ts";
import { inside } from "./inside.ts";

let folder: string;
const path = (name: string): string => join(folder, name);
const write = (name: string, content: unknown): void =>
  writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));

const cpuAt = (averageUtilization: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});

/** Ten hours: 90 units, and 280 from the sixth hour on. */
const START_SECONDS = Date.UTC(2026, 0, 5) / 1_000;
const SAMPLES = Array.from({ length: 600 }, (_, at) => [
  START_SECONDS + at * 60,
  at < 300 ? 90 : 280,
]);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-replay-"));
  write("load.csv", `timestamp,value\n${SAMPLES.map((sample) => sample.join(",")).join("\n")}\n`);
  const values = SAMPLES.map(([seconds, value]) => [seconds, String(value)]);
  const data = { resultType: "matrix", result: [{ metric: { __name__: "rps" }, values }] };
  write("load.json", { status: "success", data });
  write("hpa.yaml", hpa());
  const metrics = [{ resource: { name: "cpu" }, target: 50 }];
  write("slow.yaml", podAutoscaler({ metrics, scaleUp: { sustainSeconds: 600 } }));
  const memory = {
    type: "Resource",
    resource: { name: "memory", target: { type: "Utilization", averageUtilization: 50 } },
  };
  write("memory.yaml", hpa({ metrics: [memory] }));
});
afterAll(() => rmSync(folder, { recursive: true }));

const never = async (): Promise<never> => {
  throw new Error("opened");
};
const replayed = (
  words: string,
  files: readonly string[] = ["hpa.yaml", "slow.yaml"],
  trace = "load.csv",
) =>
  inside(
    [
      ...["replay", "--utc", "--trace", path(trace), "--capacity", "100"],
      ...files.flatMap((file) => ["-f", path(file)]),
      ...words.split(" ").filter((word) => word !== ""),
    ],
    { open: never },
  );

describe("tidemark replay --trace", () => {
  it("says how long the pods were too few where they are until the end", async () => {
    write("low.yaml", hpa({ maxReplicas: 20, metrics: [cpuAt(95)] }));
    const { out } = await replayed("-o json", ["hpa.yaml", "low.yaml"]);
    const [first, low] = JSON.parse(out).policies;
    expect(low.aboveTarget).toBe(1);
    // The warm-up takes an hour of the ten, and the target is missed before and after it.
    expect(low.reactionSeconds).toMatchObject({ times: 1 });
    expect(low.reactionSeconds.worst).toBeGreaterThan(9.9 * 3_600);
    expect(first.reactionSeconds.worst).toBeLessThan(300);
  });

  it("shows nothing of a day that the load does not have, in hours neither", async () => {
    const seconds = Array.from({ length: 3 * 1_440 }, (_, at) => START_SECONDS + at * 60);
    const known = seconds.filter((_, at) => at < 1_440 || at >= 2_880);
    write("holes.csv", `timestamp,value\n${known.map((at) => `${at},90`).join("\n")}\n`);
    const { out } = await replayed("", ["hpa.yaml"], "holes.csv");
    expect(out).toMatch(/^known +66.2 %$/m);
    expect(out).toMatch(/^2026-01-06 +unknown +unknown$/m);
    expect(out).toMatch(/^replica-hours +94$/m);
  });

  it("counts the last days only, also as tune parts them, after windows that the days before fill", async () => {
    const at = Array.from({ length: 3 * 96 }, (_, quarter) => START_SECONDS + quarter * 900);
    const values = at.map((seconds, quarter) => `${seconds},${quarter < 96 ? 280 : 90}`);
    write("days.csv", `timestamp,value\n${values.join("\n")}\n`);
    const counted = async (words: string) =>
      JSON.parse((await replayed(`${words} -o json`, ["hpa.yaml"], "days.csv")).out);
    const [whole, two, parted] = [
      await counted(""),
      await counted("--days 2"),
      await counted("--days 1+2"),
    ];
    expect(two).toEqual(parted);
    expect(two.since).toBe("2026-01-06T00:00:00.000Z");
    expect(two.policies[0].days).toHaveLength(2);
    expect(two.policies[0].replicaHours).toBeLessThan(whole.policies[0].replicaHours / 2);
    // The stabilization of the day before holds the larger count for five minutes.
    expect(two.policies[0].replicaHours).toBeGreaterThan(2 * 48);
  });

  it("makes the price of a pod from what it asks for and the prices of a vCPU and a GB", async () => {
    const dollars = async (words: string) =>
      JSON.parse((await replayed(`-o json ${words}`, ["hpa.yaml"])).out).policies[0].dollars;
    // Half a vCPU at 0.04, and two GB at 0.005.
    expect(await dollars("--price vcpu=0.04,gb=0.005 --requests cpu=500m,memory=2Gi")).toBe(
      await dollars("--price 0.03"),
    );
    expect(await dollars("--price vcpu=0.04 --requests cpu=2,memory=2Gi")).toBe(
      await dollars("--price 0.08"),
    );
  });

  it.each([
    ["--requests cpu=1", 'Cannot use --requests "cpu=1" without a price'],
    ["--price 1 --requests cpu=1", 'Cannot use --requests "cpu=1" with --price "1"'],
    [
      "--price gb=1 --requests cpu=1",
      'Cannot price "gb": --requests "cpu=1" has no amount of memory',
    ],
    [
      "--price gb=1 --requests memory=many",
      'Cannot price "gb": --requests "memory=many" has no amount',
    ],
    ["--price gb=1", 'Cannot read --requests "": give what a pod asks for'],
    ["--price tb=1 --requests memory=1", 'Cannot read --price "tb=1": give the dollars'],
    ["--price gb=1,gb=2 --requests memory=1", 'Cannot read --price "gb=1,gb=2": give the dollars'],
    ["--price -1", 'Cannot read --price "-1": give the dollars'],
  ])("refuses %s", async (words, message) => {
    expect((await replayed(words, ["hpa.yaml"])).err).toContain(message);
  });

  it("refuses a delay, unless it is said how it follows from the load", async () => {
    const target = { type: "AverageValue", averageValue: "30" };
    const external = { metric: { name: "http_latency_p95" }, target };
    write("delay.yaml", hpa({ metrics: [{ type: "External", external }] }));
    const { code, err } = await replayed("", ["delay.yaml"]);
    expect(code).toBe(2);
    expect(err).toContain(
      'Cannot replay "http_latency_p95" of "delay.yaml": a delay does not follow from a load and the number of pods; --model http_latency_p95=shared takes it to',
    );
    const chosen = await replayed("--model http_latency_p95=total", ["delay.yaml"]);
    expect([chosen.code, chosen.err]).toEqual([0, ""]);
  });

  it("refuses a load of which too little is counted", async () => {
    write("short.csv", `timestamp,value\n${START_SECONDS},1\n`);
    const { code, err } = await replayed("", ["hpa.yaml"], "short.csv");
    expect(code).toBe(2);
    expect(err).toContain(
      'Cannot use the load of "short.csv": no whole minute of it is counted; give a longer load, or a shorter --warm-up',
    );
  });

  it("refuses a load of millennia, as one wrong time makes it", async () => {
    write("far.csv", "timestamp,value\n60,1\n120,1\n99999999999,1\n");
    const { code, err } = await replayed("", ["hpa.yaml"], "far.csv");
    expect(code).toBe(2);
    expect(err).toContain(
      'Cannot use the load of "far.csv": it has 1157408 days, from 1970-01-01T00:01:00Z to 5138-11-16T09:47:39Z, and at most 1100 are replayed; look for a wrong time, or cut the file',
    );
  });

  it("refuses a counter by its name, and says so of another series that only rises", async () => {
    const counted = SAMPLES.map(([seconds], at) => `${seconds},${(at % 400) * 60 + 7}`).join("\n");
    write("counter.csv", `time,requests_total\n${counted}\n`);
    write("rises.csv", `time,requests\n${counted}\n`);
    const refused = await inside([
      "replay",
      "--trace",
      path("counter.csv"),
      "-f",
      path("hpa.yaml"),
    ]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('"requests_total" only rises, as a counter does');
    expect(refused.err).toContain("export rate(requests_total[1m])");
    const noted = await inside(["replay", "--trace", path("rises.csv"), "-f", path("hpa.yaml")]);
    expect(noted.out).toContain("of a counter, give the rate");
    const load = await inside(["replay", "--trace", path("load.csv"), "-f", path("hpa.yaml")]);
    expect(load.out).not.toContain("of a counter");
  });

  it("prints the figures of each policy, with what the later ones differ by, and opens nothing", async () => {
    const { code, out, err } = await replayed("--price 0.1");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("load.csv (units), 2026-01-05T01:00:00Z to 2026-01-05T10:00:00Z");
    expect(out).toMatch(/^ +hpa\.yaml +slow\.yaml$/m);
    expect(out).toMatch(/^dollars +\d+\.\d\d +\d+\.\d\d \(-[\d.]+ %\)$/m);
    expect(out).toMatch(/^time to react: median +90s +[12]\dm$/m);
    expect(out).toContain("days with fewer scales");
    expect(out).toContain("▲ scaled up");
  });

  it("counts the target of the first policy for every one", async () => {
    const first = JSON.parse((await replayed("-o json")).out);
    expect(first.target).toBe("cpu at 50 %");
    const [fast, slow] = first.policies;
    expect(fast.aboveTarget).toBeLessThan(slow.aboveTarget);
    // Nine hours are counted: four of two pods, five of six.
    expect(fast.replicaHours).toBeCloseTo(4 * 2 + 5 * 6, 0);
    expect(slow.wins).toEqual({ days: 1, cheaper: 1, safer: 0, calmer: expect.any(Number) });
  });

  it("answers the same for the JSON of a range query", async () => {
    const [csv, json] = [
      await replayed("-o json"),
      await replayed("-o json", undefined, "load.json"),
    ];
    expect(JSON.parse(json.out).policies).toEqual(JSON.parse(csv.out).policies);
  });

  it("takes values of one pod each times the pods of then", async () => {
    write(
      "pods.csv",
      `timestamp,value\n${SAMPLES.map(([at], row) => `${at},${row < 300 ? 2 : 6}`).join("\n")}\n`,
    );
    write("percent.csv", `timestamp,value\n${SAMPLES.map(([at]) => `${at},50`).join("\n")}\n`);
    const said = await inside(
      [
        ...["replay", "--trace", path("percent.csv"), "--pods", path("pods.csv"), "-o", "json"],
        ...["-f", path("hpa.yaml")],
      ],
      { open: never },
    );
    const [only] = JSON.parse(said.out).policies;
    expect(only.replicaHours).toBeCloseTo(38, 0);
  });

  it.each([
    ["-o markdown", /^\| replica-hours \| [\d.]+ \| [\d.]+ \(-[\d.]+ %\) \|$/m],
    ["-o csv", /^at,hpa\.yaml count,hpa\.yaml ready,/m],
    ["-o svg", /^<svg xmlns.*<svg y="0".*<\/svg>\s*<\/svg>\s*$/s],
    ["-o yaml", /^policies:$/m],
  ])("prints %s", async (words, expected) => {
    const { code, out } = await replayed(words);
    expect(code).toBe(0);
    expect(out).toMatch(expected);
  });

  it.each([
    [
      "",
      ["memory.yaml"],
      'Cannot replay "memory" of "memory.yaml": the use of memory does not follow',
    ],
    ["--price much", ["hpa.yaml"], 'Cannot read --price "much"'],
    ["--pods 0", ["hpa.yaml"], 'Cannot read --pods "0"'],
    ["--pod-idle 100%", ["hpa.yaml"], 'Cannot read --pod-idle "100%": give a percentage'],
    ["--pod-idle=-1", ["hpa.yaml"], 'Cannot read --pod-idle "-1": give a percentage'],
    [
      "--model cpu=best",
      ["hpa.yaml"],
      'Cannot read --model "cpu=best": give NAME=shared or NAME=total',
    ],
    ["--warm-up 20h", ["hpa.yaml"], 'Cannot use --warm-up "20h"'],
    ["--days 3", ["hpa.yaml"], 'Cannot use --days "3": 9h are known, from 2026-01-05T01:00:00Z on'],
    [
      "--model nope=total",
      ["hpa.yaml"],
      'Cannot use --model "nope": no manifest has such a metric, only "cpu"',
    ],
    [
      "--model cpu=total",
      ["hpa.yaml"],
      'Cannot use --model "cpu": the use of a resource is shared',
    ],
    ["--days 0", ["hpa.yaml"], 'Cannot read --days "0": give a number of days such as 7'],
    ["--days mon", ["hpa.yaml"], 'Cannot read --days "mon": give a number of days such as 7'],
  ])("refuses %s with %s", async (words, files, message) => {
    const { code, err } = await replayed(words, files);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });

  it.each([
    ["cost > +10%", 0, ""],
    ["above-target > +1pt", 1, '"slow.yaml" fails "above-target > +1pt"'],
    ["cost > +10%, above-target > 0.1%", 1, '"slow.yaml" fails "above-target > 0.1%"'],
    ["scales > 100, reversals > +50%", 0, ""],
  ])("ends with the exit code of --fail-if '%s'", async (bounds, expected, message) => {
    const { code, out, err } = await inside(
      [
        ...["replay", "--trace", path("load.csv"), "--capacity", "100", "--fail-if", bounds],
        ...["-f", path("hpa.yaml"), "-f", path("slow.yaml"), "-o", "markdown"],
      ],
      { open: never },
    );
    expect(code).toBe(expected);
    expect(err).toContain(message);
    expect(out).toContain("| replica-hours |");
  });

  it.each([
    ["price > +10%", 'Cannot read --fail-if "price > +10%": give one such as'],
    [
      "cost > +1pt",
      "cost is a number, such as 100, or compared with the first policy, such as +10%",
    ],
    ["above-target > 5", "above-target is a share, such as 5%"],
  ])("refuses --fail-if '%s'", async (bounds, message) => {
    const { code, err } = await inside(
      ["replay", "--trace", path("load.csv"), "-f", path("hpa.yaml"), "--fail-if", bounds],
      { open: never },
    );
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  it("is written in the help with its options", () => {
    expect(readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8")).toContain(
      "tidemark replay --trace load.csv -f hpa.yaml -f mine.yaml",
    );
  });
});
