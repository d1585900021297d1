import type { ScaleAnswer } from "../../cluster/cluster-client.ts";
import type { ScaleRead, ScaleReading } from "../../../rules/model/observation.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import { clockWrongBy } from "../../store/table/server-clock.ts";
import { mapInTurns } from "../../turns/gate.ts";
import { changedTo, GONE, isUnmoved, REPLACED } from "../load/open-intents.ts";
import type { WriteWidth } from "./pace.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { sendUntil } from "../../plan/message.ts";
import type { Intent } from "../../../rules/model/scale-records.ts";
import { TOO_MANY_REQUESTS, NOT_FOUND } from "../../../rules/model/http-status.ts";
import type { Intended, Acted } from "../hand-over.ts";

/** How the writes of a wave are made. */
export interface Acting {
  readonly softUntilMs: number;
  readonly width: WriteWidth;
  /** Called with each scale as it is answered. */
  readonly onActed: (acted: Acted) => void;
  /** True when nothing more may be sent. What was not sent stays open. */
  readonly isOver: () => boolean;
}

/**
 * Writes every intended scale, in parallel and bounded; each at most once for each version that was
 * read. Waits for all answers.
 */
export const act = async (
  ports: SyncPorts,
  wave: readonly Intended[],
  acting: Acting,
): Promise<readonly Acted[]> => {
  const { clock } = ports.tables;
  // The namespaces of a wave take turns: slow answers about one delay none of the others.
  const turns = {
    places: acting.width.now,
    elapsed: clock,
    flowOf: ({ intent }: Intended): string => intent.namespace,
  };
  return mapInTurns(wave, turns, async (intended) => {
    const sinceMs = clock();
    const { outcome, throttled } = acting.isOver()
      ? NOT_SENT
      : await write(ports, intended, acting.softUntilMs);
    acting.width.answered(throttled, clock() - sinceMs);
    const atMs = Math.max(clock(), intended.intent.decidedMs);
    // Compared after the reading, so that a step of the clock before it is found. No event may have
    // a time in the future: windows would stand still until then.
    const acted = {
      ...intended,
      outcome: clockIsWrong(ports) ? CLOCK_WRONG.outcome : outcome,
      atMs,
    };
    acting.onActed(acted);
    return acted;
  });
};

interface Ended {
  readonly outcome: Acted["outcome"];
  /** True when the API server answered 429. */
  readonly throttled: boolean;
}

const NOT_SENT: Ended = {
  outcome: { kind: "open", message: "not sent: history cannot be written" },
  throttled: false,
};
/** A later sync settles the intent, with a right clock. */
const CLOCK_WRONG: Ended = {
  outcome: { kind: "open", message: "the clock of this machine is wrong" },
  throttled: false,
};
const clockIsWrong = ({ tables }: SyncPorts): boolean => clockWrongBy(tables) !== undefined;

const write = async (
  ports: SyncPorts,
  { intent, verdict }: Intended,
  softUntilMs: number,
): Promise<Ended> => {
  const { client } = verdict;
  // Later holders settle the intent after its deadline. A PUT after this instant might land after
  // they did.
  const untilMs = Math.min(softUntilMs, sendUntil(intent.deadlineMs, ports.timing));
  let sent: Sent = intent;
  let met: Denied | undefined;
  for (let attempt = 1; attempt <= WRITES_MAX; attempt++) {
    const late = notSent(ports, untilMs);
    if (late) return late;
    const answer = await client.putScale(
      {
        namespace: intent.namespace,
        target: intent.target,
        targetUid: sent.targetUid,
        resourceVersion: sent.resourceVersion,
        replicas: sent.to,
      },
      ports.timing.putTimeoutMs,
    );
    if (!isDenied(answer)) return endedBy(answer);
    met = answer;
    const next = await afterDenied(ports, { intent, verdict }, sent, met);
    if ("outcome" in next) return next;
    sent = next;
  }
  return refused(met?.failure.message ?? "", met?.failure.code);
};

/**
 * Looks at the workload after a request was denied: how the write ended, or what to write next
 * under the same intent.
 */
const afterDenied = async (
  { timing, tables }: SyncPorts,
  { intent, verdict }: Intended,
  sent: Sent,
  { kind, failure }: Denied,
): Promise<Ended | Sent> => {
  if (kind === "conflict") await tables.wait(afterConflictMs(tables.random));
  const reading = await verdict.client.readScale(
    intent.namespace,
    intent.target,
    timing.putTimeoutMs,
  );
  const throttled = failure.code === TOO_MANY_REQUESTS;
  const landed = landedBefore(sent, reading);
  if (landed || reading.kind === "failed")
    return { outcome: landed ?? { kind: "open", message: failure.message }, throttled };
  if (kind === "refused")
    return {
      outcome: { kind: "refused", message: failure.message, code: failure.code },
      throttled,
    };
  const stack = reading.lastScaledBy;
  // On doubt, hold: the next sync names the other stack. A repeat would set its count back.
  if (stack !== undefined && stack !== verdict.read.lastScaledBy)
    return refused(`${failure.message}; the field manager "${stack}" has scaled it`, failure.code);
  const may = mayWriteAgain(verdict.autoscaler.spec, intent, reading);
  return may.kind === "no" ? refused(`${failure.message}; ${may.message}`, failure.code) : may.sent;
};

