import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { windowLines } from "../../lib/answers/words/window-words.ts";
import { rfc3339 } from "../../lib/answers/service/times.ts";
import type { Explanation } from "../../lib/answers/views/autoscaler.ts";
import type { WindowsView } from "../../lib/answers/views/windows.ts";
import { inside } from "../cli/inside.ts";
import { NOON } from "../noon.ts";
import { PERIOD_MS, type SeriesWorld, seriesWorld } from "./series-world.ts";
import { tablesInMemory } from "./world/context.ts";
import { runs } from "../runs.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const TARGET = (name: string): string =>
  `scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }`;
const METRIC = `[{ type: External, external: { metric: { name: lag }, target: { type: AverageValue, averageValue: "200" } } }]`;
const MANIFESTS = [
  `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: hpa, namespace: shop }
spec:
  ${TARGET("hpa")}
  minReplicas: 1
  maxReplicas: 30
  behavior:
    scaleUp: { policies: [{ type: Pods, value: 4, periodSeconds: 60 }] }
    scaleDown: { stabilizationWindowSeconds: 45, policies: [{ type: Pods, value: 2, periodSeconds: 30 }] }
  metrics: ${METRIC}
`,
  `apiVersion: datadoghq.com/v1alpha1
kind: WatermarkPodAutoscaler
metadata: { name: wpa, namespace: shop }
spec:
  ${TARGET("wpa")}
  minReplicas: 2
  maxReplicas: 20
  scaleUpLimitFactor: 50
  scaleDownLimitFactor: 50
  upscaleForbiddenWindowSeconds: 60
  downscaleForbiddenWindowSeconds: 60
  upscaleDelayAboveWatermarkSeconds: 20
  metrics: [{ type: External, external: { metricName: lag, metricSelector: {}, highWatermark: "400", lowWatermark: "150" } }]
`,
  `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: own, namespace: shop }
spec:
  ${TARGET("own")}
  minReplicas: 1
  maxReplicas: 30
  metrics: [{ external: { metric: lag }, measure: Average, target: 200 }]
  scaleUp: { stabilizationWindowSeconds: 30, sustainSeconds: 15 }
  scaleDown: { stabilizationWindowSeconds: 60, policies: [{ type: Pods, value: 3, periodSeconds: 30 }] }
`,
];
const NAMES = ["hpa", "wpa", "own"] as const;

let world: SeriesWorld;
afterEach(() => world.close());

interface Seen {
  readonly name: string;
  readonly atMs: number;
  readonly shownThen: Explanation;
}

/** Plays loads, each for some syncs, and notes what is shown after each sync. */
const played = async (
  steps: readonly (readonly [milli: number, syncs: number])[],
  names: readonly string[] = NAMES,
): Promise<readonly Seen[]> => {
  const seen: Seen[] = [];
  for (const milli of steps.flatMap(([load, syncs]) => Array.from({ length: syncs }, () => load))) {
    world.milli = BigInt(milli) * 1_000n;
    await world.play(1);
    for (const name of names)
      seen.push({ name, atMs: world.nowMs, shownThen: await world.service.explain({ name }) });
  }
  return seen;
};

/**
 * What was shown at an instant. Sentences about another outcome may name a window that is not
 * stored any more.
 */
const shown = ({ decision, metrics, steps }: Explanation) => ({ decision, metrics, steps });

/**
 * Recommendations that have left every window decide nothing: an earlier instant is shown without
 * them.
 */
const insideWindows = (windows: WindowsView, atMs: number): WindowsView => {
  const windowMs = Math.max(
    0,
    ...windows.stabilization.map(({ windowSeconds }) => windowSeconds * 1_000),
  );
  const lasting = windows.recommendations.filter(({ last }) => Date.parse(last) >= atMs - windowMs);
  return {
    ...windows,
    recommendations: lasting.map((run) => ({
      ...run,
      first: rfc3339(Math.max(Date.parse(run.first), atMs - windowMs)),
    })),
  };
};

/**
 * No line is printed of an earlier instant that was not printed then, but the one that says what is
 * missing.
 */
const compare = (then: Explanation, now: Explanation): void => {
  expect(shown(now)).toEqual(shown(then));
  const atMs = Date.parse(then.decision.at);
  const windows = insideWindows(then.windows, atMs);
  // The newest evaluation is shown with all that its windows have.
  const windowsNow = insideWindows(now.windows, atMs);
  const [before, after] = [windowLines(windows, atMs), windowLines(windowsNow, atMs)];
  const missing = after.filter((line) => line.startsWith("Not stored any more: "));
  expect(after.filter((line) => !missing.includes(line) && !before.includes(line))).toEqual([]);
  const { rates, forbidden, flap, notStored } = now.windows;
  const hasRates = notStored !== "rates";
  expect(notStored).toBe(hasRates ? undefined : "rates");
  for (const part of ["recommendations", "stabilization", "timers"] as const)
    expect(windowsNow[part]).toEqual(windows[part]);
  expect({ rates, forbidden, flap }).toEqual(
    hasRates
      ? { rates: windows.rates, forbidden: windows.forbidden, flap: windows.flap }
      : { rates: [], forbidden: windows.forbidden },
  );
  // A scale down of more than 30 s ago may have lost its place to a later one, and the rate of 60 s
  // up would have counted it.
  const scaledDownBefore = windows.rates.some(({ events }) =>
    events.some(({ change, at }) => change < 0 && atMs - Date.parse(at) >= 30_000),
  );
  expect(
    hasRates ||
      (then.name === "hpa" &&
        (scaledDownBefore || windows.rates.some(({ removed }) => removed > 0))),
  ).toBe(true);
};

