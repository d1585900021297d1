/** The regions of each AWS partition. Only a text of such a pattern may become a part of a host name. */
const PARTITIONS: readonly (readonly [region: RegExp, suffix: string])[] = [
  [/^(?:us|eu|ap|sa|ca|me|af|il|mx)-[a-z]+-\d{1,2}$/, "amazonaws.com"],
  [/^us-gov-[a-z]+-\d{1,2}$/, "amazonaws.com"],
  [/^cn-[a-z]+-\d{1,2}$/, "amazonaws.com.cn"],
  [/^us-iso-[a-z]+-\d{1,2}$/, "c2s.ic.gov"],
  [/^us-isob-[a-z]+-\d{1,2}$/, "sc2s.sgov.gov"],
  [/^eu-isoe-[a-z]+-\d{1,2}$/, "cloud.adc-e.uk"],
  [/^us-isof-[a-z]+-\d{1,2}$/, "csp.hci.ic.gov"],
  [/^eusc-[a-z]{2}-[a-z]+-\d{1,2}$/, "amazonaws.eu"],
];

/** The domain of the AWS services in a region; undefined for a text that is not a region. An editor names the region, and signed requests go to this domain. */
export const awsDomain = (region: string): string | undefined => PARTITIONS.find(([pattern]) => pattern.test(region))?.[1];

/** The restriction of EKS on cluster names. */
const NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/;
const ROLE = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;

export interface EksPlace {
  readonly clusterId: string;
  readonly region: string;
  readonly roleArn?: string;
}

/** What is wrong with the address of an EKS cluster, in words; undefined when it is valid. */
export const eksFault = ({ clusterId, region, roleArn }: EksPlace): string | undefined => {
  if (!NAME.test(clusterId)) return "the name of an EKS cluster has letters, digits, - and _, at most 100";
  if (awsDomain(region) === undefined) return 'its region must be one of AWS, such as "eu-west-1"';
  if (roleArn !== undefined && !ROLE.test(roleArn))
    return 'its role must be an ARN, such as "arn:aws:iam::123456789012:role/tidemark-prod-cluster-eu-1"';
  return undefined;
};
