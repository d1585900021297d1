import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemsOf } from "../../lib/stack/plan/count-problems.ts";
import {
  isBurning,
  percentOf,
  type Share,
  sharesOf,
  type Shares,
} from "../../lib/stack/plan/decided-share.ts";
import { dueTimes } from "../../lib/stack/plan/due-times.ts";
import { type KindsReported, risenProblems } from "../../lib/stack/plan/risen-problems.ts";
import type { FleetProblem } from "../../lib/stack/report/problems.ts";
import { troublesOf, troublesText } from "../../lib/stack/store/head/troubles.ts";
import {
  type Undecided,
  undecidedOf,
  undecidedText,
  withUndecided,
} from "../../lib/stack/store/head/undecided.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import type { PurePart } from "../../lib/stack/sync/pure-part.ts";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { demandRules } from "./demand-rules.ts";
import { newWorld, PERIOD_MS, type World } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const MINUTE_MS = 60_000;
const PER_MINUTE = MINUTE_MS / PERIOD_MS;

/**
 * What goes wrong in a sync: the API server does not answer, no metric comes of any autoscaler, or
 * none of `web`.
 */
type Wrong = "no API" | "no metrics" | "no metric of web" | undefined;

/** Plays so many minutes, in which each sync has what goes wrong in it, by its number. */
const minutes = async (
  world: World,
  count: number,
  wrong: (sync: number) => Wrong = () => undefined,
): Promise<void> => {
  const whole = demandRules(world.cluster);
  const failing = (isOf: (name: string) => boolean): PurePart => ({
    ...whole,
    decide: (input) => {
      const decided = whole.decide(input);
      const because = { reason: "FailedGetResourceMetric", message: "no metrics" };
      return isOf(input.spec.target.name)
        ? { ...decided, kind: "hold", failed: true, because }
        : decided;
    },
  });
  for (let sync = 0; sync < count * PER_MINUTE; sync++) {
    world.nowMs += PERIOD_MS;
    const what = wrong(sync);
    world.cluster.broken = what === "no API";
    const rules = failing(
      (name) => what === "no metrics" || (what === "no metric of web" && name === "web"),
    );
    await world.sync(world.worker({ rules }));
  }
};
const problems = async (world: World): Promise<readonly FleetProblem[]> =>
  problemsOf({
    fleet: {},
    clusters: [{ kind: "read", record: world.record }],
    heads: new Map([[`${world.record.name}/${WHOLE_CLUSTER}`, await world.head()]]),
    nowMs: world.nowMs,
  });
const kinds = async (world: World): Promise<readonly string[]> =>
  (await problems(world)).map(({ kind }) => kind);
const shares = async (world: World): Promise<Shares> =>
  sharesOf(world.record, world.partition.partition, await world.head(), world.nowMs);

const newShop = () => newWorld(engine.client, engine.tables, { web: 2, api: 2 });
describe("a cluster that fails again and again", () => {
  it("is a problem within half an hour where each second sync fails, and is none before", async () => {
    const world = await newShop();
    await minutes(world, 5);
    const fail = (sync: number): Wrong => (sync % 2 === 0 ? "no API" : undefined);
    await minutes(world, 9, fail);
    expect(await kinds(world)).toEqual([]);
    await minutes(world, 3, fail);
    const [found, ...others] = await problems(world);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ kind: "undecided", key: world.record.name, count: 1 });
    expect(found?.sinceMs).toBeGreaterThanOrEqual(NOON + 5 * MINUTE_MS);
    expect(found?.past).toBeUndefined();
  });

  it("is a problem where metrics-server answers in each third sync only", async () => {
    const world = await newShop();
    await minutes(world, 5);
    await minutes(world, 10, (sync) => (sync % 3 === 0 ? undefined : "no metrics"));
    expect(await kinds(world)).toEqual(["undecided"]);
  });

  it("is a problem where it never works, with another fault before each has lasted for five minutes", async () => {
    const world = await newShop();
    await minutes(world, 5);
    await minutes(world, 8, (sync) =>
      Math.floor(sync / PER_MINUTE) % 5 === 4 ? "no metrics" : "no API",
    );
    expect(await kinds(world)).toEqual(["undecided"]);
    expect(percentOf((await shares(world)).quarter)).toBeLessThan(60);
  });

  it("is a problem where syncs of it are missed again and again", async () => {
    const world = await newShop();
    await minutes(world, 2);
    for (let round = 0; round < 30; round++) {
      // Two of three due syncs never come.
      world.nowMs += 3 * PERIOD_MS;
      await world.sync();
    }
    expect(await kinds(world)).toEqual(["undecided"]);
    expect(percentOf((await shares(world)).quarter)).toBeLessThan(36);
  });

  it("is none after a fault of four minutes, and is forgotten an hour later but for the day", async () => {
    const world = await newShop();
    await minutes(world, 2);
    await minutes(world, 4, () => "no API");
    await minutes(world, 6);
    expect(await kinds(world)).toEqual([]);
    expect((await shares(world)).hour.undecided).toBe(4 * PER_MINUTE);
    await minutes(world, 60);
    expect(percentOf((await shares(world)).hour)).toBe(100);
    expect((await shares(world)).day.undecided).toBe(4 * PER_MINUTE);
  });

  it("stores nothing while everything is decided", async () => {
    const world = await newShop();
    await minutes(world, 3);
    expect(troublesText((await world.head()).troubles)).toBeUndefined();
  });
});

