import * as z from "zod";
import { uidOfIntent } from "../../model/ids.ts";
import type { UncountedScale } from "../../model/records.ts";

/** Bodies of intents have 1. Code that does not know this version cannot read the body, and holds the autoscaler in its id. */
export const UNCOUNTED_VERSION = 2;

const OUTCOMES = ["applied", "refused", "unknown"] as const;

const packed = z.tuple([z.number(), z.number(), z.number(), z.number(), z.enum(OUTCOMES), z.number().nullable()]);

/** In some forty bytes: thousands of them fit the head, so that one sync can make as many scales. */
export const encodeUncounted = ({ from, to, decidedMs, settledMs, outcome, recommendation }: UncountedScale): Uint8Array => {
  const fields: z.infer<typeof packed> = [from, to, decidedMs, settledMs - decidedMs, outcome, recommendation ?? null];
  return Buffer.concat([Buffer.of(UNCOUNTED_VERSION), Buffer.from(JSON.stringify(fields))]);
};

/** Throws whatever JSON or the schema say of damaged bytes. */
export const decodeUncounted = (id: string, body: Uint8Array): UncountedScale => {
  const [from, to, decidedMs, tookMs, outcome, recommendation] = packed.parse(JSON.parse(Buffer.from(body.subarray(1)).toString()));
  return {
    id,
    uid: uidOfIntent(id),
    from,
    to,
    outcome,
    decidedMs,
    settledMs: decidedMs + tookMs,
    ...(recommendation !== null && { recommendation }),
  };
};
