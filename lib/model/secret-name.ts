/** The name of a secret inside an ARN; Secrets Manager puts six characters behind it, which may be left out. */
const ARN = /^arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:(?<name>.+?)(?:-[A-Za-z0-9]{6})?$/;

/**
 * True for the secret of this cluster: a folder and the cluster's own name, such as "tidemark-prod/eu-1". The role of the sync may read every secret of the folder, so that without
 * this rule an editor could let one cluster use the credentials of another by naming its secret.
 */
export const isSecretOf = (secretId: string, cluster: string): boolean => {
  const [folder = "", name, ...more] = (ARN.exec(secretId)?.groups?.["name"] ?? secretId).split("/");
  return folder !== "" && name === cluster && more.length === 0;
};

/** Why a secret is refused, and which name it needs. */
export const secretWords = (cluster: string): string =>
  `the secret of this cluster must be named FOLDER/${cluster}, such as "tidemark-prod/${cluster}"`;
