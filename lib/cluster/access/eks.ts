import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { TidemarkError } from "../../model/errors.ts";
import type { Connection } from "../../model/records.ts";
import { AWS_CALLS, EKS_TOKEN_TTL_MS } from "../limits.ts";
import type { Access } from "./access.ts";
import { cached } from "./cached.ts";
import { type AwsCredentials, eksToken } from "./eks-token.ts";
import { serverUrl } from "./server-url.ts";

type EksConnection = Extract<Connection, { kind: "eks" }>;

/** Longest life of an assumed role that one role may ask of another (role chaining). */
const ASSUMED_SECONDS = 3_600;
/** Assumed credentials are replaced this long before they end, so that no token outlives what signed it. */
const ASSUMED_MARGIN_MS = 15 * 60_000;

/** Access to an EKS cluster by IAM. The credentials are those of the environment, or of `roleArn` in another account. No call is made until a token is needed. */
export const eksAccess = (connection: EksConnection, options: { readonly cluster: string; readonly clock: () => number }): Access => {
  const { cluster, clock } = options;
  const sts = new STSClient({ region: connection.region, ...AWS_CALLS });
  const own = (): Promise<AwsCredentials> => sts.config.credentials();
  const assumed = cached((): Promise<Assumed> => assume(sts, connection.roleArn ?? "", cluster), {
    ttlMs: (role) => role.expiresMs - clock() - ASSUMED_MARGIN_MS,
    clock,
  });
  const token = cached(
    async (nowMs) => {
      try {
        const credentials = connection.roleArn === undefined ? await own() : (await assumed.get()).credentials;
        return await eksToken({ credentials, clusterId: connection.clusterId, region: connection.region, nowMs });
      } catch (cause) {
        const who = connection.roleArn ?? "the environment's AWS credentials";
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new TidemarkError(
          "cluster.access.eks",
          `Cannot make a token for cluster "${cluster}" as ${who}: ${why}`,
          { cluster, roleArn: connection.roleArn },
          { cause },
        );
      }
    },
    { ttlMs: EKS_TOKEN_TTL_MS, clock },
  );
  return {
    server: serverUrl(connection.endpoint, { cluster, allowLoopbackHttp: false }),
    ca: Buffer.from(connection.caData, "base64").toString("utf8"),
    rejectUnauthorized: true,
    credentials: async () => ({ headers: { authorization: `Bearer ${await token.get()}` } }),
    forget: () => {
      token.forget();
      assumed.forget();
    },
  };
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
