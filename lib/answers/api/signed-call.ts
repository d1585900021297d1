import { createHash } from "node:crypto";
import * as z from "zod";
import { arnOf, awsDomain } from "../../rules/model/aws-partitions.ts";

/*
 *  command    signs "who am I" for STS, with function, hash of the request and time ── Invoke
 *  function        makes the same question anew ── STS ── "it is ada"
 *
 * Lambda does not tell a function who invoked it, and a caller that may invoke it writes the event.
 * So the event has no name in it: it has a signature, and STS says whose signature it is. Of the
 * question to STS the event has only the access key, the time, the session token and the signature.
 * Host, path, query and the other headers are made by the function, so that an event cannot choose
 * them.
 */

const signedRequest = z.strictObject({
  method: z.enum(["GET", "POST"]),
  path: z.string(),
  /** The query string, encoded. */
  query: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

/** What is in the signature and cannot be made by the function. */
const proof = z.strictObject({
  accessKeyId: z.string().regex(/^[A-Z0-9]{1,128}$/),
  /** The time of the signature: 20260301T120000Z. */
  date: z.string().regex(/^\d{8}T\d{6}Z$/),
  sessionToken: z
    .string()
    .regex(/^[\w+/=-]{1,8192}$/)
    .exactOptional(),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The event of a function that is invoked by people. */
export const signedCall = z.strictObject({
  tidemark: z.literal("signed-call/1"),
  request: signedRequest,
  proof,
});
export type SignedCall = z.infer<typeof signedCall>;

/** A function by its ARN, without a version or an alias. */
export interface FunctionPlace {
  readonly arn: string;
  readonly region: string;
  readonly account: string;
  readonly name: string;
}

const FUNCTION =
  /^arn:[a-z-]+:lambda:([a-z0-9-]+):(\d{12}):function:([A-Za-z0-9_-]{1,64})(?::[A-Za-z0-9_$-]+)?$/;

/** Undefined for any other text, and for a region that is none of AWS. */
export const functionPlace = (text: string): FunctionPlace | undefined => {
  const [, region = "", account = "", name = ""] = FUNCTION.exec(text) ?? [];
  if (awsDomain(region) === undefined) return undefined;
  return { arn: arnOf("lambda", region, account, `function:${name}`), region, account, name };
};

/** The hash of everything that the function reads of a request. */
const requestHash = ({ method, path, query, headers, body }: SignedCall["request"]): string => {
  const pairs = Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([method, path, query, pairs, body]);
  return createHash("sha256").update(text).digest("hex");
};

export const STS_QUERY = { Action: "GetCallerIdentity", Version: "2011-06-15" } as const;

/** What is signed for STS beside the time: the function and the request, so that it serves no other. */
export const signedFor = ({ arn, region }: FunctionPlace, request: SignedCall["request"]) => ({
  hostname: `sts.${region}.${awsDomain(region)}`,
  headers: {
    host: `sts.${region}.${awsDomain(region)}`,
    "x-tidemark-function": arn,
    "x-tidemark-request": requestHash(request),
  },
});

/** How long a signature is good, in each direction: as AWS has it for a function URL. */
export const SIGNATURE_LIVES_MS = 5 * 60_000;

/** The time of a signature, in milliseconds since 1970. NaN where there is no such time. */
export const signedAtMs = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
