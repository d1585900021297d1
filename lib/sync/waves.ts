import type { Because } from "../model/decision.ts";
import { intentTooLarge, scaleWaits } from "../report/holds.ts";
import { storeIntents } from "../store/head/intend.ts";
import { fitsIntent, INTENT_BYTES_MAX } from "../store/head/intent-codec.ts";
import { intentBodies } from "../store/head/intents.ts";
import { encodeUncounted } from "../store/head/uncounted-codec.ts";
import { type Acted, act } from "./act.ts";
import type { Verdict } from "./decide.ts";
import { eventBatches } from "./event-batches.ts";
import type { Holder } from "./holder.ts";
import { fitting, heldBack, type Intended, intendedScales } from "./intend.ts";
import type { Loaded } from "./load.ts";
import { uidOf } from "./loaded-specs.ts";
import type { SyncMessage } from "./message.ts";
import type { Seen } from "./observe.ts";
import type { PhaseTimer } from "./phase-timer.ts";
import type { SyncPorts } from "./ports.ts";
import { scaleEvent } from "./scale-event.ts";
import { type OwnScale, type Settled, uncountedOf } from "./settle.ts";
import { wavePace } from "./wave-pace.ts";
import { type WriteWidth, writeWidth } from "./write-width.ts";

export interface Made {
  readonly settled: Settled;
  /** As decided; those for which no time or room was left hold. */
  readonly verdicts: readonly Verdict[];
}

interface Making {
  readonly message: SyncMessage;
  readonly loaded: Loaded;
  readonly seen: Seen;
  readonly softUntilMs: number;
  readonly timer: PhaseTimer;
}

/*
 *  intend 1 ── act, events ── intend 2 ── act, events ── … ── pages ── journal ── release
 *      │            │             │
 *   open: 500    settled       open: 500 more; the first 500 stay as uncounted scales, until the release names pages that count them
 */

/** Makes the decided scales in as many waves as there is time for: stores the intents of some, writes them and their events, and goes on with the next. */
export const makeWaves = async (
  ports: SyncPorts,
  held: Holder,
  now: Making & { readonly verdicts: readonly Verdict[]; readonly earlier: Omit<Settled, "own"> },
): Promise<Made> => {
  const { earlier, loaded, timer } = now;
  const pace = wavePace(ports.tables.clock, now.softUntilMs, ports.timing.scalesPerWave);
  const width = writeWidth(ports.tables.clock);
  const own: OwnScale[] = [];
  const open = [...earlier.open];
  const byFit = Map.groupBy(intendedScales(now.verdicts, held.now.epoch, ports.timing), ({ intent }) => fitsIntent(intent));
  let left = byFit.get(true) ?? [];
  let kept = intentBodies(loaded.head);
  for (const { scale } of earlier.late) kept.set(scale.id, encodeUncounted(scale));
  for (;;) {
    const { wave, bodies } = fitting(left, kept, pace.most());
    if (wave.length === 0) break;
    held.now = await timer.phase("intend", storeIntents(ports.tables, held.now, bodies, loaded.nowMs));
    const made = await makeWave(ports, { ...now, width }, wave);
    for (const { acted, event } of made.settled) bodies.set(event.id, encodeUncounted(uncountedOf(acted.intent, event)));
    own.push(...made.settled);
    open.push(...made.open.map(({ intent }) => intent));
    pace.made(wave.length);
    left = left.slice(wave.length);
    kept = bodies;
  }
  const scales = own.length + open.length - earlier.open.length;
  const holds = new Map<string | undefined, Because>([
    ...left.map(({ intent }) => [intent.uid, scaleWaits(scales)] as const),
    // One that no head could hold must not keep the others from theirs.
    ...(byFit.get(false) ?? []).map(({ intent }) => [intent.uid, intentTooLarge(INTENT_BYTES_MAX)] as const),
  ]);
  return {
    settled: { ...earlier, own, open },
    verdicts: now.verdicts.map((verdict) => {
      const hold = verdict.scale && holds.get(uidOf(verdict.autoscaler));
      return hold ? heldBack(verdict, hold) : verdict;
    }),
  };
};

interface Wave {
  readonly settled: readonly OwnScale[];
  /** Without a clear answer. */
  readonly open: readonly Acted[];
}

/** Writes the scales of one wave, and each one's event as soon as it is answered. Throws when history cannot be written: then nothing more is sent, and no later wave begins. */
const makeWave = async (ports: SyncPorts, now: Making & { readonly width: WriteWidth }, wave: readonly Intended[]): Promise<Wave> => {
  const { message, seen, softUntilMs, timer, width } = now;
  const batches = eventBatches(ports.insert);
  const onActed = ({ intent, outcome, atMs }: Acted): void => {
    if (outcome.kind !== "open") batches.add(scaleEvent(message, intent, outcome, atMs));
  };
  const acting = act(ports, seen.client, wave, { softUntilMs, width, onActed, isOver: batches.failed });
  // Also where a write threw: no insert may be left under way.
  const [acted, stored] = await Promise.allSettled([timer.phase("act", acting), acting.then(batches.done, batches.done)]);
  timer.mark("settle");
  if (acted.status === "rejected") throw acted.reason;
  if (stored.status === "rejected") throw stored.reason;
  const counting = new Map(stored.value.map((event) => [event.id, event]));
  const settled = acted.value.flatMap((one) => {
    const event = counting.get(one.intent.id);
    return event ? [{ acted: one, event }] : [];
  });
  return { settled, open: acted.value.filter(({ intent }) => !counting.has(intent.id)) };
};
