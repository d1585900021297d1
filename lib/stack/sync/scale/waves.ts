import limited from "p-limit";
import { mapYielding } from "../../cluster/map-yielding.ts";
import type { Because } from "../../../rules/model/decision.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import { intentTooLarge, scaleWaits } from "../../report/holds.ts";
import {
  fitsIntent,
  INTENT_BYTES_MAX,
  intentBodies,
  encodeUncounted,
} from "../../store/head/intent-codec.ts";
import { storeIntents } from "../../store/head/store-intents.ts";
import { insertEvents } from "../../store/history/events.ts";
import { STATEMENTS_MAX, type InsertHistory } from "../../store/history/item.ts";
import { waitForAll } from "../../store/table/wait-for-all.ts";
import { act } from "./act.ts";
import { fitting, heldBack, intendedScales } from "./intend.ts";
import type { SyncMessage } from "../../plan/message.ts";
import { type WriteWidth, wavePace, writeWidth } from "./pace.ts";
import type { PhaseTimer, LeaseHolder, SyncPorts } from "../sync-ports.ts";
import { scaleEvent } from "./scale-event.ts";
import { uncountedOf } from "./settle-earlier.ts";
import type { ScaleEventRecord } from "../../../rules/model/scale-records.ts";
import type { Acted, Verdict, Intended, Loaded, OwnScale, Settled } from "../hand-over.ts";

export interface MadeScales {
  readonly settled: Settled;
  /** As decided, but scales for which no time or room was left are holds. */
  readonly verdicts: readonly Verdict[];
}

interface WaveContext {
  readonly message: SyncMessage;
  readonly loaded: Loaded;
  readonly softUntilMs: number;
  readonly timer: PhaseTimer;
}

/*
 *  intend 1 ── act, events ── intend 2 ── act, events ── … ── pages ── journal ── release
 *      │            │             │
 *   open: 500
 *         settled       open: 500 more; the first 500 stay as uncounted scales, until the release
 *         names pages that count them
 */

/**
 * Makes the decided scales in as many waves as there is time for, and then those that are decided
 * later. Each wave stores the intents of some scales, writes these, and inserts their events.
 */
export const makeWaves = async (
  ports: SyncPorts,
  holder: LeaseHolder,
  context: WaveContext & {
    /** The verdicts of the first round. */
    readonly verdicts: readonly Verdict[];
    /** Waits for the verdicts of the next round; undefined where there is none. */
    readonly later: () => Promise<readonly Verdict[] | undefined>;
    readonly earlier: Omit<Settled, "own">;
  },
): Promise<MadeScales> => {
  const { earlier, loaded, timer, later } = context;
  const { clock } = ports.tables;
  const pace = wavePace(clock, context.softUntilMs, ports.timing.scalesPerWave);
  const width = writeWidth(clock);
  const own: OwnScale[] = [];
  const open = [...earlier.open];
  const verdicts: Verdict[] = [];
  const tooLarge: Intended[] = [];
  let left: readonly Intended[] = [];
  /** Takes the scales of one round of decisions to those that are left. */
  const add = async (decided: readonly Verdict[]): Promise<void> => {
    for (const verdict of decided) verdicts.push(verdict);
    const intended = intendedScales(
      decided.filter((verdict) => verdict.kind === "scale"),
      holder.lease.epoch,
      ports.timing,
    );
    const fits = await mapYielding(intended, ({ intent }) => fitsIntent(intent));
    for (const [at, scale] of intended.entries()) if (!fits[at]) tooLarge.push(scale);
    left = [...left, ...intended.filter((_, at) => fits[at])];
  };
  await add(context.verdicts);
  let entries = intentBodies(loaded.head);
  for (const { scale } of earlier.late) entries.set(scale.id, encodeUncounted(scale));
  for (;;) {
    const { wave, bodies } = await fitting(left, entries, pace.most());
    if (wave.length === 0) {
      const fromMs = clock();
      const decided = await later();
      if (!decided) break;
      pace.waited(clock() - fromMs);
      await add(decided);
      continue;
    }
    holder.lease = await timer.phase(
      "intend",
      storeIntents(ports.tables, holder.lease, bodies, loaded.nowMs),
    );
    const made = await makeWave(ports, { ...context, width }, wave);
    for (const { acted, event } of made.settled)
      bodies.set(event.id, encodeUncounted(uncountedOf(acted.intent, event)));
    own.push(...made.settled);
    open.push(...made.open.map(({ intent }) => intent));
    pace.made(wave.length);
    left = left.slice(wave.length);
    entries = bodies;
  }
  const made = own.length + open.length - earlier.open.length;
  const holds = new Map<AutoscalerUid, Because>([
    ...left.map(({ intent }) => [intent.uid, scaleWaits(made)] as const),
    // An intent that is too large for any head holds its own autoscaler. The others scale.
    ...tooLarge.map(({ intent }) => [intent.uid, intentTooLarge(INTENT_BYTES_MAX)] as const),
  ]);
  return {
    settled: { ...earlier, own, open },
    verdicts: inOrder(verdicts, loaded).map((verdict) => afterWaves(verdict, holds)),
  };
};

