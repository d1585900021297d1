import { mapYielding } from "../../cluster/map-yielding.ts";
import type { Because } from "../../../rules/model/decision.ts";
import {
  encodeIntent,
  bytesOf,
  entryBytes,
  HEAD_ENTRIES_BYTES_MAX,
  type IntentBodies,
} from "../../store/head/intent-codec.ts";
import { inFairTurns } from "../../turns/turns.ts";
import { newestRun } from "../load/stored-windows.ts";
import { deadlineOf, type Timing } from "../../plan/message.ts";
import type { Intent } from "../../../rules/model/scale-records.ts";
import type { HoldVerdict, ScaleVerdict, Intended } from "../hand-over.ts";

const intendedOf = (verdict: ScaleVerdict, epoch: number, timing: Timing): Intended => {
  const { decision, read } = verdict;
  const { record, spec } = verdict.autoscaler;
  const { nowMs } = verdict.input;
  const newest = newestRun(decision.windows);
  const intent: Intent = {
    id: `${record.uid}:${epoch}`,
    uid: record.uid,
    namespace: record.namespace,
    name: record.name,
    target: spec.target,
    from: decision.from,
    to: decision.to,
    targetUid: read.uid,
    resourceVersion: read.resourceVersion,
    ...(read.generation !== undefined && { targetGeneration: read.generation }),
    decidedMs: nowMs,
    deadlineMs: deadlineOf(nowMs, timing),
    specGeneration: record.origin?.generation ?? record.generation,
    because: decision.because,
    metrics: decision.metrics,
    steps: decision.steps,
    ...(decision.ruled !== undefined && { ruled: decision.ruled }),
    ...(newest?.lastMs === nowMs && { recommendation: newest.replicas }),
  };
  return { verdict, intent };
};

/**
 * The order of scales where not all can be made: scales up before scales down, the largest factor
 * first, then by id.
 */
const byUrgency = (one: Intended, other: Intended): number => {
  const factor = ({ intent }: Intended): number =>
    intent.to > intent.from ? intent.to / Math.max(1, intent.from) : 0;
  return factor(other) - factor(one) || (one.intent.id < other.intent.id ? -1 : 1);
};

/**
 * The intents of all decided scales, in turns of their namespaces, and the most urgent of each
 * namespace first.
 */
export const intendedScales = (
  verdicts: readonly ScaleVerdict[],
  epoch: number,
  timing: Timing,
): readonly Intended[] =>
  inFairTurns(
    verdicts.map((verdict) => intendedOf(verdict, epoch, timing)).sort(byUrgency),
    // The most urgent of all namespaces stay first among the intents of one turn.
    { flowOf: ({ intent }) => intent.namespace, costOf: () => 1, by: "end" },
  );

/** Intents that are packed in one turn of the event loop, some 0.1 ms each. */
const INTENTS_A_TURN = 50;

/**
 * The scales of one wave, at most `most` and as many as the head has room for; and the entries of
 * the head with theirs.
 */
export const fitting = async (
  wanted: readonly Intended[],
  entries: IntentBodies,
  most: number,
): Promise<{ readonly wave: readonly Intended[]; readonly bodies: Map<string, Uint8Array> }> => {
  const bodies = new Map(entries);
  const wave: Intended[] = [];
  let bytes = bytesOf(entries);
  const packed = await mapYielding(
    wanted.slice(0, most),
    (intended) => ({ intended, id: intended.intent.id, body: encodeIntent(intended.intent) }),
    INTENTS_A_TURN,
  );
  for (const { intended, id, body } of packed) {
    bytes += entryBytes(id, body);
    if (bytes > HEAD_ENTRIES_BYTES_MAX) break;
    bodies.set(id, body);
    wave.push(intended);
  }
  return { wave, bodies };
};

/**
 * The verdict on a scale that this sync does not make. What was seen beside the decision stays:
 * what looks for other controllers have shown is stored from here.
 */
export const heldBack = (
  { read: _read, client: _client, ...verdict }: ScaleVerdict,
  because: Because,
): HoldVerdict => ({
  ...verdict,
  kind: "hold",
  because,
  withoutHold: { to: verdict.decision.to, because: verdict.decision.because },
});