describe("an autoscaler whose trouble comes and goes", () => {
  it("is a problem once it was there for 15 minutes of an hour, and is gone an hour later", async () => {
    const world = await newShop();
    await minutes(world, 2);
    const half = (sync: number): Wrong => (sync % 2 === 0 ? "no metric of web" : undefined);
    await minutes(world, 28, half);
    expect(await kinds(world)).toEqual([]);
    await minutes(world, 4, half);
    expect(await problems(world)).toEqual([
      { kind: "unmeasured", key: `${world.record.name}/default`, count: 1, first: "shop/web" },
    ]);
    const { troubles } = await world.head();
    expect(troublesOf(troublesText(troubles))).toEqual(troubles);
    await minutes(world, 12);
    expect(await kinds(world)).toEqual([]);
    await minutes(world, 60);
    expect((await world.head()).troubles.of).toEqual({});
  });

  it("is a problem after 15 minutes without a break, as ever", async () => {
    const world = await newShop();
    await minutes(world, 2);
    await minutes(world, 15, () => "no metric of web");
    expect(await kinds(world)).toEqual([]);
    await minutes(world, 2, () => "no metric of web");
    expect(await kinds(world)).toEqual(["unmeasured"]);
    expect((await world.head()).troubles.of.unmeasured?.spells).toBeUndefined();
  });
});

const due = (undecided: number, all: number) => ({ due: all, undecided });
const day = due(0, 5_760);
/** The worst quarter of the hour is the last one, where nothing else is said. */
const measuredOf = (quarter: Share, hour: Share, worstQuarter = quarter.undecided): Shares => ({
  quarter,
  hour,
  day,
  worstQuarter,
});

describe("what burns", () => {
  it.each<[string, Shares, number, boolean]>([
    ["no time without decisions", measuredOf(due(0, 60), due(0, 240)), 15_000, false],
    ["5 minutes of 15", measuredOf(due(21, 60), due(21, 240)), 15_000, true],
    ["a sync less than 5 minutes", measuredOf(due(20, 60), due(20, 240)), 15_000, false],
    ["6 minutes of an hour", measuredOf(due(6, 60), due(25, 240)), 15_000, true],
    ["6 minutes of an hour that end", measuredOf(due(5, 60), due(25, 240)), 15_000, false],
    ["one sync of a long period", measuredOf(due(1, 3), due(1, 12)), 300_000, false],
    [
      "one sync of a long period, after two in a quarter of the hour",
      measuredOf(due(1, 3), due(3, 12), 2),
      300_000,
      true,
    ],
    [
      "nothing of 15 minutes, after 5 minutes without decisions in the hour",
      measuredOf(due(0, 60), due(21, 240), 21),
      15_000,
      false,
    ],
    ["two syncs of a long period", measuredOf(due(2, 3), due(2, 12)), 300_000, true],
  ])("%s", (_what, measured, periodMs, wanted) => {
    expect(isBurning(measured, periodMs)).toBe(wanted);
  });
});

describe("the shares", () => {
  const cluster = { name: clusterName("eu-1"), syncPeriodMs: 15_000 };
  const partition = WHOLE_CLUSTER;
  it("count the due times that are due for longer than a period and not done", () => {
    const times = dueTimes(cluster.name, partition, 15_000, {
      fromMs: NOON - 900_000,
      untilMs: NOON,
    });
    const doneMs = times[20] ?? 0;
    const { quarter } = sharesOf(
      cluster,
      partition,
      { dueDoneMs: doneMs, troubles: { of: {} } },
      NOON,
    );
    expect(quarter.undecided).toBe(times.filter((ms) => ms > doneMs && ms < NOON - 15_000).length);
    expect(percentOf(quarter)).toBeLessThan(40);
  });
  it("begin at the last edit of the period or the partitions", () => {
    const head = { dueDoneMs: NOON, troubles: { of: {} } };
    const { day: whole } = sharesOf(
      { ...cluster, plannedFromMs: NOON - 60_000 },
      partition,
      head,
      NOON,
    );
    expect(whole.due).toBeLessThanOrEqual(5);
  });
  it("of a partition that never had a sync are 0 % after its first minutes", () => {
    const added = { ...cluster, plannedFromMs: NOON - 600_000 };
    expect(percentOf(sharesOf(added, partition, undefined, NOON).hour)).toBe(0);
    const fresh = { ...cluster, plannedFromMs: NOON - 60_000 };
    expect(percentOf(sharesOf(fresh, partition, undefined, NOON).hour)).toBeUndefined();
  });
});

