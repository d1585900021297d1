import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { type Random, randomOf } from "../random.ts";
import { CLUSTERS, PLACES, READERS } from "./places.ts";
import type { Put, Question } from "./timetable.ts";

const LOOKS = 160;
/** The last hour is drawn small: where syncs were in it, there is something to be seen. */
const SOON_MS = 50 * MINUTE_MS;

/**
 * When readers look at one autoscaler, at the last hour of all of them, and at the series. From a
 * stream of its own, so that what people do is as it was.
 */
export const planLooks = (seed: number, ticks: readonly number[], put: Put): void => {
  const random = randomOf(seed, "looks");
  for (let at = 0; at < LOOKS; at++) {
    const tick = random.pick(ticks);
    const atMs = tick + (random.chance(1 / 2) ? random.int(-1_000, 4_000) : random.int(0, SOON_MS));
    const reader = random.int(0, READERS - 1);
    put(Math.max(1, atMs), { kind: "ask", reader, question: look(random) });
  }
};

const look = (random: Random): Question => {
  const place = random.pick(PLACES);
  const share = random.real();
  if (share < 0.4) return { kind: "sparklines" };
  if (share < 0.6) return { kind: "describe", place };
  if (share < 0.7) return { kind: "explain", place };
  if (share < 0.85)
    return { kind: "explain", place, agoMs: random.int(0, 18) * DAY_MS + random.int(0, DAY_MS) };
  return { kind: "series" };
};

const AROUND = 24;
const AROUND_MS = 40 * MINUTE_MS;

/**
 * Syncs and looks in the hour in which the tables go back: what a reader has seen of syncs that are
 * lost, it must not show again.
 */
export const planLooksBeside = (seed: number, restoredMs: number, put: Put): void => {
  const random = randomOf(seed + 1, "looks");
  for (let at = 0; at < AROUND; at++) {
    const atMs = restoredMs + random.int(-AROUND_MS, AROUND_MS);
    if (random.chance(1 / 3)) put(atMs, { kind: "sync", cluster: random.pick(CLUSTERS) });
    const question: Question = random.chance(2 / 3) ? { kind: "sparklines" } : look(random);
    put(atMs + random.int(MINUTE_MS, HOUR_MS), {
      ...{ kind: "ask", reader: random.int(0, READERS - 1), question },
    });
  }
};
