import { SignatureV4 } from "@smithy/signature-v4";
import { Sha256 } from "../lib/aws/sha256.ts";
import type { AwsCredentials } from "../lib/cluster/access/eks-token.ts";
import { type Exchange, exchange } from "../lib/cluster/transport/exchange.ts";
import { awsDomain } from "../lib/model/eks.ts";

/** The right that this call needs. A test compares the roles of the stack with it. */
export const INVOKE_RIGHT = "lambda:InvokeFunction";

export interface Invoker {
  readonly functionName: string;
  readonly credentials: () => Promise<AwsCredentials>;
  readonly region: () => Promise<string>;
  readonly clock: () => number;
}

/** Calls a function once and waits for its answer, by one signed POST: the client of the SDK would add more to the bundle than all of this. */
export const invokeFunction = async (
  invoker: Invoker,
  body: string,
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<Exchange> => exchange({ ...(await signedPost(invoker, body)), ...limits });

const signedPost = async ({ functionName, credentials, region, clock }: Invoker, body: string) => {
  const inRegion = await region();
  const { protocol, hostname, port } = lambdaUrl(inRegion);
  const path = `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`;
  const signer = new SignatureV4({ service: "lambda", region: inRegion, credentials, sha256: Sha256 });
  const signedHeaders = { host: port === "" ? hostname : `${hostname}:${port}`, "content-type": "application/json" };
  const { headers } = await signer.sign(
    { method: "POST", protocol, hostname, path, headers: signedHeaders, body },
    { signingDate: new Date(clock()) },
  );
  return { secure: protocol === "https:", options: { method: "POST", hostname, path, headers, ...(port !== "" && { port }) }, body };
};

/** The endpoint of Lambda. The environment variables are those of the AWS SDK. */
const lambdaUrl = (region: string): URL =>
  new URL(process.env["AWS_ENDPOINT_URL_LAMBDA"] || process.env["AWS_ENDPOINT_URL"] || `https://lambda.${region}.${awsDomain(region)}`);
