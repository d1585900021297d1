import type { CallKind, Fate, Slow } from "./fates.ts";
import { type Random, randomOf } from "./random.ts";
import type { Call, Process } from "./process.ts";

/**
 * In a class of seeds the requests of syncs travel for seconds, and processes are killed while
 * requests of theirs are on their way: a PUT or a write of a table arrives after the sync that sent
 * it is gone, and several of one sync in any order. They are drawn from a stream of their own, and
 * only in seeds from here on, so that nothing else that is drawn depends on it.
 */
const FIRST = 2_000;
/** Seeds of one kind of world are twenty apart: every kind has seeds with late answers. */
const KINDS_OF_WORLD = 20;

export const hasLateAnswers = (seed: number): boolean =>
  seed >= FIRST && Math.floor(seed / KINDS_OF_WORLD) % 2 === 1;

/** What becomes late of a call that meets no other fault; undefined for one that is in time. */
export type LateAnswers = (
  caller: Process,
  call: Pick<Call<unknown>, "kind" | "by" | "timeoutMs" | "lateMs" | "waitsForAnswer">,
  fate: Fate,
) => Slow | undefined;

/** Chance per call of a sync that it is slow, and per write that its process is killed after it. */
const SLOW = [0.02, 0.08, 0.25] as const;
const KILLED = [0.003, 0.01, 0.03] as const;
/** A PUT, and the write of its intent, is where order matters most. */
const PUT_KILLS = 8;

/** A process is killed so long after a write was sent, at the latest. */
const KILLED_MS = 3_000;
/** What is slow comes within the patience of its caller, or so much later. */
const PAST_PATIENCE = 1.5;
const LONGEST_PATIENCE_MS = 5_000;

/** Requests that change something where they arrive. */
const WRITES: ReadonlySet<CallKind> = new Set(["table", "page", "tell", "update", "put"]);
const NEVER_SLOW: ReadonlySet<CallKind> = new Set(["queue", "connect"]);

export const lateAnswers = (
  seed: number,
  { calm, nowMs }: { readonly calm: () => boolean; readonly nowMs: () => number },
): LateAnswers | undefined => {
  if (!hasLateAnswers(seed)) return undefined;
  const random = randomOf(seed, "late answers");
  const slow = random.pick(SLOW);
  const killed = random.pick(KILLED);
  const endsMs = new WeakMap<Process, number>();
  /** When the process is killed; writes draw it. */
  const endOf = (caller: Process, kind: CallKind): number | undefined => {
    const chance = killed * (kind === "put" ? PUT_KILLS : 1);
    if (WRITES.has(kind) && random.chance(chance) && !endsMs.has(caller))
      endsMs.set(caller, nowMs() + random.int(0, KILLED_MS));
    return endsMs.get(caller);
  };
  return (caller, call, { fault }) => {
    if (!call.by || fault !== "none" || NEVER_SLOW.has(call.kind) || calm()) return undefined;
    const endMs = endOf(caller, call.kind);
    // Of a process that is about to be killed every request is on its way for long.
    if (endMs === undefined && !random.chance(slow)) return undefined;
    return { ...travel(random, call, WRITES.has(call.kind) && endMs !== undefined), endMs };
  };
};

/** The request arrives, and its answer; both are offsets from when it was sent. */
const travel = (
  random: Random,
  { timeoutMs, lateMs, waitsForAnswer }: Parameters<LateAnswers>[1],
  isLast: boolean,
): Pick<Slow, "arrivesMs" | "answeredMs"> => {
  const patienceMs = Math.min(waitsForAnswer ? lateMs : timeoutMs, LONGEST_PATIENCE_MS);
  const arrivesMs = isLast
    ? random.int(0, lateMs)
    : random.int(0, Math.min(patienceMs * PAST_PATIENCE, lateMs > 0 ? lateMs : patienceMs));
  return { arrivesMs, answeredMs: arrivesMs + random.int(1, Math.max(1, patienceMs)) };
};
