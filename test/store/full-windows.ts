import { MAX_STABILIZATION_SECONDS } from "../../lib/rules/manifest/hpa/validate-behavior.ts";
import type { Condition, Windows } from "../../lib/rules/model/windows.ts";
import { METRICS_CHARS_MAX, SELECTOR_CHARS_MAX } from "../../lib/stack/store/pages/codec.ts";
import { NOON } from "../noon.ts";
import type { StoredWindows } from "../../lib/rules/model/scale-records.ts";

/**
 * The shortest sync period; a partition has one sync in it, and an autoscaler one recommendation
 * and one scale.
 */
const PERIOD_SECONDS = 5;
/**
 * Slots of a window of an hour, and the two that it may hold at its ends; under longer windows no
 * more are kept (lib/rules/policy/shared/recommendations.ts).
 */
const RUNS = MAX_STABILIZATION_SECONDS / PERIOD_SECONDS + 2;
/**
 * A flap budget looks at every scale of an hour; of longer periods the rest is kept in 241 parts at
 * most (lib/rules/policy/shared/recorded-scales.ts).
 */
const CHANGES = RUNS + 241;
const CONDITIONS = 6;
const REPLICAS = 2 ** 31 - 1;
const ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";

/** A repeatable stream of numbers in [0, 1). */
const stream = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/**
 * Windows with every field at its legal maximum and as random as it can be, so that compression
 * gains little.
 */
export const fullWindows = (seed: number, uid: string): Windows => {
  const next = stream(seed);
  const text = (chars: number): string =>
    Array.from({ length: chars }, () => ALPHABET[Math.floor(next() * ALPHABET.length)]).join("");
  const ms = (): number => NOON + next() * MAX_STABILIZATION_SECONDS * 1_000;
  const replicas = (): number => Math.ceil(next() * REPLICAS);
  // Slots that were divided out of a run have times between milliseconds, and each the spacing of
  // its run.
  const runs = Array.from({ length: RUNS }, () => {
    const firstMs = ms();
    return {
      replicas: replicas(),
      firstMs,
      lastMs: firstMs + next() * 10_000,
      stepMs: 5_000 + next() * 900,
      windowMs: MAX_STABILIZATION_SECONDS * 1_000,
    };
  });
  const changes = () =>
    Array.from({ length: CHANGES }, () => ({
      change: replicas(),
      atMs: Math.floor(ms()),
      outdated: true,
      eventId: `${uid}:${Math.floor(next() * 1e10)}`,
    }));
  const condition = (): Condition => ({
    type: text(63),
    status: "Unknown",
    reason: text(63),
    message: text(500),
    transitionMs: Math.floor(ms()),
  });
  return {
    memory: {
      recommendations: runs,
      scaleUps: changes(),
      scaleDowns: changes(),
      selector: text(SELECTOR_CHARS_MAX),
    },
    status: {
      conditions: Array.from({ length: CONDITIONS }, condition),
      currentReplicas: replicas(),
      desiredReplicas: replicas(),
      lastScaleMs: Math.floor(ms()),
      currentMetrics: [{ type: "Resource", value: text(METRICS_CHARS_MAX - 50) }],
    },
  };
};

export const fullEntry = (seed: number, uid: StoredWindows["uid"]): StoredWindows => ({
  uid,
  open: true,
  windows: fullWindows(seed, uid),
});
