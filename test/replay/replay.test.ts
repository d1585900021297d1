import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { figuresOf } from "../../lib/replay/figures.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { hpa, loadOf, played, podAutoscaler, START_MS } from "./world.ts";

const counts = ({ count }: { readonly count: Float64Array }): readonly number[] => [...count];
const wholeOf = (minutes: ReturnType<typeof played>, load: { readonly endMs: number }) =>
  figuresOf(minutes, { fromMs: START_MS, untilMs: load.endMs });

describe("replay()", () => {
  it("closes the loop: pods that were added share the load, so the count stays where it is right", () => {
    // 50 % of a pod are 50 units, so that 300 units need six pods.
    const load = loadOf({ 0: 100, 10: 300 }, 60);
    const minutes = played(hpa(), load);
    expect(counts(minutes).slice(0, 10)).toEqual(Array(10).fill(2));
    expect(counts(minutes).slice(13)).toEqual(Array(47).fill(6));
    expect(minutes.scales.map(({ from, to }) => [from, to])).toEqual([
      [2, 4],
      [4, 6],
    ]);
  });

  it("gives the load to the pods that are ready, while those that start cost already", () => {
    const load = loadOf({ 0: 100, 10: 300 }, 30);
    const minutes = played(hpa(), load);
    const [first] = minutes.scales;
    const at = Math.floor(((first?.atMs ?? 0) - START_MS) / MINUTE_MS);
    expect(minutes.podMs[at]).toBeGreaterThan(minutes.readyMs[at] ?? 0);
    expect(minutes.reactions).toHaveLength(1);
    expect(minutes.reactions[0]?.lastedMs).toBeGreaterThanOrEqual(30_000);
  });

  it("lets the pods of a scale serve one after the other, as fast as they did", () => {
    const load = loadOf({ 0: 100, 10: 200 }, 30);
    const { readyMs, scales } = played(hpa(), load, { startsMs: [20_000, 140_000] });
    expect(scales.map(({ from, to }) => [from, to])).toEqual([[2, 4]]);
    const at = Math.floor(((scales[0]?.atMs ?? 0) - START_MS) / MINUTE_MS);
    const served = [...readyMs].map((ms) => ms / MINUTE_MS);
    expect(served[at - 1]).toBe(2);
    expect(served[at + 1]).toBe(3);
    expect(served[at + 3]).toBe(4);
  });

  it("counts a fast pod of a scale that serves before a slow one of the scale before", () => {
    const load = loadOf({ 0: 100, 10: 200, 11: 400 }, 30);
    const { readyMs, scales } = played(hpa(), load, { startsMs: [20_000, 290_000] });
    const at = Math.floor(((scales[0]?.atMs ?? 0) - START_MS) / MINUTE_MS);
    expect(scales.map(({ to }) => to)).toEqual([4, 8]);
    // Two, one of the first scale, and two of the four of the second one.
    expect((readyMs[at + 3] ?? 0) / MINUTE_MS).toBe(5);
  });

  it("lets the pods of a recorded scale take as long as they took then", () => {
    const load = loadOf({ 0: 100, 10: 200 }, 30);
    const servedAfter = (startsMs: readonly number[], scaleMs: number): number => {
      const starts = {
        usualMs: Float64Array.of(20_000),
        scaleMs: Float64Array.of(scaleMs),
        scaleEnds: Float64Array.of(startsMs.length),
        scaleStartsMs: Float64Array.from(startsMs),
      };
      const { readyMs, scales } = played(hpa(), load, { starts });
      const at = Math.floor(((scales[0]?.atMs ?? 0) - START_MS) / MINUTE_MS);
      return (readyMs[at + 2] ?? 0) / MINUTE_MS;
    };
    const [scale] = played(hpa(), load).scales;
    const scaledMs = scale?.atMs ?? 0;
    expect(servedAfter([20_000, 400_000], scaledMs)).toBe(3);
    expect(servedAfter([20_000, 400_000], scaledMs + 60_000)).toBe(4);
  });

  it("waits for the stabilization window of the HPA before it shrinks", () => {
    const minutes = played(hpa(), loadOf({ 0: 300, 20: 100 }, 60), { initialReplicas: 6 });
    expect(counts(minutes).slice(0, 25)).toEqual(Array(25).fill(6));
    expect(counts(minutes).at(-1)).toBe(2);
  });

  it("never shrinks on a gap, and leaves the time of the gap out of every share", () => {
    const load = loadOf({ 0: 300, 20: Number.NaN, 40: 300 }, 60);
    const minutes = played(hpa(), load, { initialReplicas: 6 });
    expect(Math.min(...counts(minutes))).toBe(6);
    expect(wholeOf(minutes, load)).toMatchObject({ coverage: 2 / 3, aboveTarget: 0, scales: 0 });
  });

  it("plays the schedule of a manifest at the times of the load", () => {
    const schedule = [
      { name: "early", timeZone: "Etc/UTC", from: "00:30", to: "01:00", minReplicas: 9 },
    ];
    const metrics = [{ resource: { name: "cpu" }, target: 50 }];
    const minutes = played(podAutoscaler({ metrics, schedule }), loadOf({ 0: 100 }, 90));
    expect(minutes.min[29]).toBe(1);
    expect([...minutes.min.slice(30, 60)]).toEqual(Array(30).fill(9));
    expect(minutes.count[45]).toBe(9);
  });

  it("plays a queue as what arrives and is not served", () => {
    const metrics = [{ sqs: { source: "aws", queue: "orders" }, target: 100, measure: "Average" }];
    // A pod serves 200 a minute, and 1,000 come: five pods keep up, and the queue asks for more
    // until it is empty, and for fewer then.
    const load = loadOf({ 0: 1_000 }, 120);
    const minutes = played(podAutoscaler({ metrics }), load, { initialReplicas: 1 });
    const { replicaHours, reversals } = wholeOf(minutes, load);
    expect(replicaHours).toBeGreaterThan(10);
    expect(replicaHours).toBeLessThan(13);
    expect(reversals).toBeGreaterThan(5);
  });

  it("always has the pods of its minutes between the bounds, and is the same each time", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 5, maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 5, max: 30 }),
        (values, minReplicas, maxReplicas) => {
          const load = loadOf({ ...values }, values.length);
          const play = () =>
            played(hpa({ minReplicas, maxReplicas }), load, { initialReplicas: 5 });
          const minutes = play();
          for (const count of minutes.count) {
            expect(count).toBeGreaterThanOrEqual(Math.min(5, minReplicas));
            expect(count).toBeLessThanOrEqual(Math.max(5, maxReplicas));
          }
          expect(play()).toEqual(minutes);
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe("figuresOf()", () => {
  it("adds up what a constant load costs, hour by hour", () => {
    const load = loadOf({ 0: 300 }, 120);
    const minutes = played(hpa(), load, { initialReplicas: 6 });
    expect(wholeOf(minutes, load)).toEqual({
      replicaHours: 12,
      aboveTarget: 0,
      loadP95: 1,
      unserved: 0,
      ...{ scales: 0, reversals: 0, largestStep: 0, minutesAtMax: 0, coverage: 1, cutOff: 0 },
    });
    const hour = { fromMs: START_MS, untilMs: START_MS + HOUR_MS };
    expect(figuresOf(minutes, hour).replicaHours).toBe(6);
  });

  it("says what a maximum leaves unserved, and for how long the count stood there", () => {
    // Two pods of 200 at most for a load of 1,000.
    const load = loadOf({ 0: 1_000 }, 60);
    const figures = wholeOf(played(hpa({ maxReplicas: 2 }), load), load);
    expect(figures).toMatchObject({ aboveTarget: 1, loadP95: 10, unserved: 0.6, minutesAtMax: 60 });
    expect(figures.reaction).toBeUndefined();
  });
});
