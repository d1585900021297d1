import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { SignatureV4 } from "@smithy/signature-v4";
import { Sha256 } from "../../../lib/stack/aws/sha256.ts";

/** Who IAM knows under an access key. */
export interface Identity {
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly arn: string;
  /** Whether a policy lets it call the URL. */
  readonly isAllowed: boolean;
}
export type Identities = Readonly<Record<string, Identity>>;

export interface SignedRequest {
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The platform's verdict, with its own words where it refuses. */
export type Verdict =
  | { readonly kind: "known"; readonly identity: Identity; readonly accessKey: string }
  | {
      readonly kind: "refused";
      readonly errorType: string;
      readonly body: { readonly Message: string } | { readonly message: string };
    };

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=(?<key>[^/]+)\/(?<day>\d{8})\/(?<region>[^/]+)\/(?<service>[^/]+)\/aws4_request, SignedHeaders=(?<names>[a-z0-9;-]+), Signature=(?<signature>[0-9a-f]{64})$/;
const GOOD_FOR_MS = 5 * 60_000;
const MUST_BE_SIGNED = ["host", "x-amz-date"];

const refused = (errorType: string, message: string): Verdict => ({
  kind: "refused",
  errorType,
  body: { message },
});
const FORBIDDEN: Verdict = {
  kind: "refused",
  errorType: "AccessDeniedException",
  body: { Message: "Forbidden" },
};

/**
 * Verifies a request as IAM does for a function URL: the signature is made anew from what came,
 * with the secret of the access key.
 */
export const verdictOn = async (
  request: SignedRequest,
  identities: Identities,
  nowMs: number,
): Promise<Verdict> => {
  const { headers } = request;
  const parts = AUTHORIZATION.exec(headers.authorization ?? "")?.groups;
  if (!parts) return FORBIDDEN;
  const { key = "", region = "", service = "", names = "", signature = "" } = parts;
  const identity = identities[key];
  if (!identity)
    return refused(
      "UnrecognizedClientException",
      "The security token included in the request is invalid.",
    );
  if (identity.sessionToken !== headers["x-amz-security-token"])
    return refused(
      "UnrecognizedClientException",
      "The security token included in the request is invalid.",
    );
  const date = String(headers["x-amz-date"]);
  const dateMs = Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  if (dateMs < nowMs - GOOD_FOR_MS)
    return refused(
      "InvalidSignatureException",
      `Signature expired: ${date} is now earlier than ${new Date(nowMs).toISOString()}`,
    );
  if (dateMs > nowMs + GOOD_FOR_MS)
    return refused(
      "InvalidSignatureException",
      `Signature not yet current: ${date} is still later than ${new Date(nowMs).toISOString()}`,
    );
  const signedNames = names.split(";");
  const wanted = await authorizationOf(request, signedNames, { identity, key, region, dateMs });
  const isWhole =
    MUST_BE_SIGNED.every((name) => signedNames.includes(name)) &&
    headers["x-amz-content-sha256"] === sha256(request.body);
  if (service !== "lambda" || !isWhole || !same(wanted, signature)) {
    return refused(
      "InvalidSignatureException",
      "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.",
    );
  }
  return identity.isAllowed ? { kind: "known", identity, accessKey: key } : FORBIDDEN;
};

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const same = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

interface Signing {
  readonly identity: Identity;
  readonly key: string;
  readonly region: string;
  readonly dateMs: number;
}

const authorizationOf = async (
  { method, url, headers, body }: SignedRequest,
  names: readonly string[],
  signing: Signing,
): Promise<string> => {
  const { identity, key, region, dateMs } = signing;
  const { pathname, searchParams } = new URL(url, "https://host");
  const credentials = {
    accessKeyId: key,
    secretAccessKey: identity.secretAccessKey,
    ...(identity.sessionToken !== undefined && { sessionToken: identity.sessionToken }),
  };
  const signer = new SignatureV4({ service: "lambda", region, credentials, sha256: Sha256 });
  const signedHeaders = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const query = Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]),
  );
  const signed = await signer.sign(
    {
      method,
      protocol: "https:",
      hostname: String(headers.host),
      path: pathname,
      query,
      headers: signedHeaders,
      ...(body.length > 0 && { body }),
    },
    { signingDate: new Date(dateMs), signableHeaders: new Set(names) },
  );
  return String(signed.headers["authorization"]).split("Signature=")[1] ?? "";
};
