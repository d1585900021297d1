import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import type { EksPlace } from "../../model/eks.ts";
import { TidemarkError } from "../../model/errors.ts";
import { foreignWords } from "../../model/foreign-words.ts";
import { AWS_CALLS } from "../request-limits.ts";
import { type Cached, cached } from "./cached.ts";
import type { AwsCredentials } from "./eks-token.ts";

/** Longest life of a role that is assumed by a role (role chaining). */
const ASSUMED_SECONDS = 3_600;
/** Assumed credentials are replaced this long before they expire, so that no token outlives the credentials that signed it. */
const ASSUMED_MARGIN_MS = 15 * 60_000;

/** The credentials of the environment, or of `roleArn` in another account. They are requested when they are needed first. */
export const eksIdentity = (
  { region, roleArn }: EksPlace,
  { cluster, clock }: { readonly cluster: string; readonly clock: () => number },
): Cached<AwsCredentials> => {
  const sts = new STSClient({ region, ...AWS_CALLS });
  // The SDK caches the credentials of the environment.
  if (roleArn === undefined) return { get: async () => sts.config.credentials(), forget: () => undefined };
  const assumed = cached((): Promise<Assumed> => assume(sts, roleArn, cluster), {
    ttlMs: (role) => role.expiresMs - clock() - ASSUMED_MARGIN_MS,
    clock,
  });
  return { get: async () => (await assumed.get()).credentials, forget: assumed.forget };
};

/** A failure of AWS as a refusal of `action`. The error is not its cause, because the error of an unreadable answer holds the answer, and with it credentials. */
export const eksRefusal = (
  action: string,
  { cluster, roleArn }: { readonly cluster: string; readonly roleArn: string | undefined },
  cause: unknown,
): TidemarkError => {
  const identity = roleArn ?? "the environment's AWS credentials";
  const why = foreignWords(cause instanceof Error ? cause.message : String(cause));
  return new TidemarkError("cluster.access.eks", `${action} cluster "${cluster}" as ${identity}: ${why}`, { cluster, roleArn });
};

interface Assumed {
  readonly credentials: AwsCredentials;
  readonly expiresMs: number;
}

const assume = async (sts: STSClient, roleArn: string, cluster: string): Promise<Assumed> => {
  const { Credentials } = await sts.send(
    new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: `tidemark-${cluster}`.slice(0, 64), DurationSeconds: ASSUMED_SECONDS }),
  );
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) throw new Error("STS answered without credentials");
  return { credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken }, expiresMs: Expiration.getTime() };
};
