import { awsDomain } from "./eks.ts";

/** Name and region inside an ARN; Secrets Manager puts six characters behind the name, which may be left out. */
const ARN = /^arn:aws[a-z-]*:secretsmanager:(?<region>[a-z0-9-]+):\d{12}:secret:(?<name>.+?)(?:-[A-Za-z0-9]{6})?$/;
/** A folder and a name, of the characters that Secrets Manager takes. */
const NAME = /^[\w+=.@-]+\/(?<cluster>[\w+=.@-]+)$/;

/**
 * True for the secret of this cluster: a folder and the cluster's own name, such as "tidemark-prod/eu-1". The role of the sync may read every secret of the folder, so that without
 * this rule an editor could let one cluster use the credentials of another by naming its secret. An ARN names a host by its region, so that only those of AWS are taken.
 */
export const isSecretOf = (secretId: string, cluster: string): boolean => {
  const name = secretId.startsWith("arn:") ? nameInArn(secretId) : secretId;
  return name !== undefined && NAME.exec(name)?.groups?.["cluster"] === cluster;
};

const nameInArn = (arn: string): string | undefined => {
  const { region = "", name } = ARN.exec(arn)?.groups ?? {};
  return awsDomain(region) === undefined ? undefined : name;
};

/** Why a secret is refused, and which name it needs. */
export const secretWords = (cluster: string): string =>
  `the secret of this cluster must be named FOLDER/${cluster}, such as "tidemark-prod/${cluster}"`;
