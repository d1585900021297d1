import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import * as z from "zod";
import { TidemarkError } from "../../model/errors.ts";
import type { Connection } from "../../model/records.ts";
import { AWS_CALLS, SECRET_TTL_MS } from "../limits.ts";
import type { Access } from "./access.ts";
import { cached } from "./cached.ts";
import { kubeconfigAccess } from "./kubeconfig.ts";
import { serverUrl } from "./server-url.ts";
import { TEXT_ONLY } from "./trusted.ts";

type SecretConnection = Extract<Connection, { kind: "secret" }>;

const base64 = z.base64().min(1);
/** The short form of a secret; anything else is taken for a kubeconfig. */
const shortForm = z.strictObject({
  server: z.string().min(1),
  caData: base64,
  token: z.string().min(1).optional(),
  clientCertData: base64.optional(),
  clientKeyData: base64.optional(),
});

/**
 * Access by a secret in AWS Secrets Manager: `{ server, caData, token }` (or a client certificate), or a kubeconfig. It is read again every five minutes and after a 401,
 * so a rotated secret needs no restart; the server's address and CA are those of the first reading. Failures are TidemarkErrors `cluster.access.secret`.
 */
export const secretAccess = async (
  connection: SecretConnection,
  options: { readonly cluster: string; readonly clock: () => number },
): Promise<Access> => {
  const client = new SecretsManagerClient({ ...AWS_CALLS, ...regionOf(connection.secretId) });
  const current = cached(async () => accessFrom(await readSecret(client, connection, options.cluster), connection, options), {
    ttlMs: SECRET_TTL_MS,
    clock: options.clock,
  });
  const first = await current.get();
  return {
    ...first,
    credentials: async () => (await current.get()).credentials(),
    forget: current.forget,
  };
};

/** An ARN names its region; a bare name is looked up in the function's own. */
const regionOf = (secretId: string): { region?: string } => {
  const region = /^arn:aws[\w-]*:secretsmanager:([\w-]+):/.exec(secretId)?.[1];
  return region === undefined ? {} : { region };
};

const refusal = (connection: SecretConnection, cluster: string, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError(
    "cluster.access.secret",
    `Cannot use secret "${connection.secretId}" for cluster "${cluster}": ${why}`,
    { secretId: connection.secretId, cluster },
    { cause },
  );

const readSecret = async (client: SecretsManagerClient, connection: SecretConnection, cluster: string): Promise<string> => {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: connection.secretId }));
    if (SecretString !== undefined) return SecretString;
  } catch (cause) {
    throw refusal(connection, cluster, cause instanceof Error ? cause.message : String(cause), cause);
  }
  throw refusal(connection, cluster, "it holds bytes, not text");
};

const accessFrom = async (
  text: string,
  connection: SecretConnection,
  options: { readonly cluster: string; readonly clock: () => number },
): Promise<Access> => {
  const { cluster, clock } = options;
  const json = jsonObject(text);
  if (json === undefined || "clusters" in json) {
    return kubeconfigAccess(
      { text },
      { cluster, clock, from: connection.secretId, trusted: TEXT_ONLY, ...(connection.context !== undefined && { context: connection.context }) },
    );
  }
  const parsed = shortForm.safeParse(json);
  // The issue's path and kind only: a secret's values must not reach a log.
  if (!parsed.success)
    throw refusal(connection, cluster, parsed.error.issues.map((issue) => `${issue.path.join(".") || "the object"}: ${issue.code}`).join(", "));
  const { server, caData, token, clientCertData, clientKeyData } = parsed.data;
  if (token === undefined && (clientCertData === undefined || clientKeyData === undefined)) {
    throw refusal(connection, cluster, "it needs token, or clientCertData with clientKeyData");
  }
  return {
    server: serverUrl(server, { cluster, allowLoopbackHttp: false }),
    ca: decode(caData),
    rejectUnauthorized: true,
    credentials: async () => ({
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(clientCertData !== undefined && { cert: decode(clientCertData) }),
      ...(clientKeyData !== undefined && { key: decode(clientKeyData) }),
    }),
    forget: () => undefined,
  };
};

const decode = (data: string): string => Buffer.from(data, "base64").toString("utf8");

const jsonObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    // YAML then: a kubeconfig, or refused as one.
    return undefined;
  }
};