describe("the text of what was not decided", () => {
  it("keeps every minute of an hour and every hour of a day, in less than 300 characters", () => {
    const times = Array.from({ length: 5_760 }, (_, at) => NOON - at * 15_000);
    const all = withUndecided(undefined, times, NOON);
    if (!all) throw new TypeError("nothing is undecided");
    expect(undecidedOf(undecidedText(all))).toEqual(all);
    expect(troublesOf(troublesText({ undecided: all, of: {} }))).toEqual({
      undecided: all,
      of: {},
    });
    expect(JSON.stringify(undecidedText(all)).length).toBeLessThan(300);
  });
  it.each([
    { m: "", h: "" },
    { m: "x", h: "?:1" },
    { m: "1:0", h: `1:${"9,".repeat(1_000)}9` },
  ])("says none where it is damaged: %j", (text) => {
    expect(undecidedOf(text)).toBeUndefined();
  });
});

const fault = (
  kind: FleetProblem["kind"],
  past?: FleetProblem["past"],
  fast?: true,
): readonly FleetProblem[] => [
  { kind, key: "eu-1", count: 1, ...(past && { past }), ...(fast && { fast }) },
];
const reports = (played: readonly (readonly FleetProblem[])[]): readonly number[] => {
  let known: KindsReported = {};
  return played.flatMap((all, minute) => {
    const { report, reported } = risenProblems(known, all, NOON + minute * 2 * MINUTE_MS);
    known = reported;
    return report.risen.length > 0 ? [minute] : [];
  });
};

describe("a fault that changes its kind", () => {
  it("is reported once", () => {
    const [out, failing, flaps] = [fault("unreachable"), fault("failing"), fault("undecided")];
    expect(reports([out, flaps, failing, flaps, out, failing])).toEqual([0]);
    expect(reports([flaps, out, flaps, failing])).toEqual([0]);
  });
  it("is reported again where it had ended and the cluster is then down for good", () => {
    const [out, flaps, past] = [
      fault("unreachable"),
      fault("undecided"),
      fault("undecided", "just now"),
    ];
    expect(reports([out, past, past, flaps, out])).toEqual([0, 4]);
    expect(reports([past, past, flaps])).toEqual([2]);
    expect(reports([flaps, past, flaps, past, flaps])).toEqual([0]);
  });
  it("is reported again where it had ended for a quarter of an hour, and then takes a third of one", () => {
    const [out, ended, gone] = [
      fault("unreachable"),
      fault("undecided", "just now"),
      fault("undecided", "for long"),
    ];
    const [slow, fast] = [fault("undecided"), fault("undecided", undefined, true)];
    expect(reports([out, ended, gone, slow, fast, fast, slow])).toEqual([0, 4]);
    expect(reports([out, ended, slow, fast, fast])).toEqual([0]);
  });
  it.each([
    ["each second sync of five minutes", 300, [false, true]],
    ["two of three syncs of five minutes", 300, [true, false, true]],
    ["two of five syncs of a minute", 60, [true, false, false, true, false]],
    ["each second sync of 15 s", 15, [true, false]],
  ] as const)("is reported once in two hours of %s", (_, periodSeconds, pattern) => {
    const syncPeriodMs = periodSeconds * 1_000;
    const record = {
      name: clusterName("eu-1"),
      syncPeriodMs,
      partitions: [{ name: WHOLE_CLUSTER }],
    };
    let known: KindsReported = {};
    let undecided: Undecided | undefined;
    const told: number[] = [];
    for (let minute = 0; minute < 120; minute++) {
      const nowMs = NOON + minute * MINUTE_MS;
      const span = { fromMs: nowMs - MINUTE_MS, untilMs: nowMs };
      const times = dueTimes(record.name, WHOLE_CLUSTER, syncPeriodMs, span);
      const failed = times.filter((ms) => pattern[Math.floor(ms / syncPeriodMs) % pattern.length]);
      undecided = withUndecided(undecided, failed, nowMs);
      const head = {
        nowMs,
        dueDoneMs: nowMs,
        troubles: { of: {}, ...(undecided && { undecided }) },
      };
      const all = problemsOf({
        fleet: {},
        clusters: [{ kind: "read", record: record as never }],
        heads: new Map([[`eu-1/${WHOLE_CLUSTER}`, head as never]]),
        nowMs,
      });
      const { report, reported } = risenProblems(known, all, nowMs);
      known = reported;
      if (report.risen.length > 0) told.push(minute);
    }
    expect(told).toHaveLength(1);
    expect(told[0]).toBeLessThan(40);
  });
  it("is not counted while it has ended", () => {
    const { report } = risenProblems({}, fault("undecided", "just now"), NOON);
    expect([report.all, report.risen]).toEqual([[], []]);
  });
  it("is not reported where its syncs were late, which was reported", () => {
    const late: FleetProblem = { kind: "late", key: "eu-1/default", count: 1 };
    expect(reports([[late], fault("undecided"), fault("undecided")])).toEqual([0]);
  });
});
