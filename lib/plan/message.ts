import * as z from "zod";
import { clusterName, type PartitionRef, partitionName } from "../model/ids.ts";
import { STALE_PERIODS, type Timing } from "./timing.ts";

/** Names the partition to sync and its due time. It never says what to do. */
export interface SyncMessage extends PartitionRef {
  readonly dueMs: number;
  /** The sync period when it was planned. It decides when the message is too old. */
  readonly periodMs: number;
}

const schema = z.object({
  cluster: z.string().min(1).transform(clusterName),
  partition: z.string().min(1).transform(partitionName),
  dueMs: z.number().int(),
  periodMs: z.number().int().positive(),
});

/** Body of the queue's message. */
export const messageBody = (message: SyncMessage): string => JSON.stringify(message);

/** The message in a body. Throws a ZodError or a SyntaxError, which sends it to the dead letters. */
export const messageOf = (body: string): SyncMessage => schema.parse(JSON.parse(body));

/**
 * True when the message is due later than a difference of clocks explains, because the queue delivers no message before it is due. A sync for it would set the due time done ahead:
 * every message that is due before would be refused.
 */
export const isEarly = ({ dueMs }: SyncMessage, clockMs: number, { clockDifferenceMs }: Pick<Timing, "clockDifferenceMs">): boolean =>
  dueMs > clockMs + clockDifferenceMs;

/** True when later messages do its work. */
export const isStale = ({ dueMs, periodMs }: SyncMessage, clockMs: number): boolean => clockMs - dueMs > STALE_PERIODS * periodMs;
