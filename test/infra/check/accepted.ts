/** A finding that stays, with the reason. */
export interface Accepted {
  readonly tool: "cfn-lint" | "checkov";
  readonly rule: string;
  /** The logical names of its resources in the template; absent for all. */
  readonly resources?: readonly string[];
  readonly reason: string;
}

const NO_STREAM =
  "It is empty only with a table of an earlier stack and no stream of it. `tidemark stack deploy` and the rule StreamOfEvents of the template refuse this before anything is made.";

export const ACCEPTED: readonly Accepted[] = [
  {
    tool: "cfn-lint",
    rule: "W3005",
    reason: "osls writes DependsOn for each role of a function. It says twice what is true once.",
  },
  {
    tool: "cfn-lint",
    rule: "E3031",
    resources: ["EventsOfHistory"],
    reason: NO_STREAM,
  },
  {
    tool: "cfn-lint",
    rule: "E3033",
    resources: ["EventsOfHistory"],
    reason: NO_STREAM,
  },
  {
    tool: "cfn-lint",
    rule: "E3510",
    resources: ["EventsRole"],
    reason: NO_STREAM,
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
      "WakeLambdaFunction",
      "EventsLambdaFunction",
      "AuditLambdaFunction",
    ],
    reason:
      "schedule has a failure destination (EventInvokeConfig), the queue of sync has a dead-letter queue, and the stream of events a failure destination. People call api, connect and view synchronously. What wakes, the looks of each minute and the audits of each night are done by the next call; an alarm says that the audits are not.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_117",
    resources: [
      "ScheduleLambdaFunction",
      "ApiLambdaFunction",
      "ConnectLambdaFunction",
      "ViewLambdaFunction",
      "WakeLambdaFunction",
      "EventsLambdaFunction",
      "AuditLambdaFunction",
    ],
    reason:
      "They reach only AWS, by signed requests over TLS. sync alone reaches clusters, and runs in a VPC where the parameter subnetIds says so.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_364",
    resources: ["TopicMayWake"],
    reason:
      "SourceArn is the topic of the parameter wakeTopic, and the permission is there only with the parameter. checkov reads the empty default as no ARN.",
  },
  {
    tool: "checkov",
    rule: "CKV_AWS_26",
    resources: ["AlarmTopic"],
    reason:
      "Alarms hold no secrets. With a key whose policy does not name CloudWatch, no alarm would arrive.",
  },
];
