import { awsDomain } from "./eks.ts";

/** Name and region in an ARN. Secrets Manager appends six characters to the name; an ARN without them is valid too. */
const ARN = /^arn:aws[a-z-]*:secretsmanager:(?<region>[a-z0-9-]+):\d{12}:secret:(?<name>.+?)(?:-[A-Za-z0-9]{6})?$/;
/** A folder and a name, in the characters that Secrets Manager allows. */
const NAME = /^[\w+=.@-]+\/([\w+=.@-]+)$/;

/**
 * True for the secret of this cluster: a folder and the name of the cluster, such as "tidemark-prod/eu-1". The role of the sync may read every secret of the folder. Without this rule
 * an editor could give one cluster the credentials of another. The region of an ARN becomes a part of a host name, so that only regions of AWS are allowed.
 */
export const isSecretOf = (secretId: string, cluster: string): boolean => {
  const name = secretId.startsWith("arn:") ? nameInArn(secretId) : secretId;
  return name !== undefined && NAME.exec(name)?.[1] === cluster;
};

const nameInArn = (arn: string): string | undefined => {
  const { region = "", name } = ARN.exec(arn)?.groups ?? {};
  return awsDomain(region) === undefined ? undefined : name;
};

/** The message of a refusal: the name that the secret must have. */
export const secretWords = (cluster: string): string =>
  `the secret of this cluster must be named FOLDER/${cluster}, such as "tidemark-prod/${cluster}"`;

/** The name of the secret of a registered source. No cluster can have a name with a dot, so that no cluster can use it. */
export const sourceSecretName = (source: string): string => `source.${source}`;

export const sourceSecretWords = (source: string): string =>
  `the secret of this source must be named FOLDER/${sourceSecretName(source)}, such as "tidemark-prod/${sourceSecretName(source)}"`;
