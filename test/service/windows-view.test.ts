import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { HpaSpec } from "../../lib/rules/model/spec-hpa.ts";
import { type Memory, NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { windowsView } from "../../lib/answers/service/explain/describe.ts";
import { NOON } from "../noon.ts";

const ago = (seconds: number): number => NOON - seconds * 1000;
const at = (seconds: number): string => new Date(NOON + seconds * 1000).toISOString();

const SPEC: HpaSpec = {
  dialect: "hpa",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 20,
  metrics: [],
};
const EMPTY: Memory = { recommendations: null, scaleUps: [], scaleDowns: [] };
const run = (replicas: number, firstAgo: number, lastAgo: number) => ({
  replicas,
  firstMs: ago(firstAgo),
  lastMs: ago(lastAgo),
});
const behavior = (up: number, down?: number): NonNullable<HpaSpec["behavior"]> => ({
  scaleUp: {
    stabilizationWindowSeconds: up,
    selectPolicy: "Max",
    policies: [{ type: "Pods", value: 4, periodSeconds: 60 }],
  },
  scaleDown: {
    ...(down !== undefined && { stabilizationWindowSeconds: down }),
    selectPolicy: "Disabled",
    policies: [{ type: "Percent", value: 10, periodSeconds: 60 }],
  },
});

const withMemory = (memory: Memory): Windows => ({ ...NEW_WINDOWS, memory });

describe("windowsView() recommendations", () => {
  const rows = (recommendations: Memory["recommendations"]) =>
    windowsView(SPEC, withMemory({ ...EMPTY, recommendations }), {
      settings: DEFAULT_SETTINGS,
      nowMs: NOON,
    }).recommendations;

  it("shows one of an old slot for itself, though those of now are equal: nothing was recommended between them", () => {
    expect(rows([run(8, 9_060, 9_060), { ...run(8, 240, 180), stepMs: 15_000 }])).toEqual([
      { replicas: 8, first: at(-9_060), last: at(-9_060) },
      { replicas: 8, first: at(-240), last: at(-180) },
    ]);
    expect(
      rows([{ ...run(8, 9_060, 240), stepMs: 8_820_000 }, run(7, 225, 225), run(7, 210, 210)]),
    ).toEqual([
      { replicas: 8, first: at(-9_060), last: at(-9_060) },
      { replicas: 8, first: at(-240), last: at(-240) },
      { replicas: 7, first: at(-225), last: at(-210) },
    ]);
  });

  it("shows equal ones of consecutive syncs in one row, where one sync is missing too", () => {
    expect(rows([run(8, 60, 60), run(8, 45, 45), run(8, 15, 15), run(9, 0, 0)])).toEqual([
      { replicas: 8, first: at(-60), last: at(-15) },
      { replicas: 9, first: at(0), last: at(0) },
    ]);
  });
});

describe("windowsView() stabilization", () => {
  it("without behavior knows the way down alone, over the cluster's own window", () => {
    expect(
      windowsView(SPEC, withMemory(EMPTY), { settings: DEFAULT_SETTINGS, nowMs: NOON })
        .stabilization,
    ).toEqual([{ direction: "scaleDown", windowSeconds: 300 }]);
  });

  it("names the highest recommendation inside the window as the one that holds, and when it leaves", () => {
    const memory = {
      ...EMPTY,
      recommendations: [run(9, 500, 290), run(7, 275, 100), run(4, 85, 0)],
    };
    expect(
      windowsView(SPEC, withMemory(memory), { settings: DEFAULT_SETTINGS, nowMs: NOON })
        .stabilization,
    ).toEqual([
      { direction: "scaleDown", windowSeconds: 300, held: { replicas: 9, until: at(10) } },
    ]);
  });

  it.each([
    ["just inside", 299, 9],
    ["at the edge, where it counts still", 300, 9],
    ["outside", 301, 7],
  ])("holds a recommendation %s", (_where, lastAgo, replicas) => {
    const memory = {
      ...EMPTY,
      recommendations: [run(9, 500, lastAgo), run(7, 275, 100), run(4, 85, 0)],
    };
    expect(
      windowsView(SPEC, withMemory(memory), { settings: DEFAULT_SETTINGS, nowMs: NOON })
        .stabilization[0]?.held?.replicas,
    ).toBe(replicas);
  });

  it("holds nothing while the newest recommendation is the extreme one", () => {
    const memory = { ...EMPTY, recommendations: [run(4, 85, 30), run(9, 15, 0)] };
    expect(
      windowsView(SPEC, withMemory(memory), { settings: DEFAULT_SETTINGS, nowMs: NOON })
        .stabilization,
    ).toEqual([{ direction: "scaleDown", windowSeconds: 300 }]);
  });

  it("lists recommendations in order of time, whatever places they have in the list", () => {
    const memory = {
      ...EMPTY,
      recommendations: [run(4, 15, 0), run(9, 400, 310), run(7, 300, 30)],
    };
    const view = windowsView(SPEC, withMemory(memory), { settings: DEFAULT_SETTINGS, nowMs: NOON });
    expect(view.recommendations.map(({ replicas }) => replicas)).toEqual([9, 7, 4]);
    expect(view.stabilization[0]?.held).toEqual({ replicas: 7, until: at(270) });
  });

  it("shows equal recommendations with nothing else between them as one", () => {
    const memory = {
      ...EMPTY,
      recommendations: [run(4, 240, 180), run(4, 195, 75), run(5, 60, 15), run(4, 0, 0)],
    };
    expect(
      windowsView(SPEC, withMemory(memory), { settings: DEFAULT_SETTINGS, nowMs: NOON })
        .recommendations,
    ).toEqual([
      { replicas: 4, first: at(-240), last: at(-75) },
      { replicas: 5, first: at(-60), last: at(-15) },
      { replicas: 4, first: at(0), last: at(0) },
    ]);
  });

  it.each([
    ["above what is recommended, is held", 6, true],
    ["that is what is recommended, is not", 4, false],
    ["below it, is not", 3, false],
  ])("with behavior a count %s", (_where, count, held) => {
    const memory = { ...EMPTY, recommendations: [run(9, 80, 20), run(4, 15, 0)] };
    const [, down] = windowsView({ ...SPEC, behavior: behavior(0) }, withMemory(memory), {
      settings: DEFAULT_SETTINGS,
      nowMs: NOON,
      count,
    }).stabilization;
    expect(down?.held !== undefined).toBe(held);
  });

  it("looks for the lowest on the way up, and takes the cluster's window where behavior names none", () => {
    const memory = { ...EMPTY, recommendations: [run(3, 50, 20), run(8, 15, 0)] };
    const moment = { settings: DEFAULT_SETTINGS, nowMs: NOON, count: 3 };
    expect(
      windowsView({ ...SPEC, behavior: behavior(60) }, withMemory(memory), moment).stabilization,
    ).toEqual([
      { direction: "scaleUp", windowSeconds: 60, held: { replicas: 3, until: at(40) } },
      { direction: "scaleDown", windowSeconds: 300 },
    ]);
  });
});

describe("windowsView() rates", () => {
  it("sums changes of both directions inside the period, and says when each leaves", () => {
    const memory = {
      ...EMPTY,
      scaleUps: [
        { change: 4, atMs: ago(60), eventId: "old" },
        { change: 3, atMs: ago(59), eventId: "a:7" },
      ],
      scaleDowns: [{ change: 1, atMs: ago(10) }],
    };
    expect(
      windowsView({ ...SPEC, behavior: behavior(0) }, withMemory(memory), {
        settings: DEFAULT_SETTINGS,
        nowMs: NOON,
      }).rates,
    ).toEqual([
      {
        direction: "scaleUp",
        type: "Pods",
        value: 4,
        periodSeconds: 60,
        added: 3,
        removed: 1,
        events: [
          { change: 3, at: at(-59), leaves: at(1), eventId: "a:7" },
          { change: -1, at: at(-10), leaves: at(50) },
        ],
      },
    ]);
  });

  it("sums the changes of a rate's own direction alone where only those count", () => {
    const memory = {
      ...EMPTY,
      scaleUps: [{ change: 3, atMs: ago(59) }],
      scaleDowns: [{ change: 1, atMs: ago(10) }],
    };
    const rules = behavior(0);
    const own = {
      ...rules,
      scaleUp: { ...rules.scaleUp, countedChanges: "SameDirection" },
    } as const;
    expect(
      windowsView({ ...SPEC, behavior: own }, withMemory(memory), {
        settings: DEFAULT_SETTINGS,
        nowMs: NOON,
      }).rates,
    ).toMatchObject([
      { countedChanges: "SameDirection", added: 3, removed: 0, events: [{ change: 3 }] },
    ]);
  });

  it("lists no rates for a direction that is disabled, nor without behavior", () => {
    expect(
      windowsView(SPEC, withMemory(EMPTY), { settings: DEFAULT_SETTINGS, nowMs: NOON }).rates,
    ).toEqual([]);
    expect(
      windowsView({ ...SPEC, behavior: behavior(0) }, withMemory(EMPTY), {
        settings: DEFAULT_SETTINGS,
        nowMs: NOON,
      }).rates.map(({ direction }) => direction),
    ).toEqual(["scaleUp"]);
  });
});

describe("windowsView() of an HPA with fields of the multi-threshold form", () => {
  const factor = { milli: 50_000n, whole: 50n };
  const thresholds = {
    average: false,
    tolerance: 0.1,
    scaleUpLimit: factor,
    scaleDownLimit: factor,
    upscaleForbiddenWindowSeconds: 0,
    downscaleForbiddenWindowSeconds: 60,
  };
  const scaled: Windows = {
    ...NEW_WINDOWS,
    status: { ...NEW_WINDOWS.status, lastScaleMs: NOON - 59_000 },
  };
  const marked: HpaSpec = {
    ...SPEC,
    dialect: "multi-threshold",
    thresholds,
    metrics: [
      {
        type: "External",
        metric: { name: "load" },
        target: { type: "" },
        marks: { highMilli: 2n, lowMilli: 1n },
      },
    ],
  };

  it("shows the forbidden windows, but for one of 0 s, and no stabilization of marks alone", () => {
    const view = windowsView(marked, scaled, { settings: DEFAULT_SETTINGS, nowMs: NOON });
    expect(view.forbidden).toEqual([
      { direction: "scaleDown", windowSeconds: 60, until: expect.any(String) as string },
    ]);
    expect(view.stabilization).toEqual([]);
  });

  it("shows the stabilization of an ordinary target beside them", () =>
    expect(
      windowsView({ ...SPEC, thresholds }, scaled, { settings: DEFAULT_SETTINGS, nowMs: NOON })
        .stabilization,
    ).toMatchObject([{ direction: "scaleDown", windowSeconds: 300 }]));
});
