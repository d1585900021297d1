/** A partition of AWS: regions that share accounts, ARNs and domains. */
export interface AwsPartition {
  /** As in ARNs: `aws-cn`. */
  readonly id: string;
  readonly regions: RegExp;
  /** The domain of the services. */
  readonly domain: string;
  /** The domain of function URLs. */
  readonly urlDomain: string;
}

/**
 * The partitions of the AWS SDK, and its domains; a test compares them. Only a text of such a
 * pattern may become a part of a host name or an ARN, so that the patterns are narrower than the
 * ones of the SDK. Each host and each ARN of Tidemark is made here.
 */
const PARTITIONS: readonly AwsPartition[] = [
  {
    id: "aws",
    regions: /^(?:us|eu|ap|sa|ca|me|af|il|mx)-[a-z]+-\d{1,2}$/,
    domain: "amazonaws.com",
    urlDomain: "on.aws",
  },
  {
    id: "aws-us-gov",
    regions: /^us-gov-[a-z]+-\d{1,2}$/,
    domain: "amazonaws.com",
    urlDomain: "on.aws",
  },
  {
    id: "aws-cn",
    regions: /^cn-[a-z]+-\d{1,2}$/,
    domain: "amazonaws.com.cn",
    urlDomain: "on.amazonwebservices.com.cn",
  },
  {
    id: "aws-iso",
    regions: /^us-iso-[a-z]+-\d{1,2}$/,
    domain: "c2s.ic.gov",
    urlDomain: "on.aws.ic.gov",
  },
  {
    id: "aws-iso-b",
    regions: /^us-isob-[a-z]+-\d{1,2}$/,
    domain: "sc2s.sgov.gov",
    urlDomain: "on.aws.scloud",
  },
  {
    id: "aws-iso-e",
    regions: /^eu-isoe-[a-z]+-\d{1,2}$/,
    domain: "cloud.adc-e.uk",
    urlDomain: "on.cloud-aws.adc-e.uk",
  },
  {
    id: "aws-iso-f",
    regions: /^us-isof-[a-z]+-\d{1,2}$/,
    domain: "csp.hci.ic.gov",
    urlDomain: "on.aws.hci.ic.gov",
  },
  {
    id: "aws-eusc",
    regions: /^eusc-[a-z]{2}-[a-z]+-\d{1,2}$/,
    domain: "amazonaws.eu",
    urlDomain: "on.amazonwebservices.eu",
  },
];

/** The partition of a region; undefined for a text that is not a region. */
export const awsPartition = (region: string): AwsPartition | undefined =>
  PARTITIONS.find(({ regions }) => regions.test(region));

/**
 * The domain of the AWS services in a region; undefined for a text that is not a region. An editor
 * names the region, and signed requests go to this domain.
 */
export const awsDomain = (region: string): string | undefined => awsPartition(region)?.domain;

/** The host of a function URL contains its region. */
const FUNCTION_URL = /^[a-z0-9]+\.lambda-url\.([a-z0-9-]+)\.([a-z.-]+)$/;

/** The region of the host of a function URL; undefined for any other host. */
export const functionUrlRegion = (host: string): string | undefined => {
  const [, region = "", domain] = FUNCTION_URL.exec(host) ?? [];
  const known = awsPartition(region);
  return known !== undefined && known.urlDomain === domain ? region : undefined;
};

/** The ARN of a resource. A place that is no region of AWS, such as the run on this machine, has the ARNs of `aws`. */
export const arnOf = (service: string, region: string, account: string, resource: string): string =>
  `arn:${awsPartition(region)?.id ?? "aws"}:${service}:${service === "iam" ? "" : region}:${account}:${resource}`;

/** True where an ARN is one of the partition of the region. Credentials of one partition are unknown in any other. */
export const isOfPartition = (arn: string, region: string): boolean => {
  const known = awsPartition(region);
  return known !== undefined && arn.startsWith(`arn:${known.id}:`);
};
