import * as z from "zod";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { isSecretOf, secretWords } from "../../../rules/model/aws-names.ts";
import { AWS_CALLS, SECRET_TTL_MS } from "../request-limits.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import type { Connection } from "../../../rules/model/records.ts";
import { type Access, cached } from "./access.ts";
import { checkedAccess, kubeconfigTextAccess, type SecretParts } from "./checked-access.ts";
import { pemData } from "./pem.ts";
import type { TokenLife } from "../../../rules/model/summary.ts";
import { claimsOf, subjectOf, TOKEN_LEAST_MS } from "./token-life.ts";
import { bearerToken, faultText, filled, readSecretText } from "./secret-text.ts";

/** The cluster or source whose secret is read. */
export interface SecretOwner {
  readonly name: string;
  /** What to say where the secret has the name of another owner. */
  readonly words: string;
  readonly refuse: (why: string) => TidemarkError;
  /** What to say of an error of the SDK. It quotes nothing of the secret. */
  readonly failed: (cause: unknown) => string;
}

interface StoredSecret {
  readonly text: string;
  readonly name: string;
}

/**
 * The text of a secret in AWS Secrets Manager, and the name that Secrets Manager has for it. A
 * name without ARN is read in the Region of the function. Throws what `refuse` makes. This file
 * holds the client of Secrets Manager, so it is loaded by `import()` where the first secret is
 * read.
 */
export const storedSecret = async (
  secretId: string,
  { name, words, refuse, failed }: SecretOwner,
): Promise<StoredSecret> => {
  const region = /^arn:aws[\w-]*:secretsmanager:([\w-]+):/.exec(secretId)?.[1];
  const client = new SecretsManagerClient({
    ...AWS_CALLS,
    ...(region !== undefined && { region }),
  });
  try {
    const { SecretString, Name } = await client.send(
      new GetSecretValueCommand({ SecretId: secretId }),
    );
    // An ARN without its last six characters may match another secret, so that the name in the
    // answer decides.
    if (Name === undefined || !isSecretOf(Name, name)) throw refuse(words);
    if (SecretString === undefined) throw refuse("it holds bytes, and must hold text");
    return { text: SecretString, name: Name };
  } catch (error) {
    throw error instanceof TidemarkError ? error : refuse(failed(error));
  } finally {
    client.destroy();
  }
};

type SecretConnection = Extract<Connection, { kind: "secret" }>;

export interface SecretOptions {
  readonly cluster: string;
  readonly clock: () => number;
  readonly ownAddresses: boolean;
}

/** The short form of a secret. Any other content is read as a kubeconfig. */
const shortForm = z.strictObject({
  server: filled,
  caData: pemData,
  token: bearerToken.exactOptional(),
  /** "aws": AWS makes the token, for the name of the secret as its audience. */
  tokenFrom: z.literal("aws").exactOptional(),
  clientCertData: pemData.exactOptional(),
  clientKeyData: pemData.exactOptional(),
});

/**
 * Access by a secret in AWS Secrets Manager: `{ server, caData, token }` (or a client certificate,
 * or `tokenFrom`), or a kubeconfig. It is read again every five minutes and after a 401, so that a
 * rotated secret needs no restart; address and CA stay as they were read first. Failures are
 * TidemarkErrors `cluster.access.secret`, and quote nothing of the secret.
 */
export const secretAccess = async (
  connection: SecretConnection,
  options: SecretOptions,
): Promise<Access> => {
  const refuse = refusal(connection, options.cluster);
  if (!isSecretOf(connection.secretId, options.cluster)) throw refuse(secretWords(options.cluster));
  const owner = {
    name: options.cluster,
    words: secretWords(options.cluster),
    refuse,
    failed: awsWords,
  };
  const parts: SecretParts = {
    refuse,
    access: (accessParts) =>
      checkedAccess(accessParts, { refuse, ownAddresses: options.ownAddresses }),
  };
  const current = cached(
    async (nowMs) => {
      const secret = await storedSecret(connection.secretId, owner);
      const { access, isRenewed } = await accessFrom(secret, connection.context, parts);
      const life = await usableLife(access, connection, { refuse, nowMs });
      return { access, life, told: isRenewed ? undefined : life };
    },
    {
      // A token that ends before is read again at its end: another one may be there.
      ttlMs: ({ life }) =>
        Math.min(SECRET_TTL_MS, (life?.endMs ?? Infinity) - TOKEN_LEAST_MS - options.clock()),
      clock: options.clock,
    },
  );
  const first = await current.get();
  let { told } = first;
  return {
    ...first.access,
    credentials: async () => {
      const read = await current.get();
      told = read.told;
      return read.access.credentials();
    },
    forget: current.forget,
    tokenLife: () => told,
  };
};

