import { eksFault } from "../../model/eks.ts";
import { TidemarkError } from "../../model/errors.ts";
import type { Connection } from "../../model/records.ts";
import { EKS_TOKEN_TTL_MS } from "../request-limits.ts";
import type { Access } from "./access.ts";
import { cached } from "./cached.ts";
import { isCertificates } from "./checked-access.ts";
import { describeEks, type EksDescription } from "./eks-description.ts";
import { eksIdentity, eksRefusal } from "./eks-identity.ts";
import { type AwsCredentials, eksToken } from "./eks-token.ts";
import { serverUrl } from "./server-url.ts";

type EksConnection = Extract<Connection, { kind: "eks" }>;

export interface EksOptions {
  readonly cluster: string;
  readonly clock: () => number;
  readonly ownAddresses: boolean;
  /** What the roles of other accounts ask for, where they do. */
  readonly externalId?: string;
  /** An earlier description, for this version of the record. */
  readonly known?: EksDescription;
}

/**
 * Access to an EKS cluster by IAM. Address and CA come from AWS, for the region of the cluster and the account of the role, and never from an editor: a token that is sent to another
 * address could be used on the cluster. Where the record has an address or CA too, a difference is refused.
 */
export const eksAccess = async (connection: EksConnection, options: EksOptions): Promise<Access & { readonly described: EksDescription }> => {
  const { cluster, clock, ownAddresses } = options;
  const identity = eksIdentity(connection, options);
  const described = await verifiedEks(connection, options, identity.get);
  const token = cached(
    async (nowMs) => {
      try {
        return await eksToken({ credentials: await identity.get(), clusterId: described.tokenFor, region: connection.region, nowMs });
      } catch (cause) {
        throw eksRefusal("Cannot make a token for", { cluster, roleArn: connection.roleArn }, cause);
      }
    },
    { ttlMs: EKS_TOKEN_TTL_MS, clock },
  );
  return {
    described,
    server: serverUrl(described.endpoint, { ownAddresses, refuse: (why) => refusal(connection, cluster, `its endpoint ${why}`) }),
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

/** The description of the cluster by AWS, after a comparison with the record. Throws `cluster.access.eks`. */
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
  if (endpoint !== undefined && !isSameServer(endpoint, described.endpoint)) throw refusal(connection, cluster, differs("endpoint"));
  if (caData !== undefined && unwrapped(caData) !== unwrapped(described.caData)) throw refusal(connection, cluster, differs("CA"));
  if (!isCertificates(pemOf(described))) throw refusal(connection, cluster, "its CA is no certificate in PEM");
  return described;
};

const describedByAws = async (
  connection: EksConnection,
  { cluster, clock }: Checking,
  credentials: () => Promise<AwsCredentials>,
): Promise<EksDescription> => {
  const { clusterId, region, roleArn } = connection;
  try {
    return await describeEks({ credentials: await credentials(), clusterId, region, nowMs: clock() });
  } catch (cause) {
    throw eksRefusal(`Cannot look up EKS cluster "${clusterId}" in "${region}" for`, { cluster, roleArn }, cause);
  }
};

const pemOf = ({ caData }: EksDescription): string => Buffer.from(caData, "base64").toString("utf8");

const refusal = ({ clusterId, region }: EksConnection, cluster: string, why: string): TidemarkError =>
  new TidemarkError("cluster.access.eks", `Cannot use EKS cluster "${clusterId}" in "${region}" for cluster "${cluster}": ${why}`, {
    cluster,
    clusterId,
    region,
  });

const differs = (what: string): string => `the given ${what} differs from the one that AWS gives; leave it out`;

const isSameServer = (endpoint: string, own: string): boolean =>
  URL.canParse(endpoint) && URL.canParse(own) && new URL(endpoint).href === new URL(own).href;

const unwrapped = (data: string): string => data.replace(/\s/g, "");
