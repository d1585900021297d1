import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import type { Decision, StepOutcome } from "../../lib/rules/model/decision.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { startForDown, startForUp } from "../../lib/rules/policy/shared/recorded-scales.ts";
import { windowsView } from "../../lib/answers/service/explain/describe.ts";
import type { WindowsView } from "../../lib/answers/views/windows.ts";
import { NOON } from "../noon.ts";
import { decisions, loadFor, loadManifest } from "../policy/loop.ts";
import { manifest as nativeManifest } from "../policy/native/world.ts";
import { runs } from "../runs.ts";

const PERIOD_MS = 15_000;
const specOf = (document: unknown): AutoscalerSpec =>
  admitOrThrow({ document, where: "the manifest" }).spec;

/** Windows are whole numbers of sync periods, so that records leave them exactly at a sync. */
const windowSeconds = fc.integer({ min: 0, max: 8 }).map((syncs) => syncs * 15);
const loads = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 24 });

const rules = fc.record({
  stabilizationWindowSeconds: windowSeconds,
  value: fc.integer({ min: 1, max: 10 }),
  periodSeconds: fc.constantFrom(15, 30, 60),
});
const behaviorOf = ({
  stabilizationWindowSeconds,
  value,
  periodSeconds,
}: {
  stabilizationWindowSeconds: number;
  value: number;
  periodSeconds: number;
}) => ({
  stabilizationWindowSeconds,
  policies: [{ type: "Pods", value, periodSeconds }],
});

interface Shown {
  readonly decision: Decision;
  readonly view: WindowsView;
  readonly nowMs: number;
}

/** What is shown of the windows right after each decision, before its scale is written. */
const shown = (
  document: unknown,
  wanted: readonly number[],
  downscaleStabilizationMs = DEFAULT_SETTINGS.downscaleStabilizationMs,
): readonly Shown[] => {
  const settings = { ...DEFAULT_SETTINGS, downscaleStabilizationMs, tolerance: 0 };
  const options = {
    replicas: 5,
    periodMs: PERIOD_MS,
    killed: false,
    settings,
    see: (sync: number) => loadFor(wanted[sync] ?? 1),
  };
  return decisions(document, wanted.length, options).map((decision, sync) => {
    const nowMs = NOON + sync * PERIOD_MS;
    const count = decision.from;
    return {
      decision,
      nowMs,
      view: windowsView(specOf(document), decision.windows, {
        settings,
        nowMs,
        ...(count !== undefined && { count }),
      }),
    };
  });
};

const stepOf = ({ steps }: Decision, name: string): StepOutcome | undefined =>
  steps.find(({ step }) => step === name);

/** Every window that holds, as "direction replicas until". */
const heldIn = ({ stabilization }: WindowsView): readonly string[] =>
  stabilization.flatMap(({ direction, held }) =>
    held ? [`${direction} ${held.replicas} ${held.until}`] : [],
  );

const heldBy = ({ limit }: StepOutcome): readonly string[] =>
  limit
    ? [
        `${limit.reason === "ScaleUpStabilized" ? "scaleUp" : "scaleDown"} ${limit.value} ${new Date(limit.untilMs ?? 0).toISOString()}`,
      ]
    : [];

const saysWhatWasDecided = (all: readonly Shown[]): void => {
  for (const { decision, view } of all) {
    const step = stepOf(decision, "stabilize");
    if (step) expect(heldIn(view)).toEqual(heldBy(step));
  }
};

