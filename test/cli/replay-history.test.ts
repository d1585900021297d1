import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERIOD_MS, type SeriesWorld, seriesWorld } from "../service/series-world.ts";
import { inside } from "./inside.ts";

const manifest = (spec: object, kind: object, name = "web"): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "shop" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      ...{ minReplicas: 1, maxReplicas: 30, metrics: [kind] },
      ...spec,
    },
  });
const lag = (averageValue: string, name = "lag") => ({
  type: "External",
  external: { metric: { name }, target: { type: "AverageValue", averageValue } },
});

let world: SeriesWorld;
let folder: string;
const path = (name: string): string => join(folder, name);
/** The load of each quarter of an hour. */
const LOADS = [400, 900, 1_500, 900, 3_000, 700];
const QUARTER = 900_000 / PERIOD_MS;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-replay-"));
  writeFileSync(path("same.yaml"), manifest({}, lag("200")));
  writeFileSync(path("half.yaml"), manifest({}, lag("100")));
  writeFileSync(path("other.yaml"), manifest({}, lag("100", "latency")));
  const both = [manifest({}, lag("200")), manifest({}, lag("100"), "api")].join("\n---\n");
  world = await seriesWorld({ web: 2, api: 4 }, both);
  for (const [at, load] of LOADS.entries()) {
    world.milli = BigInt(load * 1_000);
    await world.play(QUARTER);
    if (at === 2) await world.service.pause({ name: "web" });
    if (at === 3) await world.service.resume({ name: "web" });
  }
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** The steps of the histories that were read, in milliseconds. */
const steps: (number | undefined)[] = [];
const open = async () => ({
  service: {
    ...world.service,
    history: (query: Parameters<typeof world.service.history>[0]) => {
      steps.push(query.stepMs);
      return world.service.history(query);
    },
  },
  ...{
    place: "folder of a test",
    nowMs: world.nowMs,
    clock: () => world.nowMs,
    close: async () => {},
  },
});
const ran = (words: readonly string[], more: { readonly terminal?: true } = {}) =>
  inside(words, {
    ...more,
    open: open as unknown as NonNullable<Parameters<typeof inside>[1]>["open"] & object,
  });
const replayed = (words: string, files: readonly string[] = []) =>
  ran([
    ...["replay", ...words.split(" ").filter((word) => word !== "")],
    ...files.flatMap((file) => ["-f", path(file)]),
  ]);
const json = async (words: string, files: readonly string[] = []) =>
  JSON.parse((await replayed(`${words} -o json`, files)).out);

describe("tidemark replay NAME", () => {
  it("first says how near the unchanged policy comes to what happened, minute by minute", async () => {
    const { code, out } = await replayed("web --since 90m");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^A replay of the unchanged policy has the count that there was in (99|100)[.\d]* % of the minutes/m,
    );
    const { fidelity } = await json("web --since 90m");
    expect(fidelity.sameMinutes).toBeGreaterThanOrEqual(0.99);
    expect(Math.abs(fidelity.hoursOff)).toBeLessThan(0.01);
  });

  it("gives the same manifest the same minutes, through a pause and its end", async () => {
    const { policies } = await json("web --since 90m", ["same.yaml"]);
    const [asItIs, same] = policies;
    expect(same).toMatchObject({ replicaHours: asItIs.replicaHours, scales: asItIs.scales });
    // The fall to 900 came in the pause, and nothing was written.
    expect(asItIs.scales).toBeGreaterThan(4);
  });

  it("closes the loop for another target: twice as many pods, and never above the recorded one", async () => {
    const { policies } = await json("web --since 90m", ["half.yaml"]);
    const [asItIs, half] = policies;
    expect(half.replicaHours / asItIs.replicaHours).toBeGreaterThan(1.7);
    expect(half.replicaHours / asItIs.replicaHours).toBeLessThan(2.1);
    expect(half.aboveTarget).toBeLessThanOrEqual(asItIs.aboveTarget);
  });

  it("refuses a metric that the recorded policy did not measure, by its name", async () => {
    const { code, err } = await replayed("web --since 90m", ["other.yaml"]);
    expect(code).toBe(2);
    expect(err).toContain(
      'Cannot replay "latency" of "other.yaml": the recorded policy did not measure it',
    );
  });

  it.each([
    ["web --since 90m --capacity 10", "Cannot use --capacity without --trace"],
    ["web --trace load.csv", 'Cannot replay "web" and --trace "load.csv" together'],
    ["web --since 2027-01-01", "that is a future time"],
    ["web --days 2", 'Cannot use --days "2": 89m are known'],
    ["web --since 90m --model nope=total", 'Cannot use --model "nope": no manifest has such a'],
    ["web --days 1+1 --since 90m", 'Cannot use --days "1+1": 89m are known'],
  ])("refuses %s", async (words, message) => {
    expect((await replayed(words)).err).toContain(message);
  });

  it("does not compare where the model is wrong, so that the unchanged policy would do otherwise", async () => {
    // The metric is the same however many pods there are, and each of them is said to have a share.
    const far = await replayed("web --since 40m --model lag=shared", ["half.yaml"]);
    expect(far.err).toMatch(
      /Cannot compare policies for "shop\/web": a replay of the unchanged policy has .* --anyway/,
    );
    expect(
      (await replayed("web --since 40m --model lag=shared --anyway", ["half.yaml"])).code,
    ).toBe(0);
  });

  it("takes the autoscaler of the manifest where none is named, and bounds what may differ", async () => {
    const words = "--since 90m -o markdown --fail-if cost>+10%";
    const { code, out, err } = await replayed(words, ["half.yaml"]);
    expect([code, err]).toEqual([1, '"half.yaml" fails "cost>+10%"\n']);
    expect(out).toContain("eu-1/shop/web");
    expect((await replayed(words, ["same.yaml"])).code).toBe(0);
  });

  it("shows every autoscaler in a line of its own", async () => {
    const { code, out } = await replayed("-A --since 90m");
    expect(code).toBe(0);
    const [header, ...rows] = out.trimEnd().split("\n");
    expect(header).toMatch(/^AUTOSCALER +POLICY +MINUTES ALIKE +REPLICA-HOURS/);
    expect(rows.map((row) => row.split(/ {3,}/)[0])).toEqual(["eu-1/shop/api", "eu-1/shop/web"]);
    const { items } = await json("-A --since 90m");
    expect(items).toHaveLength(2);
    expect((await replayed("-A -o svg")).err).toContain("Cannot print 2 autoscalers as svg");
    expect((await replayed("")).err).toContain("Cannot replay: give the name of an autoscaler, -A");
  });

  it("shows a bar of what is replayed on a terminal, of one autoscaler and of several", async () => {
    const one = await ran(["replay", "web", "--since", "90m"], { terminal: true });
    expect(one.err).toContain("web: ████████████████████ 100 % is replayed");
    const words = ["replay", "-A", "--since", "90m"];
    const { out, err } = await ran(words, { terminal: true });
    expect(err).toContain("1 of 2, api: ██████████░░░░░░░░░░ 50 % is replayed");
    expect(err).toContain("2 of 2, web: ████████████████████ 100 % is replayed");
    // At the end the line is removed.
    expect(err.trimEnd().endsWith("\u001b[2K")).toBe(true);
    expect(await ran(words)).toMatchObject({ out, err: "" });
  });

  it("names each autoscaler that cannot be replayed, and shows the others", async () => {
    const { code, out, err } = await ran([
      ...["replay", "-A", "--since", "90m", "-f", path("other.yaml")],
    ]);
    expect(code).toBe(2);
    expect(err).toContain('Cannot replay "latency" of "other.yaml"');
    expect(out).toContain("eu-1/shop/api");
  });
});

