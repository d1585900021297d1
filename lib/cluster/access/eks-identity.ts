import { defaultProvider } from "@aws-sdk/credential-provider-node";
import type { EksPlace } from "../../model/eks.ts";
import { TidemarkError } from "../../model/errors.ts";
import { foreignWords } from "../../model/foreign-words.ts";
import type { AssumedRole } from "./assume-role.ts";
import { type Cached, cached } from "./cached.ts";
import type { AwsCredentials } from "./eks-token.ts";

/** Assumed credentials are replaced this long before they expire, so that no token outlives the credentials that signed it. */
const ASSUMED_MARGIN_MS = 15 * 60_000;

/** The credentials of the environment, or of `roleArn` in another account. They are requested when they are needed first. */
export const eksIdentity = (
  { region, roleArn }: EksPlace,
  { cluster, clock, externalId }: { readonly cluster: string; readonly clock: () => number; readonly externalId?: string },
): Cached<AwsCredentials> => {
  // The provider of the SDK caches the credentials of the environment.
  if (roleArn === undefined) return { get: defaultProvider({ clientConfig: { region } }), forget: () => undefined };
  const role = { region, roleArn, cluster, ...(externalId !== undefined && { externalId }) };
  const assumed = cached((): Promise<AssumedRole> => assume(role), {
    ttlMs: ({ expiresMs }) => expiresMs - clock() - ASSUMED_MARGIN_MS,
    clock,
  });
  return { get: async () => (await assumed.get()).credentials, forget: assumed.forget };
};

/** Loads the client of STS when the first role is assumed: a sync of a cluster in its own account starts without it. */
const assume = async (of: {
  readonly region: string;
  readonly roleArn: string;
  readonly cluster: string;
  readonly externalId?: string;
}): Promise<AssumedRole> => (await import("./assume-role.ts")).assumeRole(of);

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
