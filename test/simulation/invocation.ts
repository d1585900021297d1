import type { Decision } from "../../lib/rules/model/decision.ts";
import type { SpecKindName } from "../../lib/rules/model/spec.ts";
import type { DecideInput } from "../../lib/rules/policy/decide.ts";
import type { SyncMessage } from "../../lib/stack/plan/message.ts";
import type { ClusterObject } from "./objects/object-store.ts";
import type { Process } from "./process.ts";
import type { Looked } from "./rivals.ts";

/** One sync under way: a message in a process. */
export interface Invocation {
  readonly name: string;
  readonly process: Process;
  readonly message: SyncMessage;
  readonly startMs: number;
  over: boolean;
  /** Epoch that the table gave to its claim, whether or not it was told. */
  epoch: number | undefined;
  /**
   * It has begun to load. So it has its epoch, and a copy of its claim that takes effect from now
   * on gives it no other.
   */
  loads: boolean;
  /** Windows pages that the table has answered it, by key. */
  readonly pagesRead: Set<string>;
  /** When that was, as the world counts (watch/stops.ts). */
  claimedAt: number;
  /**
   * Workloads where its observation saw another controller, or could not look for one, by name of
   * the target.
   */
  readonly rivals: Set<string>;
  /** What the cluster showed it of other controllers, and what was there. */
  readonly looked: Looked;
  /** Uid of what it watches, by namespace and name. */
  readonly uids: Map<string, string>;
  /**
   * The kinds of autoscalers that the record of its cluster says are read from the cluster, and
   * every object that its LISTs have shown, by uid.
   */
  kinds: readonly SpecKindName[];
  readonly shown: Map<string, ClusterObject>;
  /** By uid: what it decided. */
  readonly decided: Map<string, Decided>;
}

export interface Decided {
  readonly by: Invocation;
  readonly uid: string;
  readonly input: DecideInput;
  readonly decision: Decision;
  readonly atMs: number;
  /** How many scales of ours its workload has had; undefined while one is open. */
  readonly intents?: number | undefined;
}
