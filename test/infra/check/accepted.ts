/** A finding that stays, with the reason. */
export interface Accepted {
  readonly tool: "cfn-lint" | "checkov";
  readonly rule: string;
  /** The logical names of its resources in the template; absent for all. */
  readonly resources?: readonly string[];
  readonly reason: string;
}

export const ACCEPTED: readonly Accepted[] = [
  {
    tool: "cfn-lint",
    rule: "W3005",
    reason: "osls writes DependsOn for each role of a function. It says twice what is true once.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_18",
    resources: ["ServerlessDeploymentBucket"],
    reason:
      "The bucket holds packages of published source, which osls alone reads. Access logs need a second bucket.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_21",
    resources: ["ServerlessDeploymentBucket"],
    reason:
      "The packages of each source have a folder of their own, so no other package overwrites them.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_116",
    resources: [
      "ScheduleLambdaFunction",
      "SyncLambdaFunction",
      "ApiLambdaFunction",
      "ConnectLambdaFunction",
      "ViewLambdaFunction",
    ],
    reason:
      "schedule has a failure destination (EventInvokeConfig), the queue of sync has a dead-letter queue, and the others are called synchronously.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_117",
    resources: [
      "ScheduleLambdaFunction",
      "ApiLambdaFunction",
      "ConnectLambdaFunction",
      "ViewLambdaFunction",
    ],
    reason:
      "They reach only AWS, by signed requests over TLS. sync alone reaches clusters, and runs in a VPC where the parameter subnetIds says so.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_26",
    resources: ["AlarmTopic"],
    reason:
      "Alarms hold no secrets. With a key whose policy does not name CloudWatch, no alarm would arrive.",
  },
];
