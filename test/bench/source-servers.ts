import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { kubernetes, workload } from "../cluster/stand-in/kubernetes.ts";

/**
 * `fork("source-servers.ts", [AUTOSCALERS])`: a cluster with so many Deployments, an adapter of
 * external metrics and a Prometheus behind its API server, and STS, SQS and CloudWatch on an
 * address of their own. It sends `{ url, ca, aws }`, and for each message the number of questions
 * since the one before. It ends with its parent.
 */
const [autoscalers = 0] = process.argv.slice(2).map(Number);
const PODS = 3;
const NAMESPACES = 20;
/** Three pods of ten: nothing scales. */
const VALUE = 30;

let questions = 0;
const server = await kubernetes();
server.collections.set(
  "/apis/apps/v1/deployments",
  Array.from({ length: autoscalers }, (_, at) =>
    workload(`team-${at % NAMESPACES}`, `app-${at}`, PODS),
  ),
);
server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
const answerOf = (body: object, path: RegExp): void => {
  const text = JSON.stringify(body);
  server.overrides.push({
    match: ({ url }) => path.test(url.pathname),
    answer: (_seen, response) => {
      questions += 1;
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    },
  });
};
answerOf(
  {
    status: "success",
    data: { resultType: "vector", result: [{ metric: {}, value: [0, String(VALUE)] }] },
  },
  /\/services\/[^/]+\/proxy\/api\/v1\/query$/,
);
answerOf(
  {
    kind: "ExternalMetricValueList",
    items: [{ metricName: "load", timestamp: "2026-01-05T08:00:00Z", value: String(VALUE) }],
  },
  /^\/apis\/external\.metrics\.k8s\.io\/v1beta1\/namespaces\//,
);

const SESSION = `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIASESSION</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
<SessionToken>token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;

interface DataRequest {
  readonly EndTime: number;
  readonly MetricDataQueries: readonly { readonly Id: string; readonly Label: string }[];
}

const awsAnswer = (target: string, body: string): object => {
  if (target.startsWith("AmazonSQS"))
    return {
      Attributes: {
        ApproximateNumberOfMessages: String(VALUE),
        ApproximateNumberOfMessagesNotVisible: "0",
      },
    };
  const { EndTime, MetricDataQueries } = JSON.parse(body) as DataRequest;
  return {
    MetricDataResults: MetricDataQueries.map(({ Id, Label }) => ({
      Id,
      Label,
      StatusCode: "Complete",
      Timestamps: [EndTime - 60],
      Values: [VALUE],
    })),
  };
};

const aws = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.concat(parts).toString("utf8");
    const target = String(request.headers["x-amz-target"] ?? "");
    if (target === "") return response.writeHead(200, { "content-type": "text/xml" }).end(SESSION);
    questions += 1;
    return response
      .writeHead(200, { "content-type": "application/x-amz-json-1.0" })
      .end(JSON.stringify(awsAnswer(target, body)));
  });
});
await new Promise<void>((resolve) => aws.listen(0, "127.0.0.1", resolve));

process.once("disconnect", () => process.exit(0));
process.on("message", () => {
  process.send?.(questions);
  questions = 0;
});
process.send?.({
  url: server.url,
  ca: server.ca,
  aws: `http://127.0.0.1:${(aws.address() as AddressInfo).port}`,
});
