import * as z from "zod";
import { clusterName, type PartitionRef, partitionName } from "../model/ids.ts";
import { STALE_PERIODS, type Timing } from "./timing.ts";

/** Which partition is to be synced, and when that was due; never what to do. */
export interface SyncMessage extends PartitionRef {
  readonly dueMs: number;
  /** The sync period it was planned under: tells when the message is too old. */
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
 * True when it is due later than any clock can make it: the queue delivers no message before it is due. Carried out, it would make its due time the last one done, and everything
 * due before it would be refused until then.
 */
export const isEarly = ({ dueMs }: SyncMessage, clockMs: number, { clockDifferenceMs }: Pick<Timing, "clockDifferenceMs">): boolean =>
  dueMs > clockMs + clockDifferenceMs;

/** True when later messages have taken its place. */
export const isStale = ({ dueMs, periodMs }: SyncMessage, clockMs: number): boolean => clockMs - dueMs > STALE_PERIODS * periodMs;