/** The verdicts in the order of the specs, whatever the round in which they were made. */
const inOrder = (verdicts: readonly Verdict[], { specs }: Loaded): readonly Verdict[] => {
  const byAutoscaler = new Map(verdicts.map((verdict) => [verdict.autoscaler, verdict]));
  return specs.all.flatMap((autoscaler) => byAutoscaler.get(autoscaler) ?? []);
};

const afterWaves = (verdict: Verdict, holds: ReadonlyMap<AutoscalerUid, Because>): Verdict => {
  const hold = verdict.kind === "scale" ? holds.get(verdict.autoscaler.record.uid) : undefined;
  return hold && verdict.kind === "scale" ? heldBack(verdict, hold) : verdict;
};

interface Wave {
  readonly settled: readonly OwnScale[];
  /** Scales without a clear answer. */
  readonly open: readonly Acted[];
}

/**
 * Writes the scales of one wave, and inserts each event as soon as its PUT is answered. Throws when
 * history cannot be written: then no further PUT is sent, and no later wave begins.
 */
const makeWave = async (
  ports: SyncPorts,
  context: WaveContext & { readonly width: WriteWidth },
  wave: readonly Intended[],
): Promise<Wave> => {
  const { message, softUntilMs, timer, width } = context;
  const batches = eventBatches(ports.insert);
  const onActed = ({ intent, outcome, atMs }: Acted): void => {
    if (outcome.kind !== "open") batches.add(scaleEvent(message, intent, outcome, atMs));
  };
  const acting = act(ports, wave, { softUntilMs, width, onActed, isOver: batches.failed });
  // Waits for the events also where a write threw: no insert may be left under way.
  const [acted, stored] = await Promise.allSettled([
    timer.phase("act", acting),
    acting.then(batches.done, batches.done),
  ]);
  timer.mark("settle");
  if (acted.status === "rejected") throw acted.reason;
  if (stored.status === "rejected") throw stored.reason;
  const events = new Map(stored.value.map((event) => [event.id, event]));
  const settled = acted.value.flatMap((scale) => {
    const event = events.get(scale.intent.id);
    return event ? [{ acted: scale, event }] : [];
  });
  return { settled, open: acted.value.filter(({ intent }) => !events.has(intent.id)) };
};

/** Inserts events while the other scales of a wave are still being made. */
interface EventBatches {
  readonly add: (event: ScaleEventRecord) => void;
  /** True once history refused a batch. Then nothing more may be written to the cluster. */
  readonly failed: () => boolean;
  /**
   * Waits until all events are in history. Returns the stored events, which an earlier holder has
   * stored where it was first. Throws when one could not be inserted.
   */
  readonly done: () => Promise<readonly ScaleEventRecord[]>;
}

/** As many as one request takes. */
const BATCH = STATEMENTS_MAX;
/**
 * Requests under way. Four batches of 25 keep a fast engine on one core busy. The events of a
 * cluster's day share one partition key, which takes a thousand writes a second.
 */
const PARALLEL = 4;

const eventBatches = (insert: InsertHistory): EventBatches => {
  const limit = limited(PARALLEL);
  const sent: Promise<readonly ScaleEventRecord[]>[] = [];
  let waiting: ScaleEventRecord[] = [];
  let failed = false;
  const send = (): void => {
    const batch = waiting;
    waiting = [];
    const inserting = limit(insertEvents, insert, batch);
    // done() throws the failure. Until then it must not end the process as an unhandled rejection.
    inserting.catch(() => {
      failed = true;
    });
    sent.push(inserting);
  };
  return {
    add: (event) => {
      waiting.push(event);
      if (waiting.length >= BATCH) send();
    },
    failed: () => failed,
    done: async () => {
      if (waiting.length > 0) send();
      return (await waitForAll(sent)).flat();
    },
  };
};