/** Why a PUT may not be sent now. */
const notSent = (ports: SyncPorts, untilMs: number): Ended | undefined => {
  // By a clock that has stepped back no deadline is ever over.
  if (clockIsWrong(ports)) return CLOCK_WRONG;
  return ports.tables.clock() >= untilMs
    ? refused("not sent: the sync ran out of time")
    : undefined;
};

const refused = (message: string, code?: number): Ended => ({
  outcome: { kind: "refused", message, ...(code !== undefined && { code }) },
  throttled: false,
});

type Denied = Extract<ScaleAnswer, { readonly kind: "conflict" | "refused" }>;

/**
 * True where the answer says that this request was not executed. An earlier copy of it may have
 * been, so the workload is read again.
 */
const isDenied = (answer: ScaleAnswer): answer is Denied =>
  answer.kind === "conflict" || answer.kind === "refused";

/**
 * Only the last answer decides: every earlier attempt under this intent met a conflict, and it is
 * proven that no copy of it took effect (landedBefore).
 */
const endedBy = (answer: Exclude<ScaleAnswer, Denied>): Ended => {
  switch (answer.kind) {
    case "applied":
      return { outcome: { kind: "applied" }, throttled: false };
    case "unsent":
      return refused(answer.failure.message);
    case "unclear":
      return { outcome: { kind: "open", message: answer.failure.message }, throttled: false };
  }
};

/** Most writes under one intent, the first included (hpa.md 2.4 step 6). */
const WRITES_MAX = 5;

/**
 * Wait between a conflict and the next look at the workload (hpa.md 2.4 step 6). A controller that
 * has just seen the workload change often writes its status more than once.
 */
export const afterConflictMs = (random: () => number): number => PAUSE_MS * (1 + JITTER * random());

const PAUSE_MS = 10;
const JITTER = 0.1;

/** What one write named: its object, the version of it, and the count. */
type Sent = Pick<Intent, "targetUid" | "resourceVersion" | "targetGeneration" | "to">;

/**
 * The outcome of a write that was answered by a conflict or another refusal. `undefined` means that
 * no copy of the write took effect, and that this is proven. An answer is about one copy of the
 * request. A proxy before the API server may have sent another copy earlier. That copy may have
 * taken effect and changed the version that this one named. An outcome that is not proven is
 * "unknown", which every limit counts. If the workload cannot be read, a later sync settles the
 * write.
 */
export const landedBefore = (
  sent: Sent,
  reading: ScaleReading,
): { readonly kind: "unknown" | "open"; readonly message: string } | undefined => {
  if (reading.kind === "failed" && reading.failure.code === NOT_FOUND)
    return { kind: "unknown", message: GONE };
  if (reading.kind === "failed")
    return { kind: "open", message: `it could not be read again: ${reading.failure.message}` };
  // The object that was written can be looked at no more.
  if (reading.uid !== sent.targetUid) return { kind: "unknown", message: REPLACED };
  if (isUnmoved(sent, reading) || isOneOtherChange(sent, reading)) return undefined;
  return { kind: "unknown", message: changedTo(reading) };
};

/**
 * True where the spec changed exactly once since, and to another count: a copy that took effect
 * would have been that one change. Without generations, changes cannot be counted.
 */
const isOneOtherChange = (
  { targetGeneration, to }: Sent,
  { generation, specReplicas }: ScaleRead,
): boolean =>
  targetGeneration !== undefined && generation === targetGeneration + 1 && specReplicas !== to;

type WriteAgain =
  | { readonly kind: "yes"; readonly sent: Sent }
  | { readonly kind: "no"; readonly message: string };

/**
 * The dialect says what follows a conflict, after the workload was read again. Another object of
 * the same name never comes here: landedBefore ends its write.
 */
export const mayWriteAgain = (
  spec: AutoscalerSpec,
  { from, to }: Pick<Intent, "from" | "to">,
  reading: ScaleRead,
): WriteAgain => {
  const message = askDialect(spec, (dialect) => dialect.whyNotAgain(from, reading));
  if (message !== undefined) return { kind: "no", message };
  const { uid: targetUid, resourceVersion, generation } = reading;
  return {
    kind: "yes",
    sent: {
      targetUid,
      resourceVersion,
      to,
      ...(generation !== undefined && { targetGeneration: generation }),
    },
  };
};