describe("what is shown of the stabilization windows", () => {
  it("is always what the decision used, without behavior", () => {
    fc.assert(
      fc.property(loads, windowSeconds, (wanted, seconds) =>
        saysWhatWasDecided(shown(loadManifest({}), wanted, seconds * 1000)),
      ),
      runs(30),
    );
  });

  it("is always what the decision used, with behavior", () => {
    fc.assert(
      fc.property(loads, rules, rules, (wanted, up, down) =>
        saysWhatWasDecided(
          shown(
            loadManifest({ behavior: { scaleUp: behaviorOf(up), scaleDown: behaviorOf(down) } }),
            wanted,
          ),
        ),
      ),
      runs(30),
    );
  });

  it("is always what the decision used, by the native rules", () => {
    fc.assert(
      fc.property(loads, rules, rules, (wanted, up, down) =>
        saysWhatWasDecided(
          shown(
            nativeManifest({
              metrics: [NATIVE_LOAD],
              scaleUp: behaviorOf(up),
              scaleDown: behaviorOf(down),
            }),
            wanted,
          ),
        ),
      ),
      runs(30),
    );
  });

  it("was held at some sync of each, so that these say something", () => {
    const drop = [20, 3, 3, 3, 3];
    const down = {
      behavior: {
        scaleDown: behaviorOf({ stabilizationWindowSeconds: 30, value: 10, periodSeconds: 15 }),
      },
    };
    const documents = [
      loadManifest({}),
      loadManifest(down),
      nativeManifest({ metrics: [NATIVE_LOAD], scaleDown: { stabilizationWindowSeconds: 30 } }),
    ];
    for (const document of documents)
      expect(shown(document, drop, 30_000).some(({ view }) => heldIn(view).length > 0)).toBe(true);
  });
});

/** One pod for each unit of `load`. */
const NATIVE_LOAD = {
  external: { metric: "load" },
  measure: "Average",
  target: 1,
  tolerance: { up: "0", down: "0" },
};

describe("what is shown of the rates", () => {
  const change = fc.record(
    {
      change: fc.integer({ min: 1, max: 9 }),
      age: fc.integer({ min: 0, max: 8 }),
      earlier: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
    },
    { noNullPrototype: true },
  );
  const changes = fc.array(change, { maxLength: 6 }).map((all) =>
    all.map(({ change: pods, age, earlier }) => ({
      change: pods,
      atMs: NOON - age * 15_000,
      ...(earlier !== undefined && { earliestMs: NOON - (age + earlier) * 15_000 }),
    })),
  );

  it("always adds up to the count that the limit starts from", () => {
    const spec = specOf(
      loadManifest({
        behavior: {
          scaleUp: behaviorOf({ stabilizationWindowSeconds: 0, value: 4, periodSeconds: 60 }),
        },
      }),
    );
    fc.assert(
      fc.property(changes, changes, (scaleUps, scaleDowns) => {
        const memory = { recommendations: null, scaleUps, scaleDowns };
        const { rates } = windowsView(
          spec,
          { ...NEW_WINDOWS, memory },
          { settings: DEFAULT_SETTINGS, nowMs: NOON, count: 50 },
        );
        for (const { direction, periodSeconds, added, removed, events } of rates) {
          const start = direction === "scaleUp" ? startForUp : startForDown;
          expect(50 - added + removed).toBe(
            start(50, periodSeconds * 1000, memory, { nowMs: NOON }),
          );
          expect(events.reduce((sum, event) => sum + event.change, 0)).toBe(added - removed);
          expect(events.every(({ leaves }) => Date.parse(leaves) > NOON)).toBe(true);
        }
      }),
      runs(50),
    );
  });
});

describe("what is shown of the forbidden windows", () => {
  const FIRST_DESIGN = { dialect: "original" } as const;
  const hpa = specOf(loadManifest({}));
  const native = specOf(
    nativeManifest({
      scaleUp: { forbiddenAfterEventSeconds: 180 },
      scaleDown: { forbiddenAfterEventSeconds: 300 },
    }),
  );
  const original = { ...hpa, ...FIRST_DESIGN } as AutoscalerSpec;
  const closed = (spec: AutoscalerSpec, secondsAgo: number): readonly boolean[] => {
    const windows = {
      ...NEW_WINDOWS,
      status: { ...NEW_WINDOWS.status, lastScaleMs: NOON - secondsAgo * 1000 },
    };
    const { forbidden = [] } = windowsView(spec, windows, {
      settings: DEFAULT_SETTINGS,
      nowMs: NOON,
      count: 5,
    });
    return forbidden.map(({ until }) => until !== undefined);
  };

  it.each([
    ["the first design, closed at its end itself", original, 180, [true, true]],
    ["the first design, open after it", original, 180.001, [false, true]],
    ["the native rules, open at its end itself", native, 180, [false, true]],
    ["the native rules, closed before it", native, 179.999, [true, true]],
    ["the native rules, both open", native, 300, [false, false]],
  ])("follows %s", (_rules, spec, secondsAgo, expected) => {
    expect(closed(spec, secondsAgo)).toEqual(expected);
  });
});
