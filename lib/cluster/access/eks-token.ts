import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import { awsDomain } from "../../model/eks.ts";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface EksTokenInput {
  readonly credentials: AwsCredentials;
  /** Name of the EKS cluster (its id, for clusters on Outposts); it is signed, so the token is good for no other. */
  readonly clusterId: string;
  readonly region: string;
  readonly nowMs: number;
}

const PREFIX = "k8s-aws-v1.";
const CLUSTER_HEADER = "x-k8s-aws-id";
/** By custom; the server counts 15 minutes from the date in the signature whatever stands here. */
const URL_EXPIRES_SECONDS = 60;

/**
 * A bearer token for an EKS cluster: a presigned STS GetCallerIdentity call, base64url without padding. Made locally; the control plane makes the call to learn who we are.
 */
export const eksToken = async (input: EksTokenInput): Promise<string> => {
  const url = await presignedIdentityUrl(input);
  return `${PREFIX}${Buffer.from(url).toString("base64url")}`;
};

const presignedIdentityUrl = async ({ credentials, clusterId, region, nowMs }: EksTokenInput): Promise<string> => {
  const hostname = stsHost(region);
  const signer = new SignatureV4({ service: "sts", region, credentials, sha256: Sha256 });
  const signed = await signer.presign(
    {
      method: "GET",
      protocol: "https:",
      hostname,
      path: "/",
      query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
      headers: { host: hostname, [CLUSTER_HEADER]: clusterId },
    },
    // The header must stay a header: the control plane sends it with the call, and the signature then binds the token to this cluster.
    {
      signingDate: new Date(nowMs),
      expiresIn: URL_EXPIRES_SECONDS,
      unhoistableHeaders: new Set([CLUSTER_HEADER]),
      signableHeaders: new Set(["host", CLUSTER_HEADER]),
    },
  );
  const query = Object.entries(signed.query ?? {}).map(([key, value]) => `${encode(key)}=${encode(String(value))}`);
  return `https://${hostname}/?${query.join("&")}`;
};

/** As SigV4 wants it: encodeURIComponent leaves five characters that the signature's canonical form encodes. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const stsHost = (region: string): string => `sts.${region}.${awsDomain(region)}`;
