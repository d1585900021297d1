import * as z from "zod";
import { clusterName, type PartitionRef, partitionName } from "../../rules/model/ids.ts";
import { FOREIGN_CHARACTERS_MAX } from "../../rules/model/foreign-text.ts";
import { PAGE_ENTRIES } from "../store/pages/plan.ts";

/** Names the partition to sync and its due time. It never says what to do. */
export interface SyncMessage extends PartitionRef {
  readonly dueMs: number;
  /** The sync period when it was planned. It decides when the message is too old. */
  readonly periodMs: number;
  /** The term of the fleet in which it was planned. Absent: 0, the fleet never moved. */
  readonly term?: number;
  /**
   * From then on it may not be claimed, because another region may have the fleet. Absent where the
   * tables have no replica.
   */
  readonly untilMs?: number;
  /** Present where a wake has sent it, between two planned syncs. */
  readonly woken?: Woken;
}

/**
 * What a wake says of its sync, for the journal and for people. It names no count, and nothing is
 * decided by it.
 */
export interface Woken {
  /** The text of another, as `foreignText` makes it. */
  readonly reason: string;
  /** What the wake was about; absent: all of the cluster, or of the namespace. */
  readonly namespace?: string;
  readonly names?: readonly string[];
}

/** Names of one wake. More are one namespace. */
export const WOKEN_NAMES_MAX = 50;

const schema = z.object({
  cluster: z.string().min(1).transform(clusterName),
  partition: z.string().min(1).transform(partitionName),
  dueMs: z.number().int(),
  periodMs: z.number().int().positive(),
  term: z.number().int().positive().exactOptional(),
  untilMs: z.number().int().exactOptional(),
  woken: z
    .object({
      reason: z.string().max(FOREIGN_CHARACTERS_MAX),
      namespace: z.string().exactOptional(),
      names: z.array(z.string()).max(WOKEN_NAMES_MAX).exactOptional(),
    })
    .exactOptional(),
});

/** Body of the queue's message. */
export const messageBody = (message: SyncMessage): string => JSON.stringify(message);

/**
 * The message in a body. Throws a ZodError or a SyntaxError, which sends it to the dead letters.
 */
export const messageOf = (body: string): SyncMessage => schema.parse(JSON.parse(body));

/**
 * True when the message is due later than a difference of clocks explains, because the queue
 * delivers no message before it is due. A sync for it would set the due time done ahead: every
 * message that is due before would be refused.
 */
export const isEarly = (
  { dueMs }: SyncMessage,
  clockMs: number,
  { clockDifferenceMs }: Pick<Timing, "clockDifferenceMs">,
): boolean => dueMs > clockMs + clockDifferenceMs;

/** True when later messages do its work, or another region may have the fleet. */
export const isStale = ({ dueMs, periodMs, untilMs }: SyncMessage, clockMs: number): boolean =>
  clockMs - dueMs > STALE_PERIODS * periodMs || (untilMs !== undefined && clockMs > untilMs);

/**
 * How long a sync and its parts may take, and how many scales a wave has. The safety of the
 * protocol rests on the order of these numbers (docs/protocol.md, "Time"). The template states the
 * same function timeout, and a test compares them.
 */
export interface Timing {
  /** Longest life of one invocation. The platform or a watchdog ends it then. */
  readonly lifeMs: number;
  /** After this time a sync starts no new work. The sync period counts where it is shorter. */
  readonly softDeadlineMs: number;
  /** Time that the API server has for one PUT (`?timeout=`). */
  readonly putTimeoutMs: number;
  /** Largest difference between the clocks of any two machines. */
  readonly clockDifferenceMs: number;
  readonly leaseMs: number;
  /**
   * Most scales of one wave, and so the most that a sync leaves open when it dies. More would be
   * hardly faster.
   */
  readonly scalesPerWave: number;
  /**
   * After this time specs are read again, also under the same version: the editor may have died
   * before it raised the version. Its edit then takes effect so late, unless it is repeated: a
   * repeat raises the version.
   */
  readonly specsFreshMs: number;
  /** Wanted entries of a windows page (plan.ts). */
  readonly pageEntries: number;
}

const lifeMs = 30_000;
const clockDifferenceMs = 4_000;

export const DEFAULT_TIMING: Timing = {
  lifeMs,
  softDeadlineMs: 10_000,
  putTimeoutMs: 5_000,
  clockDifferenceMs,
  // Longer than the life, so that no other sync claims while the holder may still work. Every sync
  // that ends gives it back early.
  leaseMs: lifeMs + clockDifferenceMs,
  scalesPerWave: 500,
  specsFreshMs: 300_000,
  pageEntries: PAGE_ENTRIES,
};

/**
 * A message that is older than this many periods is dropped, because later messages do its work.
 */
export const STALE_PERIODS = 3;

/** From when on a PUT of an intent that was decided at `nowMs` cannot take effect, on any clock. */
export const deadlineOf = (
  nowMs: number,
  { lifeMs: life, putTimeoutMs, clockDifferenceMs: difference }: Timing,
): number => nowMs + life + putTimeoutMs + difference;

/** A PUT under this deadline may be sent while the own clock is before this time. */
export const sendUntil = (
  deadlineMs: number,
  { putTimeoutMs, clockDifferenceMs: difference }: Timing,
): number => deadlineMs - putTimeoutMs - difference;
