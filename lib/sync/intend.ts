import type { Because, Scale } from "../model/decision.ts";
import type { Intent } from "../model/records.ts";
import type { DecideInput } from "../policy/decide.ts";
import { encodeIntent } from "../store/head/intent-codec.ts";
import { bytesOf, entryBytes, INTENT_ROOM_BYTES, type IntentBodies } from "../store/head/intents.ts";
import type { Verdict } from "./decide.ts";
import type { ReadySpec } from "./observe.ts";
import { newestRun } from "./stored-windows.ts";
import { deadlineOf, type Timing } from "./timing.ts";

/** A scale about to be made, with its intent in the head. */
export interface Intended {
  readonly intent: Intent;
  readonly autoscaler: ReadySpec;
  readonly input: DecideInput;
  readonly scale: Scale;
}

/** A verdict that wants a scale, turned into its intent; `undefined` where the scale was not read, which `decide` never scales on. */
const intendedOf = (verdict: Verdict, epoch: number, timing: Timing): Intended | undefined => {
  const { autoscaler, evaluated, scale } = verdict;
  const reading = evaluated?.input.observation.scale;
  if (!scale || !evaluated || autoscaler.kind !== "ready" || reading?.kind !== "read") return undefined;
  const { record, spec } = autoscaler;
  const { nowMs } = evaluated.input;
  const newest = newestRun(scale.windows);
  const intent: Intent = {
    id: `${record.uid}:${epoch}`,
    uid: record.uid,
    namespace: record.namespace,
    name: record.name,
    target: spec.target,
    from: scale.from,
    to: scale.to,
    targetUid: reading.uid,
    resourceVersion: reading.resourceVersion,
    ...(reading.generation !== undefined && { targetGeneration: reading.generation }),
    decidedMs: nowMs,
    deadlineMs: deadlineOf(nowMs, timing),
    specGeneration: record.generation,
    because: scale.because,
    metrics: scale.metrics,
    steps: scale.steps,
    ...(newest?.lastMs === nowMs && { recommendation: newest.replicas }),
  };
  return { intent, autoscaler, input: evaluated.input, scale };
};

/** Who goes first when not all can: more capacity before less, the largest step up first, then by name. */
const urgency = (one: Intended, other: Intended): number => {
  const step = ({ intent }: Intended): number => (intent.to > intent.from ? intent.to / Math.max(1, intent.from) : 0);
  return step(other) - step(one) || one.intent.id.localeCompare(other.intent.id);
};

/** Every scale that was decided, those first that are needed most. */
export const intendedScales = (verdicts: readonly Verdict[], epoch: number, timing: Timing): readonly Intended[] =>
  verdicts.flatMap((verdict) => intendedOf(verdict, epoch, timing) ?? []).sort(urgency);

/** The scales of one wave, and the head's entries with theirs: as many as there is room for, at most `most`. */
export const fitting = (
  wanted: readonly Intended[],
  kept: IntentBodies,
  most: number,
): { readonly wave: readonly Intended[]; readonly bodies: Map<string, Uint8Array> } => {
  const bodies = new Map(kept);
  const wave: Intended[] = [];
  let bytes = bytesOf(kept);
  for (const one of wanted.slice(0, most)) {
    const { id } = one.intent;
    const body = encodeIntent(one.intent);
    bytes += entryBytes(id, body);
    if (bytes > INTENT_ROOM_BYTES) break;
    bodies.set(id, body);
    wave.push(one);
  }
  return { wave, bodies };
};

/** The verdict of a scale that this sync does not make. */
export const heldBack = ({ autoscaler, evaluated, scale }: Verdict, because: Because): Verdict => ({
  autoscaler,
  because,
  ...(scale && { withoutHold: { to: scale.to, because: scale.because } }),
  ...(evaluated && { evaluated }),
});
