import type { ClusterClient, ScaleAnswer } from "../cluster/port.ts";
import type { WriteOutcome } from "../model/decision.ts";
import type { ApiFailure, ScaleRead } from "../model/observation.ts";
import { eachDone } from "../store/all-done.ts";
import type { Intended } from "./intend.ts";
import type { SyncPorts } from "./ports.ts";
import { sendUntil } from "./timing.ts";
import { mayWriteAgain, WRITES_MAX } from "./write-again.ts";

/** What a PUT led to. `open`: no clear answer, so that a later holder settles it. */
export interface Acted extends Intended {
  readonly outcome: WriteOutcome | { readonly kind: "open"; readonly message: string };
  /** A clock reading after the answer. */
  readonly atMs: number;
}

const PARALLEL = 16;

/** Writes every intended scale, in parallel and bounded; each at most once per version that it saw. Waits for all answers. */
export const act = async (
  ports: SyncPorts,
  client: ClusterClient | undefined,
  intended: readonly Intended[],
  softUntilMs: number,
): Promise<readonly Acted[]> =>
  eachDone(intended, PARALLEL, async (one) => {
    if (!client) throw new TypeError("a scale was decided on a cluster that was not seen");
    const outcome = await write(ports, client, one, softUntilMs);
    return { ...one, outcome, atMs: Math.max(ports.tables.clock(), one.intent.decidedMs) };
  });

type Version = Pick<ScaleRead, "uid" | "resourceVersion">;

const write = async (ports: SyncPorts, client: ClusterClient, { intent, autoscaler }: Intended, softUntilMs: number): Promise<Acted["outcome"]> => {
  // The deadline of the intent is what others go by: past this instant a PUT might land after they settled it.
  const untilMs = Math.min(softUntilMs, sendUntil(intent.deadlineMs, ports.timing));
  let version: Version = { uid: intent.targetUid, resourceVersion: intent.resourceVersion };
  let conflict: ApiFailure | undefined;
  for (let attempt = 1; attempt <= WRITES_MAX; attempt++) {
    if (ports.tables.clock() >= untilMs) return { kind: "refused", message: "not sent: the sync ran out of time" };
    const answer = await client.putScale(
      { namespace: intent.namespace, target: intent.target, targetUid: version.uid, resourceVersion: version.resourceVersion, replicas: intent.to },
      ports.timing.putTimeoutMs,
    );
    if (answer.kind !== "conflict") return outcomeOf(answer);
    conflict = answer.failure;
    const again = await client.readScale(intent.namespace, intent.target, ports.timing.putTimeoutMs);
    const may = mayWriteAgain(autoscaler.spec.dialect, intent, again);
    if (may.kind === "no") return { kind: "refused", message: `${conflict.message}; ${may.message}` };
    version = may.version;
  }
  return { kind: "refused", message: conflict?.message ?? "" };
};

/** Every earlier attempt under this intent met a conflict, which proves that it was not executed: so the last answer alone decides. */
const outcomeOf = (answer: Exclude<ScaleAnswer, { kind: "conflict" }> | ScaleAnswer): Acted["outcome"] => {
  switch (answer.kind) {
    case "applied":
      return { kind: "applied" };
    case "conflict":
    case "refused":
      return { kind: "refused", message: answer.failure.message };
    case "unclear":
      return { kind: "open", message: answer.failure.message };
  }
};
