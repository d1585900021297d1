import { SignatureV4 } from "@smithy/signature-v4";
import { Sha256 } from "../../aws/sha256.ts";
import { awsDomain } from "../../../rules/model/aws-partitions.ts";
import { foreignText, percentEncoded } from "../../../rules/model/foreign-text.ts";
import { asObject } from "../../../rules/model/json.ts";
import { DESCRIBE_TIMEOUT_MS, MAX_DESCRIPTION_BYTES } from "../request-limits.ts";
import { type Exchange, exchange } from "../transport/exchange.ts";
import { decodeDocument } from "../wire/decode-json.ts";
import type { SignedForEks } from "./eks-token.ts";

/** The right that this call needs. A test compares the roles of the stack with it. */
export const DESCRIBE_RIGHT = "eks:DescribeCluster";

/** The description of a cluster by AWS. */
export interface EksDescription {
  readonly endpoint: string;
  /** PEM in base64. */
  readonly caData: string;
  /** The cluster that a token is signed for: its name, or its id on Outposts. */
  readonly tokenFor: string;
}

const ATTEMPTS = 2;

/**
 * Asks AWS by one signed GET. The client of the SDK would add 52 KiB to what every sync loads at
 * start. Throws an Error with a message for people.
 */
export const describeEks = async (input: SignedForEks): Promise<EksDescription> => {
  for (let attempt = 1; ; attempt++) {
    const outcome = await exchange({
      ...(await signedGet(input)),
      timeoutMs: DESCRIBE_TIMEOUT_MS,
      maxBytes: MAX_DESCRIPTION_BYTES,
    });
    if (attempt === ATTEMPTS || !isPassing(outcome)) return descriptionIn(outcome, input);
  }
};

/** True without an answer, or where AWS throttles or fails. */
const isPassing = (outcome: Exchange): boolean =>
  outcome.kind === "broken" || outcome.status === 429 || outcome.status >= 500;

const signedGet = async ({ credentials, clusterId, region, nowMs }: SignedForEks) => {
  const { protocol, hostname, port } = eksUrl(region);
  const path = `/clusters/${percentEncoded(clusterId)}`;
  const host = port === "" ? hostname : `${hostname}:${port}`;
  const signer = new SignatureV4({ service: "eks", region, credentials, sha256: Sha256 });
  const { headers } = await signer.sign(
    { method: "GET", protocol, hostname, path, headers: { host, accept: "application/json" } },
    { signingDate: new Date(nowMs) },
  );
  return {
    secure: protocol === "https:",
    options: { method: "GET", hostname, path, headers, ...(port !== "" && { port }) },
  };
};

/**
 * The endpoint of EKS. The environment variables have the names of the AWS SDK's; an endpoint of a
 * VPC without private DNS needs them.
 */
const eksUrl = (region: string): URL => {
  const domain = awsDomain(region);
  if (domain === undefined) throw new Error(`"${region}" is no region of AWS`);
  return new URL(
    process.env["AWS_ENDPOINT_URL_EKS"] ||
      process.env["AWS_ENDPOINT_URL"] ||
      `https://eks.${region}.${domain}`,
  );
};

const descriptionIn = (outcome: Exchange, { clusterId }: SignedForEks): EksDescription => {
  if (outcome.kind === "broken")
    throw new Error(
      `EKS gave no answer (${foreignText(outcome.error.code ?? outcome.error.message)})`,
    );
  const body = decodeDocument(outcome.bytes);
  if (outcome.status !== 200)
    throw new Error(
      refusalWords(outcome.status, String(body?.["message"] ?? body?.["Message"] ?? "")),
    );
  const { name, id, endpoint, certificateAuthority, status } = asObject(body?.["cluster"]);
  const { data } = asObject(certificateAuthority);
  if (name !== clusterId) throw new Error("EKS answered for another cluster");
  if (typeof endpoint !== "string" || typeof data !== "string")
    throw new Error(`it has no endpoint yet, its status is ${foreignText(String(status))}`);
  return { endpoint, caData: data, tokenFor: typeof id === "string" && id !== "" ? id : clusterId };
};

const refusalWords = (status: number, message: string): string => {
  const words = message === "" ? `EKS answered ${status}` : foreignText(message);
  return status === 401 || status === 403 ? `${words} (${DESCRIBE_RIGHT} is needed)` : words;
};
