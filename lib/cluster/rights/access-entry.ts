import { RBAC_GROUP } from "./rbac-text.ts";

export interface AccessEntry {
  readonly clusterId: string;
  readonly region: string;
  /** The role that is assumed for the cluster; absent: the role of the function that syncs. */
  readonly roleArn?: string;
  /** The name of the stack whose function syncs, where it is known. */
  readonly stack?: string;
}

const EXAMPLE_STACK = "tidemark-prod";

/** The values must have passed `eksFault`, because they become a part of a command. It is the command that gives a role of IAM the group of the roles, as lines of comments, which kubectl skips below the YAML. */
export const accessEntryText = ({ clusterId, region, roleArn, stack }: AccessEntry): string => {
  const principal = roleArn ?? "$SYNC_ROLE_ARN";
  const lines = [
    "Then give the role of Tidemark this group in the EKS cluster, with the AWS command line:",
    ...(roleArn === undefined ? roleLines(stack) : []),
    `  aws eks create-access-entry --cluster-name ${clusterId} --region ${region} --principal-arn "${principal}" --kubernetes-groups ${RBAC_GROUP}`,
  ];
  return `${lines.map((line) => `# ${line}`).join("\n")}\n`;
};

const roleLines = (stack: string | undefined): readonly string[] => [
  `The role is that of the function that syncs, an output of the stack.${stack === undefined ? ` Put the name of yours in the place of ${EXAMPLE_STACK}.` : ""}`,
  `  SYNC_ROLE_ARN=$(aws cloudformation describe-stacks --stack-name ${stack ?? EXAMPLE_STACK} --query "Stacks[0].Outputs[?OutputKey=='SyncRoleArn'].OutputValue" --output text)`,
];
