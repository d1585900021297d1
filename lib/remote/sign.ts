import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Credentials } from "./caller.ts";
import type { StackUrl } from "./stack-url.ts";

/** One request, before it is signed. */
export interface Unsigned {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Function URLs check the signature of the Lambda service. */
const SERVICE = "lambda";

/** The headers that prove who sends a request and that nobody changed it: SigV4, good for five minutes around `nowMs`. */
export const signedHeaders = async (
  request: Unsigned,
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
  // The host is the connection's own header.
  const { host: _host, ...rest } = headers;
  return rest;
};

/** The query as the signature's canonical form has it: encodeURIComponent leaves five characters that are encoded there. */
export const queryText = (query: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
