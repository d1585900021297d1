import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { AWS_CALLS } from "../request-limits.ts";
import type { AwsCredentials } from "../../aws/sha256.ts";

/** Longest life of a role that is assumed by a role (role chaining). */
const ASSUMED_SECONDS = 3_600;

/**
 * Assumes a role for one cluster. The name of the session is in the audit log of the other account.
 */
export const assumeRole = async (of: {
  readonly region: string;
  readonly roleArn: string;
  readonly cluster: string;
  /**
   * Roles of other accounts may ask for it, so that no other stack is let in by their trust in this
   * account (docs/clusters.md).
   */
  readonly externalId?: string;
  /** What the session may do at most, as JSON: the role may allow more. */
  readonly policy?: string;
}): Promise<{ readonly credentials: AwsCredentials; readonly expiresMs: number }> => {
  const { region, roleArn, cluster, externalId, policy } = of;
  // It is made for each call, once an hour: the client itself keeps nothing, and all clients share
  // one handler with its connections.
  const sts = new STSClient({ region, ...AWS_CALLS });
  const { Credentials } = await sts.send(
    new AssumeRoleCommand({
      RoleArn: roleArn,
      RoleSessionName: `tidemark-${cluster}`.slice(0, 64),
      DurationSeconds: ASSUMED_SECONDS,
      ...(externalId !== undefined && { ExternalId: externalId }),
      ...(policy !== undefined && { Policy: policy }),
    }),
  );
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
    throw new Error("STS answered without credentials");
  return {
    credentials: {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
    },
    expiresMs: Expiration.getTime(),
  };
};
