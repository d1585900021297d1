import { awsPartition, isOfPartition } from "./aws-partitions.ts";

/** The restriction of EKS on cluster names. */
const EKS_NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/;
const ROLE = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;

export interface EksPlace {
  readonly clusterId: string;
  readonly region: string;
  readonly roleArn?: string;
}

/** What is wrong with the address of an EKS cluster, in words; undefined when it is valid. */
export const eksFault = ({ clusterId, region, roleArn }: EksPlace): string | undefined => {
  if (!EKS_NAME.test(clusterId))
    return "the name of an EKS cluster has letters, digits, - and _, at most 100";
  if (awsPartition(region) === undefined)
    return 'its region must be one of AWS, such as "eu-west-1"';
  if (roleArn !== undefined && !ROLE.test(roleArn))
    return 'its role must be an ARN, such as "arn:aws:iam::123456789012:role/tidemark-prod-cluster-eu-1"';
  if (roleArn !== undefined && !isOfPartition(roleArn, region))
    return partitionWords("its role", region);
  return undefined;
};

/** What is wrong with a role of another partition of AWS. */
export const partitionWords = (what: string, region: string): string =>
  `${what} must be of the partition of ${region}: its ARN begins with "arn:${awsPartition(region)?.id}:"`;

/**
 * Name and region in an ARN. Secrets Manager appends six characters to the name; an ARN without
 * them is valid too.
 */
const ARN =
  /^arn:aws[a-z-]*:secretsmanager:(?<region>[a-z0-9-]+):\d{12}:secret:(?<name>.+?)(?:-[A-Za-z0-9]{6})?$/;
/** A folder and a name, in the characters that Secrets Manager allows. */
const SECRET_NAME = /^[\w+=.@-]+\/([\w+=.@-]+)$/;

/**
 * True for the secret of this cluster: a folder and the name of the cluster, such as
 * "tidemark-prod/eu-1". The role of the sync may read every secret of the folder. Without this rule
 * an editor could give one cluster the credentials of another. The region of an ARN becomes a part
 * of a host name, so that only regions of AWS are allowed.
 */
export const isSecretOf = (secretId: string, cluster: string): boolean => {
  const name = secretId.startsWith("arn:") ? nameInArn(secretId) : secretId;
  return name !== undefined && SECRET_NAME.exec(name)?.[1] === cluster;
};

const nameInArn = (arn: string): string | undefined => {
  const { region = "", name } = ARN.exec(arn)?.groups ?? {};
  return isOfPartition(arn, region) ? name : undefined;
};

/** The message of a refusal: the name that the secret must have. */
export const secretWords = (cluster: string): string =>
  `the secret of this cluster must be named FOLDER/${cluster}, such as "tidemark-prod/${cluster}"`;

/**
 * The name of the secret of a registered source. No cluster can have a name with a dot, so that no
 * cluster can use it.
 */
export const sourceSecretName = (source: string): string => `source.${source}`;

export const sourceSecretWords = (source: string): string =>
  `the secret of this source must be named FOLDER/${sourceSecretName(source)}, such as "tidemark-prod/${sourceSecretName(source)}"`;
