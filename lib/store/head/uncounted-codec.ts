import * as z from "zod";
import { uidOfIntent } from "../../model/ids.ts";
import type { UncountedScale } from "../../model/scale-records.ts";

/** Version byte of an uncounted scale; an intent has 1. Code that does not know this version cannot read the body, and holds the autoscaler of its id. */
export const UNCOUNTED_VERSION = 2;

const OUTCOMES = ["applied", "refused", "unknown"] as const;

const fieldsSchema = z.tuple([z.number(), z.number(), z.number(), z.number(), z.enum(OUTCOMES), z.number().nullable(), z.number().optional()]);

/** Encodes an uncounted scale in some forty bytes. Thousands of them fit the head, so that one sync can make as many scales. */
export const encodeUncounted = ({ from, to, decidedMs, settledMs, outcome, recommendation, ruled }: UncountedScale): Uint8Array => {
  const fields: z.infer<typeof fieldsSchema> = [from, to, decidedMs, settledMs - decidedMs, outcome, recommendation ?? null];
  if (ruled !== undefined) fields.push(ruled);
  return Buffer.concat([Buffer.of(UNCOUNTED_VERSION), Buffer.from(JSON.stringify(fields))]);
};

/** Decodes an uncounted scale. Throws the error of JSON or the schema for damaged bytes. */
export const decodeUncounted = (id: string, body: Uint8Array): UncountedScale => {
  const [from, to, decidedMs, tookMs, outcome, recommendation, ruled] = fieldsSchema.parse(JSON.parse(Buffer.from(body.subarray(1)).toString()));
  return {
    id,
    uid: uidOfIntent(id),
    from,
    to,
    outcome,
    decidedMs,
    settledMs: decidedMs + tookMs,
    ...(recommendation !== null && { recommendation }),
    ...(ruled !== undefined && { ruled }),
  };
};