describe("explain() of an earlier time", () => {
  it("never states a window that was not so: it shows what it showed then, or says that this is not stored any more", {
    timeout: 180_000,
  }, async () => {
    const loads = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 6_000 }), fc.integer({ min: 1, max: 6 })),
      { minLength: 6, maxLength: 10 },
    );
    const property = fc.asyncProperty(loads, async (steps) => {
      world = await seriesWorld(
        { hpa: 5, wpa: 5, own: 5 },
        MANIFESTS.join("---\n"),
        tablesInMemory,
      );
      for (const { name, atMs, shownThen } of await played(steps)) {
        compare(shownThen, await world.service.explain({ name }, atMs));
        compare(shownThen, await world.service.explain({ name }, atMs + PERIOD_MS - 1));
      }
      await world.close();
    });
    await fc.assert(property, {
      ...runs(2),
      examples: [
        [
          [
            [0, 1],
            [1_201, 1],
            [2_001, 4],
            [1_401, 3],
            [0, 3],
            [0, 1],
          ],
        ],
      ],
    });
    world = await seriesWorld({ hpa: 5 }, MANIFESTS[0] ?? "");
  });

  it("shows no rate where a scale may have lost its place to a later one of its direction, which a longer period of the other direction would have counted", async () => {
    world = await seriesWorld({ hpa: 5 }, MANIFESTS[0] ?? "");
    const seen = await played(
      [
        [1_201, 1],
        [2_001, 4],
        [1_401, 3],
        [0, 5],
        [6_000, 2],
      ],
      ["hpa"],
    );
    const windows = await Promise.all(
      seen.map(async ({ atMs }) => (await world.service.explain({ name: "hpa" }, atMs)).windows),
    );
    const missing = windows.map(({ notStored }) => notStored?.endsWith("rates") === true);
    expect(missing).toContain(true);
    expect(missing).toContain(false);
    for (const [index, { rates }] of windows.entries())
      expect(rates).toEqual(missing[index] ? [] : seen[index]?.shownThen.windows.rates);
  });

  it("loses no window by a pause or an override, which change no rule, and all of them by another manifest", async () => {
    world = await seriesWorld({ hpa: 5 }, MANIFESTS[0] ?? "");
    const seen = await played(
      [
        [1_201, 1],
        [3_000, 3],
        [0, 2],
      ],
      ["hpa"],
    );
    await world.play(1);
    const before = await Promise.all(
      seen.map(({ atMs }) => world.service.explain({ name: "hpa" }, atMs)),
    );
    world.wait(1_000);
    await world.service.pause({ name: "hpa" });
    await world.service.resume({ name: "hpa" });
    const after = await Promise.all(
      seen.map(({ atMs }) => world.service.explain({ name: "hpa" }, atMs)),
    );
    expect(after.map(({ windows }) => windows)).toEqual(before.map(({ windows }) => windows));
    world.wait(1_000);
    await world.service.apply(
      [
        {
          file: "a.yaml",
          text: (MANIFESTS[0] ?? "").replace("maxReplicas: 30", "maxReplicas: 29"),
        },
      ],
      {
        cluster: "eu-1",
        dryRun: false,
      },
    );
    expect(
      (await world.service.explain({ name: "hpa" }, seen[0]?.atMs)).windows.notStored,
    ).toContain("was edited at");
  });

  it("falls back to the newest scale event where no evaluation is stored any more, and says so", async () => {
    world = await seriesWorld({ hpa: 5 }, MANIFESTS[0] ?? "");
    world.milli = 3_000_000n;
    await world.play(1);
    const [event] = await Array.fromAsync(world.service.events({ name: "hpa" }));
    const then = Date.parse(event?.at ?? "");
    // The journal is gone after 14 days, and nothing has synced since.
    world.wait(20 * DAY_MS);
    const explanation = await world.service.explain({ name: "hpa" }, world.nowMs - 1);
    expect(explanation).toMatchObject({
      stored: "event",
      decision: { kind: "scale", from: event?.from, to: event?.to, reason: event?.reason },
    });
    expect(explanation.beforeSeconds).toBe(Math.floor((world.nowMs - 1 - then) / 1_000));
    expect(explanation.metrics).toHaveLength(1);
    // The scales are kept for as long as the event: so the rates are those that were.
    expect(explanation.windows).toMatchObject({
      notStored: "recommendations, stabilization",
      rates: [
        { added: 4, removed: 0 },
        { added: 4, removed: 0 },
      ],
    });
    const open = async () => ({
      service: world.service,
      place: "a test",
      nowMs: world.nowMs,
      clock: () => world.nowMs,
      close: async () => {},
    });
    const { code, out } = await inside(["explain", "shop/hpa", "--at", "1h", "--utc"], { open });
    expect([code, out.match(/^Shown: +(.*)$/m)?.[1]]).toEqual([
      0,
      "the nearest scale event, because no evaluation is stored any more, 19d before",
    ]);
    expect(out).toMatch(/^Outcome: +scale from 5 to 9$/m);
    expect(out).toMatch(/^ {2}Not stored any more: .*$/m);
    expect(out).not.toMatch(/holds nothing|0 added/);
    await expect(world.service.explain({ name: "hpa" }, NOON - DAY_MS)).rejects.toMatchObject({
      code: "service.not-evaluated",
    });
  });
});
