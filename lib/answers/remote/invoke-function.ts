import { gunzipSync } from "node:zlib";
import { SignatureV4 } from "@smithy/signature-v4";
import * as z from "zod";
import { awsDomain } from "../../rules/model/aws-partitions.ts";
import { type AwsCredentials, Sha256 } from "../../stack/aws/sha256.ts";
import { type FunctionPlace, type SignedCall, signedFor, STS_QUERY } from "../api/signed-call.ts";
import { TidemarkError } from "../../rules/model/errors.ts";

/**
 * A request with the proof of its caller. The proof says "who am I" to STS, and is good for this
 * function and this request only.
 */
export const signedCallOf = async (
  place: FunctionPlace,
  request: SignedCall["request"],
  credentials: AwsCredentials,
  nowMs: number,
): Promise<SignedCall> => {
  const { hostname, headers } = signedFor(place, request);
  const signer = new SignatureV4({
    service: "sts",
    region: place.region,
    credentials,
    sha256: Sha256,
    applyChecksum: false,
  });
  const { headers: signed } = await signer.sign(
    { method: "GET", protocol: "https:", hostname, path: "/", query: STS_QUERY, headers },
    { signingDate: new Date(nowMs) },
  );
  return {
    tidemark: "signed-call/1",
    request,
    proof: {
      accessKeyId: credentials.accessKeyId,
      date: String(signed["x-amz-date"]),
      ...(credentials.sessionToken !== undefined && { sessionToken: credentials.sessionToken }),
      signature: String(signed["authorization"]).split("Signature=")[1] ?? "",
    },
  };
};

/** Where a function is invoked. The environment variables have the names of the AWS SDK's. */
export const invokeOrigin = ({ region }: FunctionPlace): URL =>
  new URL(
    process.env["AWS_ENDPOINT_URL_LAMBDA"] ||
      process.env["AWS_ENDPOINT_URL"] ||
      `https://lambda.${region}.${awsDomain(region)}`,
  );

export const invokePath = ({ name }: FunctionPlace): string =>
  `/2015-03-31/functions/${name}/invocations`;

const functionAnswer = z.object({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(""),
  isBase64Encoded: z.boolean().default(false),
});

const BAD_GATEWAY = 502;

/**
 * The answer of the function as a URL would have given it; a refusal of Lambda as it came. A
 * function that failed or ran out of time is a bad gateway, as behind a URL.
 */
export const answerOfInvocation = async (response: Response): Promise<Response> => {
  if (!response.ok) return response;
  const text = await response.text();
  if (response.headers.has("x-amz-function-error"))
    return new Response("", { status: BAD_GATEWAY });
  const read = functionAnswer.safeParse(parsed(text));
  if (!read.success)
    throw new TidemarkError(
      "remote.unreadable",
      "Cannot read the answer of the function: it is not from Tidemark; check --stack",
      {},
    );
  const { statusCode: status, headers, body, isBase64Encoded } = read.data;
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  const { "content-encoding": encoding, ...rest } = headers;
  const plain = encoding === "gzip" ? gunzipSync(bytes) : bytes;
  return new Response(plain.length === 0 ? null : new Uint8Array(plain), { status, headers: rest });
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Refused as an answer that is not from Tidemark.
    return undefined;
  }
};
