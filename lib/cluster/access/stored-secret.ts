import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { TidemarkError } from "../../model/errors.ts";
import { isSecretOf } from "../../model/aws-names.ts";
import { AWS_CALLS } from "../request-limits.ts";

/** The cluster or source whose secret is read. */
export interface SecretOwner {
  readonly name: string;
  /** What to say where the secret has the name of another owner. */
  readonly words: string;
  readonly refuse: (why: string) => TidemarkError;
  /** What to say of an error of the SDK. It quotes nothing of the secret. */
  readonly failed: (cause: unknown) => string;
}

/**
 * The text of a secret in AWS Secrets Manager. A name without ARN is read in the Region of the function. Throws what `refuse` makes. This file holds the client of Secrets Manager, so it is loaded by
 * `import()` where the first secret is read.
 */
export const storedSecret = async (secretId: string, { name, words, refuse, failed }: SecretOwner): Promise<string> => {
  const region = /^arn:aws[\w-]*:secretsmanager:([\w-]+):/.exec(secretId)?.[1];
  const client = new SecretsManagerClient({ ...AWS_CALLS, ...(region !== undefined && { region }) });
  try {
    const { SecretString, Name } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    // An ARN without its last six characters may match another secret, so that the name in the answer decides.
    if (Name === undefined || !isSecretOf(Name, name)) throw refuse(words);
    if (SecretString === undefined) throw refuse("it holds bytes, and must hold text");
    return SecretString;
  } catch (error) {
    throw error instanceof TidemarkError ? error : refuse(failed(error));
  } finally {
    client.destroy();
  }
};
