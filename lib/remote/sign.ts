import { SignatureV4 } from "@smithy/signature-v4";
import { Sha256 } from "../aws/sha256.ts";
import { percentEncoded } from "../model/percent-encoding.ts";
import type { Credentials } from "./caller.ts";
import type { StackUrl } from "./stack-url.ts";

/** One request before it is signed. */
export interface UnsignedRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The service name that function URLs expect in signatures. */
const SERVICE = "lambda";

/** SigV4 headers. They prove the sender and protect the request from changes, and are valid for five minutes around `nowMs`. */
export const signedHeaders = async (
  request: UnsignedRequest,
  { host, region }: Pick<StackUrl, "host" | "region">,
  credentials: Credentials,
  nowMs: number,
): Promise<Readonly<Record<string, string>>> => {
  const signer = new SignatureV4({ service: SERVICE, region, credentials, sha256: Sha256 });
  const { method, path, query, body } = request;
  const { headers } = await signer.sign(
    {
      method,
      protocol: "https:",
      hostname: host,
      path,
      query: { ...query },
      headers: { ...request.headers, host },
      ...(body !== undefined && { body }),
    },
    { signingDate: new Date(nowMs) },
  );
  // The connection sets the host header itself.
  const { host: _host, ...rest } = headers;
  return rest;
};

/** The query string in the canonical form of the signature. */
export const queryText = (query: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(query).map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};
