import { SignatureV4 } from "@smithy/signature-v4";
import { type AwsCredentials, Sha256 } from "../../aws/sha256.ts";
import { awsDomain } from "../../../rules/model/aws-partitions.ts";
import { percentEncoded } from "../../../rules/model/foreign-text.ts";

/** What a request to AWS about one EKS cluster is signed for. */
export interface SignedForEks {
  readonly credentials: AwsCredentials;
  /**
   * Name of the EKS cluster, or its id on Outposts. It is signed, so that the token is only valid
   * for this cluster.
   */
  readonly clusterId: string;
  readonly region: string;
  readonly nowMs: number;
}

const PREFIX = "k8s-aws-v1.";
const CLUSTER_HEADER = "x-k8s-aws-id";
/** The usual value. The server ignores it, and counts 15 minutes from the date of the signature. */
const URL_EXPIRES_SECONDS = 60;

/**
 * A bearer token for an EKS cluster: a presigned STS GetCallerIdentity call in base64url without
 * padding. It is made without a call; the control plane sends the presigned call to learn the
 * identity.
 */
export const eksToken = async (input: SignedForEks): Promise<string> => {
  const url = await presignedIdentityUrl(input);
  return `${PREFIX}${Buffer.from(url).toString("base64url")}`;
};

const presignedIdentityUrl = async ({
  credentials,
  clusterId,
  region,
  nowMs,
}: SignedForEks): Promise<string> => {
  const hostname = `sts.${region}.${awsDomain(region)}`;
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
    // The header must not move into the query: the control plane sends it with the call, and the
    // signature binds the token to this cluster.
    {
      signingDate: new Date(nowMs),
      expiresIn: URL_EXPIRES_SECONDS,
      unhoistableHeaders: new Set([CLUSTER_HEADER]),
      signableHeaders: new Set(["host", CLUSTER_HEADER]),
    },
  );
  const query = Object.entries(signed.query ?? {}).map(
    ([key, value]) => `${percentEncoded(key)}=${percentEncoded(String(value))}`,
  );
  return `https://${hostname}/?${query.join("&")}`;
};
