import { SignatureV4 } from "@smithy/signature-v4";
import { type AwsCredentials, Sha256 } from "../stack/aws/sha256.ts";
import type { Outgoing } from "../stack/cluster/transport/exchange.ts";
import { awsDomain } from "../rules/model/aws-partitions.ts";

export interface Signer {
  readonly credentials: () => Promise<AwsCredentials>;
  readonly region: () => Promise<string>;
  readonly clock: () => number;
}

export interface SignedRequest {
  readonly service: "events" | "lambda" | "s3" | "sns";
  readonly method?: "POST" | "PUT";
  /** Of characters that no URL escapes. */
  readonly path: string;
  readonly contentType: string;
  /** The operation, of a service whose operations have one path. */
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * One signed request to a service of AWS: the clients of the SDK would add more to a bundle than
 * all of this.
 */
export const signed = async (
  { credentials, region, clock }: Signer,
  { service, method = "POST", path, contentType, target, headers: more, body }: SignedRequest,
): Promise<Pick<Outgoing, "secure" | "options" | "body">> => {
  const inRegion = await region();
  const { protocol, hostname, port } = serviceUrl(service, inRegion);
  const signer = new SignatureV4({ service, region: inRegion, credentials, sha256: Sha256 });
  const signedHeaders = {
    host: port === "" ? hostname : `${hostname}:${port}`,
    "content-type": contentType,
    ...(target !== undefined && { "x-amz-target": target }),
    ...more,
  };
  const { headers } = await signer.sign(
    { method, protocol, hostname, path, headers: signedHeaders, body },
    { signingDate: new Date(clock()) },
  );
  return {
    secure: protocol === "https:",
    options: { method, hostname, path, headers, ...(port !== "" && { port }) },
    body,
  };
};

/** The environment variables have the names of the AWS SDK's. */
const ENDPOINTS = {
  events: "AWS_ENDPOINT_URL_EVENTBRIDGE",
  lambda: "AWS_ENDPOINT_URL_LAMBDA",
  s3: "AWS_ENDPOINT_URL_S3",
  sns: "AWS_ENDPOINT_URL_SNS",
} as const satisfies Record<SignedRequest["service"], string>;

const serviceUrl = (service: SignedRequest["service"], region: string): URL =>
  new URL(
    process.env[ENDPOINTS[service]] ||
      process.env["AWS_ENDPOINT_URL"] ||
      `https://${service}.${region}.${awsDomain(region)}`,
  );
