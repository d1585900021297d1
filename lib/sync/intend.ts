import type { Scale } from "../model/decision.ts";
import type { Intent } from "../model/records.ts";
import type { DecideInput } from "../policy/decide.ts";
import { tooManyIntents } from "../report/holds.ts";
import type { Held } from "../store/head-write.ts";
import { storeIntents } from "../store/intend.ts";
import { OPEN_INTENTS_MAX } from "../store/intent-codec.ts";
import type { Verdict } from "./decide.ts";
import type { Loaded } from "./load.ts";
import type { ReadySpec } from "./observe.ts";
import type { SyncPorts } from "./ports.ts";
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

export interface Intentions {
  readonly held: Held;
  readonly intended: readonly Intended[];
  readonly verdicts: readonly Verdict[];
}

/** Stores the intents of every scale about to be made, the fence before any PUT. Those for which the head has no room hold until the next sync. */
export const intend = async (ports: SyncPorts, held: Held, loaded: Loaded, verdicts: readonly Verdict[]): Promise<Intentions> => {
  const wanted = verdicts.flatMap((verdict) => intendedOf(verdict, held.epoch, ports.timing) ?? []);
  if (wanted.length === 0) return { held, intended: [], verdicts };
  const room = Math.max(0, OPEN_INTENTS_MAX - loaded.head.intents.length - loaded.head.unreadable.length);
  const intended = [...wanted].sort(urgency).slice(0, room);
  const chosen = new Set<string>(intended.map(({ intent }) => intent.uid));
  return {
    held: await storeIntents(
      ports.tables,
      held,
      intended.map(({ intent }) => intent),
      loaded.nowMs,
    ),
    intended,
    verdicts: verdicts.map((verdict) => (verdict.scale && !chosen.has(verdictUid(verdict)) ? waiting(verdict) : verdict)),
  };
};

const verdictUid = ({ autoscaler }: Verdict): string => (autoscaler.kind === "ready" ? autoscaler.record.uid : "");

const waiting = ({ autoscaler, evaluated }: Verdict): Verdict => ({
  autoscaler,
  because: tooManyIntents(OPEN_INTENTS_MAX),
  ...(evaluated && { evaluated }),
});
