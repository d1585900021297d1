import { describe, expect, it } from "vitest";
import { specOf } from "../../lib/rules/manifest/admit.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { decide } from "../../lib/rules/policy/decide.ts";
import { asksOf } from "../../lib/rules/policy/dialects.ts";
import { isOpenAt, needsNoWrite } from "../../lib/stack/sync/load/stored-windows.ts";
import { NOON } from "../noon.ts";
import { simulatedCluster } from "../simulation/cluster.ts";
import { newManifest } from "../simulation/manifests/shapes.ts";
import { newObjectStore } from "../simulation/objects/object-store.ts";
import { observeNow } from "../simulation/observe.ts";
import { randomOf } from "../simulation/random.ts";
import { PERIOD_MS } from "./world.ts";

const UID = autoscalerUid("uid-web");
const place = { namespace: namespace("shop"), name: autoscalerName("web") };
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

/**
 * One workload whose two pods carry just the load that they are to carry, under a manifest of some
 * shape.
 */
const atRest = (shape: Parameters<typeof newManifest>[1]) => {
  const workload = {
    cluster: "eu-1",
    ...place,
    target,
    uid: "object-web",
    replicas: 2,
    resourceVersion: 1,
    generation: 1,
    load: 20,
    rivalSinceMs: undefined,
    gone: false,
  };
  const cluster = simulatedCluster(
    "eu-1",
    { workloads: [workload], objects: newObjectStore("eu-1", () => NOON) },
    () => NOON,
  );
  const spec = specOf(
    JSON.stringify(newManifest(randomOf(1, "timetable"), shape, { ...place, target })),
  );
  return (windows: Windows, nowMs: number, failing: ReadonlySet<string> = new Set()) => {
    const observed = observeNow(
      cluster,
      [{ uid: UID, ...place, spec, ...asksOf(spec, place.namespace) }],
      nowMs,
      {
        metrics: failing,
        scales: new Set(),
        rivals: "answered",
      },
    ).get(UID);
    if (!observed) throw new TypeError("it was not observed");
    return decide({
      ...place,
      spec,
      settings: DEFAULT_SETTINGS,
      observation: observed.observation,
      windows,
      nowMs,
    });
  };
};

const entry = (windows: Windows, nowMs: number) => ({
  uid: UID,
  windows,
  open: isOpenAt(windows, nowMs),
});

describe("an autoscaler at rest", () => {
  it.each([
    "behavior",
    "legacy",
    "cpu",
    "watermark",
    "velocity",
    "native",
    "native as hpa",
    "native as watermark",
  ] as const)("of the shape %s needs no write", (shape) => {
    const decided = atRest(shape);
    let windows = NEW_WINDOWS;
    const entries = Array.from({ length: 6 }, (_, at) => {
      const nowMs = NOON + at * PERIOD_MS;
      windows = decided(windows, nowMs).windows;
      return entry(windows, nowMs);
    });
    // The first two tell of conditions and spacing for the first time.
    const [stored, ...later] = entries.slice(2);
    if (!stored) throw new TypeError("nothing was decided");
    expect(later).toHaveLength(3);
    expect(later.map((after) => needsNoWrite(stored, after))).toEqual([true, true, true]);
  });

  it("of watermark rules decides on the page that was not written again as on the newest", () => {
    const decided = atRest("watermark");
    const [first, second, third, fourth] = [0, 1, 2, 3].map((at) => NOON + at * PERIOD_MS) as [
      number,
      number,
      number,
      number,
    ];
    const stored = decided(NEW_WINDOWS, first).windows;
    const newest = decided(decided(stored, second).windows, third).windows;
    expect(newest.status.conditions).not.toEqual(stored.status.conditions);
    expect(decided(stored, fourth)).toEqual(decided(newest, fourth));
    const failing = new Set(["web"]);
    expect(decided(stored, fourth, failing)).toEqual(decided(newest, fourth, failing));
    expect(
      needsNoWrite(entry(stored, first), entry(decided(stored, fourth, failing).windows, fourth)),
    ).toBe(false);
  });
});
