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

/**
 * The values must have passed `eksFault`, because they become a part of a command. The commands that give a role of IAM the group of the roles, and that make the role where another account has
 * it, as lines of comments, which kubectl skips below the YAML.
 */
export const accessEntryText = (entry: AccessEntry): string => {
  const { clusterId, region, roleArn } = entry;
  const lines = [
    ...(roleArn === undefined ? [] : assumedRoleLines(entry, roleArn)),
    "Then give the role of Tidemark this group in the EKS cluster, with the AWS command line:",
    ...(roleArn === undefined ? syncRoleLines(entry) : []),
    `  aws eks create-access-entry --cluster-name ${clusterId} --region ${region} --principal-arn "${roleArn ?? "$SYNC_ROLE_ARN"}" --kubernetes-groups ${RBAC_GROUP}`,
  ];
  return `${lines.map((line) => `# ${line}`).join("\n")}\n`;
};

const syncRoleLines = ({ stack }: AccessEntry): readonly string[] => [
  `The role is that of the function that syncs, an output of the stack.${otherStack(stack)}`,
  `  ${syncRoleCommand(stack)}`,
];
const otherStack = (stack: string | undefined): string => (stack === undefined ? ` Put the name of yours in the place of ${EXAMPLE_STACK}.` : "");
const syncRoleCommand = (stack = EXAMPLE_STACK): string =>
  `SYNC_ROLE_ARN=$(aws cloudformation describe-stacks --stack-name ${stack} --query "Stacks[0].Outputs[?OutputKey=='SyncRoleArn'].OutputValue" --output text)`;

/** The role trusts only the function that syncs, and may describe one cluster. */
const assumedRoleLines = ({ clusterId, region, stack }: AccessEntry, roleArn: string): readonly string[] => {
  const [, partition = "aws", , , account = "", resource = ""] = roleArn.split(":");
  const name = resource.slice("role/".length);
  const allowed = `${stack ?? EXAMPLE_STACK}-cluster-`;
  // The function has the right to assume roles of these names. The commands for another one would make a role that no sync can use.
  if (!name.startsWith(allowed) || name.includes("/")) {
    return [`The function that syncs assumes only roles named ${allowed}*: "${name}" is none of them.${otherStack(stack)}`];
  }
  const trust = policyOf({ Effect: "Allow", Principal: { AWS: `'"$SYNC_ROLE_ARN"'` }, Action: "sts:AssumeRole" });
  const right = policyOf({
    Effect: "Allow",
    Action: "eks:DescribeCluster",
    Resource: `arn:${partition}:eks:${region}:${account}:cluster/${clusterId}`,
  });
  return [
    `Make the role "${name}", with the AWS command line. It trusts the function that syncs, whose role is an output of the stack; so this needs the account of the stack.${otherStack(stack)}`,
    `  ${syncRoleCommand(stack)}`,
    `The other commands need the account ${account}:`,
    `  aws iam create-role --role-name ${name} --assume-role-policy-document '${trust}'`,
    `  aws iam put-role-policy --role-name ${name} --policy-name describe-cluster --policy-document '${right}'`,
  ];
};

/** The text of a policy with one statement. A value may end the quotation of the shell and begin it again, so none of its quotes are escaped. */
const policyOf = (statement: object): string => JSON.stringify({ Version: "2012-10-17", Statement: [statement] }).replaceAll('\\"', '"');