/**
 * How long the token may be used; undefined where there is none, or it says no end. Refuses a token
 * of another service account, and one that has ended or is about to: the API server would refuse it
 * in the middle of a sync.
 */
const usableLife = async (
  access: Access,
  { serviceAccount }: SecretConnection,
  { refuse, nowMs }: { readonly refuse: SecretParts["refuse"]; readonly nowMs: number },
): Promise<TokenLife | undefined> => {
  const { authorization } = (await access.credentials()).headers;
  const token =
    typeof authorization === "string" ? /^Bearer (.+)$/.exec(authorization)?.[1] : undefined;
  const claims = token === undefined ? undefined : claimsOf(token);
  if (serviceAccount !== undefined && claims?.subject !== subjectOf(serviceAccount))
    throw refuse(
      `it must hold a token of the service account "${serviceAccount}"; make one with kubectl create token`,
    );
  const { life } = claims ?? {};
  if (life && life.endMs - nowMs < TOKEN_LEAST_MS)
    throw refuse(
      `its token ${life.endMs <= nowMs ? "ended" : "ends"} at ${new Date(life.endMs).toISOString()}; put a new one into the secret`,
    );
  return life;
};

const refusal =
  (connection: SecretConnection, cluster: string) =>
  (why: string): TidemarkError =>
    new TidemarkError(
      "cluster.access.secret",
      `Cannot use secret "${connection.secretId}" for cluster "${cluster}": ${why}`,
      {
        secretId: connection.secretId,
        cluster,
      },
    );

/**
 * The message for an error of the SDK. An error about an answer that cannot be parsed quotes the
 * secret, so that it is neither repeated nor a cause.
 */
const awsWords = (cause: unknown): string => {
  if (!(cause instanceof Error) || cause instanceof SyntaxError)
    return "the answer of Secrets Manager cannot be read";
  return foreignText(cause.message);
};

/** `isRenewed`: its token is made anew whenever the secret is read, so that nobody has to. */
interface ReadAccess {
  readonly access: Access;
  readonly isRenewed: boolean;
}

const accessFrom = async (
  { text, name }: StoredSecret,
  context: string | undefined,
  parts: SecretParts,
): Promise<ReadAccess> => {
  const reading = await readSecretText(text);
  if (reading.kind === "unreadable") throw parts.refuse(reading.why);
  const { value } = reading;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw parts.refuse("it is neither the short form nor a kubeconfig");
  return isShort(value)
    ? shortAccess(value, name, parts)
    : { access: kubeconfigTextAccess(value, context, parts), isRenewed: false };
};

/** True unless the content has a field of a kubeconfig. */
const isShort = (value: object): boolean =>
  !["clusters", "users", "contexts", "current-context", "apiVersion", "kind"].some(
    (key) => key in value,
  );

/**
 * A token of AWS is for the name of the secret: so the one who writes the secret of a cluster gets
 * no token that another cluster takes, even where the secret has its address.
 */
const shortAccess = async (
  value: unknown,
  secretName: string,
  { refuse, access }: SecretParts,
): Promise<ReadAccess> => {
  const parsed = shortForm.safeParse(value);
  if (!parsed.success) throw refuse(faultText(parsed.error));
  const { server, caData, tokenFrom, clientCertData, clientKeyData } = parsed.data;
  if (tokenFrom !== undefined && parsed.data.token !== undefined)
    throw refuse("it has both token and tokenFrom; leave one of them out");
  const isRenewed = tokenFrom === "aws";
  const token = isRenewed
    ? await (await import("./web-identity.ts")).webIdentityToken(secretName, refuse)
    : parsed.data.token;
  if (token === undefined && (clientCertData === undefined || clientKeyData === undefined)) {
    throw refuse("it needs token, tokenFrom, or clientCertData with clientKeyData");
  }
  const parts = {
    server,
    ca: caData,
    credentials: {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(clientCertData !== undefined && { cert: clientCertData }),
      ...(clientKeyData !== undefined && { key: clientKeyData }),
    },
  };
  return { access: access(parts), isRenewed };
};
