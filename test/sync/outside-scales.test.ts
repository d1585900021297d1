import { describe, expect, it } from "vitest";
import { readRival } from "../../lib/stack/cluster/observe/rival-kinds.ts";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import type { DecideInput } from "../../lib/rules/policy/decide.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import {
  isBeside,
  scalesUnderWay,
  withOutside,
} from "../../lib/stack/sync/observe/outside-scales.ts";
import { NOON } from "../noon.ts";
import { loadManifest } from "../policy/loop.ts";
import { sync } from "../policy/native/world.ts";
import { specOf } from "../policy/spec-of.ts";
import { sync as syncWatermark } from "../policy/watermark/world.ts";
import type { Loaded, ReadySpec } from "../../lib/stack/sync/hand-over.ts";

const UID = autoscalerUid("uid-1");
/** A partition before its first sync, without an entry of windows. */
const NEW_PARTITION = { nowMs: NOON, pages: [] } as Partial<Loaded> as Loaded;

/** The windows of the first sync beside another controller whose object has this status. */
const beside = (spec: AutoscalerSpec, kind: string, status: object): Windows =>
  withOutside(PURE_PART, NEW_PARTITION, {
    input: { spec, windows: NEW_WINDOWS } as Partial<DecideInput> as DecideInput,
    uid: UID,
    outside: undefined,
    rivals: [readRival({ metadata: { name: "web", uid: "u" }, status }, kind)],
  });

const HPA = specOf(
  loadManifest({
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        policies: [{ type: "Pods", value: 1000, periodSeconds: 60 }],
      },
      scaleDown: {
        stabilizationWindowSeconds: 0,
        policies: [{ type: "Pods", value: 1000, periodSeconds: 60 }],
      },
    },
  }),
);
const WPA = specOf({
  apiVersion: "datadoghq.com/v1alpha1",
  kind: "WatermarkPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    ...{
      minReplicas: 1,
      maxReplicas: 100,
      algorithm: "average",
      scaleUpLimitFactor: 100,
      scaleDownLimitFactor: 90,
    },
    ...{ upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 120 },
    metrics: [
      {
        type: "External",
        external: { metricName: "load", highWatermark: "1", lowWatermark: "1", metricSelector: {} },
      },
    ],
  },
});

/**
 * The count that is wanted of 5 at so many seconds after noon, when the load asks for so many all
 * the time.
 */
const countAt = (
  spec: AutoscalerSpec,
  windows: Windows,
  second: number,
  wanted: number,
): number => {
  const seen = { replicas: 5, windows, nowMs: NOON + second * 1000 };
  return spec.dialect === "watermark"
    ? syncWatermark(spec, { ...seen, milli: BigInt(wanted) * 1000n }).count
    : sync(spec, { ...seen, values: { load: wanted } }).count;
};

const SCALED = { lastScaleTime: "2026-03-01T11:59:30Z" };

describe("the first windows beside another controller", () => {
  it("begin with the last scale of an HPA: both rates are used up until its period is over, and no longer", () => {
    const windows = beside(HPA, "HorizontalPodAutoscaler", SCALED);
    expect([0, 29.999, 30].map((second) => countAt(HPA, windows, second, 9))).toEqual([5, 5, 9]);
    expect([0, 29.999, 30].map((second) => countAt(HPA, windows, second, 2))).toEqual([5, 5, 2]);
    expect(windows.status.lastScaleMs).toBe(NOON - 30_000);
  });

  it("begin with the last scale of a WatermarkPodAutoscaler: both forbidden windows are counted from it", () => {
    const windows = beside(WPA, "WatermarkPodAutoscaler", SCALED);
    expect([0, 29, 31].map((second) => countAt(WPA, windows, second, 9))).toEqual([5, 5, 9]);
    expect([0, 89, 91].map((second) => countAt(WPA, windows, second, 2))).toEqual([5, 5, 2]);
  });

  it("are new where the status names no scale, and where it was longer ago than every window", () => {
    expect(beside(HPA, "HorizontalPodAutoscaler", {})).toBe(NEW_WINDOWS);
    const long = beside(WPA, "WatermarkPodAutoscaler", { lastScaleTime: "2026-03-01T11:00:00Z" });
    expect([countAt(WPA, long, 0, 9), countAt(WPA, long, 0, 2)]).toEqual([9, 2]);
  });

  it("take a scale that a clock ahead of this one has stamped for one of now", () =>
    expect(
      beside(HPA, "HorizontalPodAutoscaler", { lastScaleTime: "2026-03-01T12:05:00Z" }).status
        .lastScaleMs,
    ).toBe(NOON));
});

const ready = (uid: string, name: string): ReadySpec => {
  const target = { apiVersion: "apps/v1", kind: "Deployment", name };
  return {
    kind: "ready",
    record: { uid: autoscalerUid(uid), namespace: "shop" },
    spec: { ...HPA, target },
  } as unknown as ReadySpec;
};

describe("a count that a scale of ours may have made", () => {
  const [web, api] = [ready("uid-1", "web"), ready("uid-2", "api")];
  const underWay = (head: object) =>
    scalesUnderWay({
      head: { intents: [], uncounted: [], unreadable: [], ...head },
      specs: { all: [web, api] },
    } as unknown as Loaded);

  it("is not compared while its settled scale is not counted in the windows yet", () => {
    const isUnderWay = underWay({ uncounted: [{ uid: "uid-1" }] });
    expect([isUnderWay(web), isUnderWay(api)]).toEqual([true, false]);
  });

  it("is not compared beside an intent that cannot be read, which may be a scale of any workload", () => {
    const isUnderWay = underWay({ unreadable: [{ id: "x" }] });
    expect([isUnderWay(web), isUnderWay(api)]).toEqual([true, true]);
    expect(underWay({})(web)).toBe(false);
  });
});

describe("a count that another changed", () => {
  const countsAsBeside = (of: object): boolean =>
    isBeside({ rivals: [], seenBefore: false, unknown: undefined, ...of } as never, {} as never);

  it("counts as made beside another controller where one was seen by an earlier sync", () => {
    expect(countsAsBeside({ seenBefore: true })).toBe(true);
  });

  it("counts as made beside another controller where it is not known whether one is there", () => {
    expect(countsAsBeside({ unknown: { reason: "Refused", message: "" } })).toBe(true);
    expect(countsAsBeside({})).toBe(false);
  });
});
