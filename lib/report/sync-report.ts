import type { Because } from "../model/decision.ts";
import type { PartitionRef } from "../model/ids.ts";
import type { ScaleEventRecord } from "../model/records.ts";

/** What became of one message: the raw material of the log line and of the metrics. */
export type SyncReport = CompletedSync | DroppedSync;

interface Told extends PartitionRef {
  readonly dueMs: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** A message that had no effect, and why. */
export interface DroppedSync extends Told {
  readonly kind: "dropped";
  readonly why: DropReason;
  /** How far the clock of the machine is ahead of the service's, where that is why. */
  readonly wrongByMs?: number;
}

/** `stale`: later messages do its work; `early`: it is due in the future; `clock`: the clock of the machine is wrong; `done`: this due time or a later one is done; `held`: another holds the lease; `removed`: there is no such partition; `lost`: another claimed it halfway; `newer`: code of a later protocol works on it. */
export type DropReason = "stale" | "early" | "clock" | "done" | "held" | "removed" | "lost" | "newer";

export interface CompletedSync extends Told {
  readonly kind: "completed";
  readonly epoch: number;
  readonly autoscalers: number;
  readonly evaluated: number;
  /** Held because something could not be evaluated. */
  readonly failed: number;
  /** Settled in this sync, of this and of earlier ones. */
  readonly events: readonly ScaleEventRecord[];
  readonly openIntents: number;
  /** Autoscalers that cannot be decided because something stored cannot be read. */
  readonly unreadable: readonly ToldAutoscaler[];
  /** Autoscalers whose conditions changed. */
  readonly changed: readonly ToldAutoscaler[];
  readonly calls: number;
  readonly bytes: number;
  readonly pagesWritten: number;
  readonly journalPages: number;
  /** Scales that the rules wanted, and a hold beside them kept from being made. */
  readonly heldBack: number;
  /** Why nothing was written to the cluster, whatever was decided: the kill switch, or a pause of the cluster. */
  readonly stopped?: Because;
  readonly phasesMs: Readonly<Record<string, number>>;
}

export interface ToldAutoscaler extends Because {
  readonly namespace: string;
  readonly name: string;
}
