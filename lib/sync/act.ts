import limited from "p-limit";
import type { ClusterClient, ScaleAnswer } from "../cluster/port.ts";
import type { WriteOutcome } from "../model/decision.ts";
import type { ApiFailure, ScaleRead } from "../model/observation.ts";
import { allDone } from "../store/table/all-done.ts";
import { clockWrongBy } from "../store/table/server-clock.ts";
import type { Intended } from "./intend.ts";
import type { SyncPorts } from "./ports.ts";
import { sendUntil } from "./timing.ts";
import { landedBefore, mayWriteAgain, WRITES_MAX } from "./write-again.ts";
import type { WriteWidth } from "./write-width.ts";

/** What a PUT led to. `open`: no clear answer, so that a later holder settles it. */
export interface Acted extends Intended {
  readonly outcome: WriteOutcome | { readonly kind: "open"; readonly message: string };
  /** A clock reading after the answer. */
  readonly atMs: number;
}

/** How the writes of a wave go on. */
export interface Acting {
  readonly softUntilMs: number;
  readonly width: WriteWidth;
  /** Called with each scale as it is answered. */
  readonly onActed: (acted: Acted) => void;
  /** True when nothing more may be sent: what was not sent stays open. */
  readonly isOver: () => boolean;
}

/** Writes every intended scale, in parallel and bounded; each at most once per version that it saw. Waits for all answers. */
export const act = async (
  ports: SyncPorts,
  client: ClusterClient | undefined,
  intended: readonly Intended[],
  acting: Acting,
): Promise<readonly Acted[]> => {
  const limit = limited(acting.width.now());
  return allDone(
    intended.map((one) =>
      limit(async () => {
        if (!client) throw new TypeError("a scale was decided on a cluster that was not seen");
        const { outcome, throttled } = acting.isOver() ? NOT_SENT : await write(ports, client, one, acting.softUntilMs);
        limit.concurrency = acting.width.answered(throttled);
        const atMs = Math.max(ports.tables.clock(), one.intent.decidedMs);
        // Compared after the reading: a step of the clock before it is found. No event may carry a time that has not come: windows would stand still until it has.
        const acted = { ...one, outcome: clockIsWrong(ports) ? CLOCK_WRONG.outcome : outcome, atMs };
        acting.onActed(acted);
        return acted;
      }),
    ),
  );
};

interface Ended {
  readonly outcome: Acted["outcome"];
  /** The server was asked too much. */
  readonly throttled: boolean;
}

const NOT_SENT: Ended = { outcome: { kind: "open", message: "not sent: history cannot be written" }, throttled: false };
/** A later holder tells how it ended, by a clock that is right. */
const CLOCK_WRONG: Ended = { outcome: { kind: "open", message: "the clock of this machine is wrong" }, throttled: false };
const clockIsWrong = ({ tables }: SyncPorts): boolean => clockWrongBy(tables) !== undefined;
const TOO_MANY_REQUESTS = 429;

type Version = Pick<ScaleRead, "uid" | "resourceVersion">;

const write = async (ports: SyncPorts, client: ClusterClient, { intent, autoscaler }: Intended, softUntilMs: number): Promise<Ended> => {
  // The deadline of the intent is what others go by: past this instant a PUT might land after they settled it.
  const untilMs = Math.min(softUntilMs, sendUntil(intent.deadlineMs, ports.timing));
  let version: Version = { uid: intent.targetUid, resourceVersion: intent.resourceVersion };
  let conflict: ApiFailure | undefined;
  for (let attempt = 1; attempt <= WRITES_MAX; attempt++) {
    const late = notSent(ports, untilMs);
    if (late) return late;
    const answer = await client.putScale(
      { namespace: intent.namespace, target: intent.target, targetUid: version.uid, resourceVersion: version.resourceVersion, replicas: intent.to },
      ports.timing.putTimeoutMs,
    );
    if (answer.kind !== "conflict") return endedBy(answer);
    conflict = answer.failure;
    const again = await client.readScale(intent.namespace, intent.target, ports.timing.putTimeoutMs);
    const landed = landedBefore(intent, again);
    if (landed || again.kind === "failed") return { outcome: landed ?? { kind: "open", message: conflict.message }, throttled: false };
    const may = mayWriteAgain(autoscaler.spec.dialect, intent, again);
    if (may.kind === "no") return refused(`${conflict.message}; ${may.message}`);
    version = may.version;
  }
  return refused(conflict?.message ?? "");
};

/** Why a PUT may not be sent now. */
const notSent = (ports: SyncPorts, untilMs: number): Ended | undefined => {
  // By a clock that has stepped back no deadline is ever over.
  if (clockIsWrong(ports)) return CLOCK_WRONG;
  return ports.tables.clock() >= untilMs ? refused("not sent: the sync ran out of time") : undefined;
};

const refused = (message: string): Ended => ({ outcome: { kind: "refused", message }, throttled: false });

/** Every earlier attempt under this intent met a conflict, and the workload did not have the count afterwards (landedBefore): so the last answer alone decides. */
const endedBy = (answer: Exclude<ScaleAnswer, { kind: "conflict" }> | ScaleAnswer): Ended => {
  switch (answer.kind) {
    case "applied":
      return { outcome: { kind: "applied" }, throttled: false };
    case "conflict":
    case "refused":
      return { outcome: { kind: "refused", message: answer.failure.message }, throttled: answer.failure.code === TOO_MANY_REQUESTS };
    case "unclear":
      return { outcome: { kind: "open", message: answer.failure.message }, throttled: false };
  }
};
