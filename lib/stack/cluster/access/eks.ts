import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { type EksPlace, eksFault } from "../../../rules/model/aws-names.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import type { Connection } from "../../../rules/model/records.ts";
import { EKS_TOKEN_TTL_MS } from "../request-limits.ts";
import { type Access, type Cached, cached } from "./access.ts";
import { describeEks, type EksDescription } from "./eks-description.ts";
import { eksToken } from "./eks-token.ts";
import type { SecretOptions } from "./secret.ts";
import type { AwsCredentials } from "../../aws/sha256.ts";
import { isCertificates, unwrapped } from "./pem.ts";
import { serverUrl } from "../reachable.ts";

type EksConnection = Extract<Connection, { kind: "eks" }>;

export interface EksOptions extends SecretOptions {
  /** What the roles of other accounts ask for, where they do. */
  readonly externalId?: string;
  /** An earlier description, for this version of the record. */
  readonly known?: EksDescription;
}

/**
 * Access to an EKS cluster by IAM. Address and CA come from AWS, for the region of the cluster and
 * the account of the role, and never from an editor: a token that is sent to another address could
 * be used on the cluster. Where the record has an address or CA too, a difference is refused.
 */
export const eksAccess = async (
  connection: EksConnection,
  options: EksOptions,
): Promise<Access & { readonly described: EksDescription }> => {
  const { cluster, clock, ownAddresses } = options;
  const identity = eksIdentity(connection, options);
  const described = await verifiedEks(connection, options, identity.get);
  const token = cached(
    async (nowMs) => {
      try {
        return await eksToken({
          credentials: await identity.get(),
          clusterId: described.tokenFor,
          region: connection.region,
          nowMs,
        });
      } catch (cause) {
        throw eksRefusal(
          "Cannot make a token for",
          { cluster, roleArn: connection.roleArn },
          cause,
        );
      }
    },
    { ttlMs: EKS_TOKEN_TTL_MS, clock },
  );
  return {
    described,
    server: serverUrl(described.endpoint, {
      ownAddresses,
      refuse: (why) => refusal(connection, cluster, `its endpoint ${why}`),
    }),
    ca: pemOf(described),
    rejectUnauthorized: true,
    ownAddresses,
    credentials: async () => ({ headers: { authorization: `Bearer ${await token.get()}` } }),
    forget: () => {
      token.forget();
      identity.forget();
    },
  };
};

type Checking = Pick<EksOptions, "cluster" | "clock" | "known" | "externalId">;

/**
 * The description of the cluster by AWS, after a comparison with the record. Throws
 * `cluster.access.eks`.
 */
export const verifiedEks = async (
  connection: EksConnection,
  options: Checking,
  credentials = eksIdentity(connection, options).get,
): Promise<EksDescription> => {
  const { cluster } = options;
  const fault = eksFault(connection);
  if (fault !== undefined) throw refusal(connection, cluster, fault);
  const described = options.known ?? (await describedByAws(connection, options, credentials));
  const { endpoint, caData } = connection;
  if (endpoint !== undefined && !isSameServer(endpoint, described.endpoint))
    throw refusal(connection, cluster, differs("endpoint"));
  if (caData !== undefined && unwrapped(caData) !== unwrapped(described.caData))
    throw refusal(connection, cluster, differs("CA"));
  if (!isCertificates(pemOf(described)))
    throw refusal(connection, cluster, "its CA is no certificate in PEM");
  return described;
};

const describedByAws = async (
  connection: EksConnection,
  { cluster, clock }: Checking,
  credentials: () => Promise<AwsCredentials>,
): Promise<EksDescription> => {
  const { clusterId, region, roleArn } = connection;
  try {
    return await describeEks({
      credentials: await credentials(),
      clusterId,
      region,
      nowMs: clock(),
    });
  } catch (cause) {
    throw eksRefusal(
      `Cannot look up EKS cluster "${clusterId}" in "${region}" for`,
      { cluster, roleArn },
      cause,
    );
  }
};

const pemOf = ({ caData }: EksDescription): string =>
  Buffer.from(caData, "base64").toString("utf8");

const refusal = (
  { clusterId, region }: EksConnection,
  cluster: string,
  why: string,
): TidemarkError =>
  new TidemarkError(
    "cluster.access.eks",
    `Cannot use EKS cluster "${clusterId}" in "${region}" for cluster "${cluster}": ${why}`,
    {
      cluster,
      clusterId,
      region,
    },
  );

const differs = (what: string): string =>
  `the given ${what} differs from the one that AWS gives; leave it out`;

const isSameServer = (endpoint: string, own: string): boolean =>
  URL.canParse(endpoint) && URL.canParse(own) && new URL(endpoint).href === new URL(own).href;

/**
 * Assumed credentials are replaced this long before they expire, so that no token outlives the
 * credentials that signed it.
 */
const ASSUMED_MARGIN_MS = 15 * 60_000;

/**
 * The credentials of the environment, or of `roleArn` in another account. They are requested when
 * they are needed first.
 */
export const eksIdentity = (
  { region, roleArn }: EksPlace,
  {
    cluster,
    clock,
    externalId,
  }: { readonly cluster: string; readonly clock: () => number; readonly externalId?: string },
): Cached<AwsCredentials> => {
  // The provider of the SDK caches the credentials of the environment.
  if (roleArn === undefined)
    return { get: defaultProvider({ clientConfig: { region } }), forget: () => undefined };
  const role = { region, roleArn, cluster, ...(externalId !== undefined && { externalId }) };
  // The client of STS is loaded when the first role is assumed: a sync of a cluster in its own
  // account starts without it.
  const assumed = cached(async () => (await import("./assume-role.ts")).assumeRole(role), {
    ttlMs: ({ expiresMs }) => expiresMs - clock() - ASSUMED_MARGIN_MS,
    clock,
  });
  return { get: async () => (await assumed.get()).credentials, forget: assumed.forget };
};

/**
 * A failure of AWS as a refusal of `action`. The error is not its cause, because the error of an
 * unreadable answer holds the answer, and with it credentials.
 */
const eksRefusal = (
  action: string,
  { cluster, roleArn }: { readonly cluster: string; readonly roleArn: string | undefined },
  cause: unknown,
): TidemarkError => {
  const identity = roleArn ?? "the environment's AWS credentials";
  const why = foreignText(cause instanceof Error ? cause.message : String(cause));
  return new TidemarkError(
    "cluster.access.eks",
    `${action} cluster "${cluster}" as ${identity}: ${why}`,
    { cluster, roleArn },
  );
};