describe("tidemark tune NAME", () => {
  it("tunes on the first part of the history and reports on the other, and changes nothing", async () => {
    const before = await world.service.get({ name: "web" });
    const { code, out, err } = await ran([
      "tune",
      "web",
      "--quick",
      "--since",
      "80m",
      "-o",
      "json",
    ]);
    expect([code, err]).toEqual([0, ""]);
    const { of, tunedOn, reportedOn, points } = JSON.parse(out);
    expect(of).toBe("eu-1/shop/web");
    expect(tunedOn.until).toBe(reportedOn.since);
    expect(points[0]).toMatchObject({ name: "current", policy: { coverage: 1 } });
    const after = await world.service.get({ name: "web" });
    expect(after.manifest).toEqual(before.manifest);
  });

  it("says of all where the most replica-hours lie, the dearest first, and tunes so many of them", async () => {
    const words = ["tune", "-A", "--since", "80m", "--top", "1", "--price", "0.1"];
    steps.length = 0;
    const { code, out, err } = await ran(words);
    // All are counted by five minutes, and the one that is tuned is read minute by minute.
    expect(steps).toEqual([300_000, 300_000, 5_000]);
    expect(code).toBe(0);
    const [header, first, ...others] = out.trimEnd().split("\n");
    expect(header).toMatch(/^AUTOSCALER +REPLICA-HOURS +DOLLARS +ABOVE TARGET +SPARES +SAFEST/);
    expect(first).toMatch(/^eu-1\/shop\/api +\d/);
    expect(others).toEqual([]);
    expect(err).toContain("1 more autoscalers take fewer replica-hours");
  });

  it("refuses manifests of several before anything is read", async () => {
    steps.length = 0;
    const { err } = await ran(["tune", "-A", "--write", path("points")]);
    expect(err).toContain("for a list: give one name");
    expect(steps).toEqual([]);
  });

  it.each([
    ["web -f web.yaml", "Cannot use -f without --trace"],
    ["-A --days 0.5+0.5", 'Cannot read --days "0.5+0.5": give a number of days such as 7, or two'],
    ["-A --days 7", 'Cannot use --days "7" here: give two numbers'],
    ["web --top 0", 'Cannot read --top "0": give a whole number from 1 to 200'],
    ["", "Cannot tune: give the name of an autoscaler, -A, or a recorded load with --trace"],
    ["web --days 7+7", 'Cannot use --days "7+7": '],
  ])("refuses %s", async (words, message) => {
    const { code, err } = await ran(["tune", ...words.split(" ").filter((word) => word !== "")]);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });
});
