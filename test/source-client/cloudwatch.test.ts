import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer, MetricValue } from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { type SourceClient, sourceClient } from "../../lib/stack/source-client/source-client.ts";
import type { CloudwatchQuery } from "../../lib/rules/sources/cloudwatch.ts";
import { registeredQueryOf } from "../../lib/rules/sources/sources.ts";
import { native } from "../policy/native/world.ts";
import { type AwsServer, awsServer } from "./aws-server.ts";
import { HAS_MOTO, type Moto, motoServer } from "./moto.ts";
import { sourceRecord } from "./scene.ts";

const PLACE = {
  region: "eu-central-1",
  roleArn: "arn:aws:iam::123456789012:role/tidemark-prod-source-alb",
  externalId: "of-shop",
};
const METRICS = sourceRecord({
  name: "metrics",
  kind: "cloudwatch",
  timeoutSeconds: 3,
  aws: { ...PLACE, metricNamespaces: ["AWS/*", "Shop"], accounts: ["999988887777"] },
});
const NOW_MS = 1_795_000_042_000;
const PERIOD_END = 1_795_000_020;
const LEFT = { cluster: "eu-1", leftMs: () => 5_000 };

/** The question of a manifest. */
const question = (block: object): CloudwatchQuery => {
  const spec = native({
    metrics: [{ name: "load", cloudwatch: { source: "metrics", ...block }, target: 10 }],
  });
  const [load] = spec.dialect === "native" ? spec.metrics : [];
  const query = load && registeredQueryOf(load.source);
  if (query?.for !== "cloudwatch") throw new Error("the manifest asks CloudWatch");
  return query as CloudwatchQuery;
};
const metric = (name: string, more: object = {}) =>
  question({ namespace: "AWS/SQS", metric: name, ...more });
const sum = (expression: string, more: object = {}) =>
  question({
    expression,
    inputs: [{ id: "a", namespace: "AWS/SQS", metric: "Sent", stat: "Sum" }],
    ...more,
  });

let client: SourceClient;
let nowMs = NOW_MS;
const startClient = (url: string): void => {
  vi.stubEnv("AWS_ENDPOINT_URL", url);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFUNCTION");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-function");
  client = sourceClient({ clock: () => nowMs, ownAddresses: false });
};
const stopClient = (): void => {
  client.close();
  vi.unstubAllEnvs();
};
const askAll = async (queries: readonly CloudwatchQuery[], source = METRICS) => {
  const answers = await client.ask(source, queries, LEFT);
  return queries.map((query) => answers.get(queryKey(query)));
};
const askOne = async (query: CloudwatchQuery, source = METRICS) =>
  (await askAll([query], source))[0];

interface DataQuery {
  readonly Id: string;
  readonly Expression?: string;
  readonly ReturnData: boolean;
  readonly MetricStat?: { readonly Metric: { readonly MetricName: string } };
}
interface Call {
  readonly StartTime: number;
  readonly EndTime: number;
  readonly NextToken?: string;
  readonly MetricDataQueries: readonly DataQuery[];
}

const result = (Id: string, Values: readonly number[], more: object = {}) => ({
  Id,
  Label: Id,
  StatusCode: "Complete",
  Timestamps: Values.map((_, at) => PERIOD_END - 60 * (at + 1)),
  Values,
  ...more,
});
const returned = ({ MetricDataQueries }: Call) =>
  MetricDataQueries.filter(({ ReturnData }) => ReturnData);
const milliOf = (answer: Answer<readonly MetricValue[]> | undefined) =>
  answer?.kind === "answered" ? answer.items[0]?.milli : answer?.failure.reason;

describe("a source of kind cloudwatch", () => {
  let server: AwsServer;
  const calls = (): readonly Call[] => server.calls.map(({ body }) => JSON.parse(body) as Call);
  const answering = (answer: (call: Call) => readonly [number, unknown]): void => {
    server.answer = ({ body }) => answer(JSON.parse(body) as Call);
  };
  /** Each metric has as its value the number in its name. */
  const byName = (call: Call) =>
    [
      200,
      {
        MetricDataResults: returned(call).map(({ Id, MetricStat }) =>
          result(Id, [Number(MetricStat?.Metric.MetricName.slice(1) ?? 7)]),
        ),
      },
    ] as const;
  beforeEach(async () => {
    nowMs = NOW_MS;
    server = await awsServer();
    startClient(server.url);
  });
  afterEach(async () => {
    stopClient();
    await server.close();
  });

  it("marks the answers to all questions of a request that took half of its time limit", async () => {
    answering(byName);
    const quick = await askAll([metric("m1"), metric("m2")]);
    expect(quick.map((answer) => answer && "slow" in answer)).toEqual([false, false]);
    server.afterMs = 1_050;
    const late = await askAll([metric("m1"), metric("m2")], { ...METRICS, timeoutSeconds: 2 });
    const slow = { source: "metrics", seconds: expect.closeTo(1.4, 0), timeoutSeconds: 2 };
    expect(late).toMatchObject([{ slow }, { slow }]);
    expect(server.calls).toHaveLength(2);
  });

  it("asks for a metric of whole periods with a signed call, and its value has the time at which its period ended", async () => {
    answering((call) => [
      200,
      { MetricDataResults: returned(call).map(({ Id }) => result(Id, [12.0004, 99])) },
    ]);
    const query = metric("Age", {
      dimensions: { QueueName: "orders", Account: "1" },
      stat: "p99",
      accountId: "999988887777",
      offsetSeconds: 60,
    });
    expect(await askOne(query)).toEqual({
      kind: "answered",
      items: [{ milli: 12_000n, timestampMs: PERIOD_END * 1_000 }],
    });
    expect(server.calls).toMatchObject([
      {
        service: "monitoring",
        target: "GraniteServiceVersion20100801.GetMetricData",
        accessKeyId: "ASIASESSION",
        signatureIsRight: true,
      },
    ]);
    expect(calls()).toEqual([
      {
        StartTime: PERIOD_END - 60 - 300,
        EndTime: PERIOD_END - 60,
        ScanBy: "TimestampDescending",
        MetricDataQueries: [
          {
            Id: "q0",
            Label: "q0",
            ReturnData: true,
            AccountId: "999988887777",
            MetricStat: {
              Metric: {
                Namespace: "AWS/SQS",
                MetricName: "Age",
                Dimensions: [
                  { Name: "Account", Value: "1" },
                  { Name: "QueueName", Value: "orders" },
                ],
              },
              Period: 60,
              Stat: "p99",
            },
          },
        ],
      },
    ]);
    expect(JSON.parse(server.assumed[0]?.get("Policy") ?? "").Statement).toEqual([
      { Effect: "Allow", Action: "cloudwatch:GetMetricData", Resource: "*" },
    ]);
  });

  it("asks 1,000 metrics in two calls, and gives each question its own value", async () => {
    answering(byName);
    const queries = Array.from({ length: 1_000 }, (_, at) => metric(`m${at}`));
    expect((await askAll([...queries, metric("m3")])).map(milliOf)).toEqual(
      [...queries.keys(), 3].map((at) => BigInt(at) * 1_000n),
    );
    expect(calls().map(({ MetricDataQueries }) => MetricDataQueries.length)).toEqual([500, 500]);
  });

  it("asks fewer in a call where their values would not fit into one answer", async () => {
    answering(byName);
    await askAll(
      Array.from({ length: 60 }, (_, at) =>
        metric(`m${at}`, { periodSeconds: 1, lookbackSeconds: 300 }),
      ),
    );
    const lengths = calls().map(({ MetricDataQueries }) => MetricDataQueries.length);
    expect(lengths.reduce((all, one) => all + one)).toBe(60);
    expect(Math.max(...lengths)).toBeLessThan(20);
  });

  it("asks another window in another call", async () => {
    answering(byName);
    expect(
      (await askAll([metric("m1"), metric("m2", { periodSeconds: 300 }), metric("m3")])).map(
        milliOf,
      ),
    ).toEqual([1_000n, 2_000n, 3_000n]);
    expect(calls().map(({ StartTime, EndTime }) => EndTime - StartTime)).toEqual([300, 900]);
  });

  it("sends expressions beside each other with names of their own", async () => {
    answering(byName);
    await askAll([sum("SUM(a) / 2"), sum("FILL(a, 0)", { whenEmpty: 0 }), metric("m1")]);
    const expressions = calls().flatMap(({ MetricDataQueries }) =>
      MetricDataQueries.flatMap(({ Expression }) => Expression ?? []),
    );
    expect(expressions).toEqual(["SUM(q0_a) / 2", "FILL(q1_a, 0)"]);
    expect(calls().map((call) => returned(call).length)).toEqual([2, 1]);
  });

  it("answers all other questions where CloudWatch refuses the whole call for one expression", async () => {
    const isBad = ({ MetricDataQueries }: Call) =>
      MetricDataQueries.some(({ Expression }) => Expression?.includes("/ 13") ?? false);
    answering((call) =>
      isBad(call)
        ? [
            400,
            {
              __type: "com.amazonaws.cloudwatch#ValidationError",
              message: "Error in expression 'q0': Unsupported operand",
            },
          ]
        : byName(call),
    );
    const answers = await askAll(Array.from({ length: 40 }, (_, at) => sum(`a / ${at + 1}`)));
    expect(answers.map(milliOf)).toEqual(
      Array.from({ length: 40 }, (_, at) => (at === 12 ? "RefusedByAws" : 7_000n)),
    );
    expect(answers[12]).toMatchObject({
      failure: {
        message: expect.stringContaining(
          "ValidationError: Error in expression 'q0': Unsupported operand",
        ),
      },
    });
    expect(server.calls.length).toBeLessThan(15);
  });

  it("ends its halves after a bounded number of calls where every expression is refused", async () => {
    answering(() => [400, { __type: "ValidationError" }]);
    const answers = await askAll(Array.from({ length: 50 }, (_, at) => sum(`a / ${at + 1}`)));
    expect(answers.map(milliOf)).toEqual(Array.from({ length: 50 }, () => "RefusedByAws"));
    expect(server.calls.length).toBeLessThan(110);
  });

  it("follows the pages of an answer", async () => {
    answering((call) =>
      call.NextToken === undefined
        ? [
            200,
            {
              NextToken: "more",
              MetricDataResults: [result("q0", [4], { StatusCode: "PartialData" })],
            },
          ]
        : [200, { MetricDataResults: [result("q0", []), result("q1", [5])] }],
    );
    expect((await askAll([metric("a"), metric("b")])).map(milliOf)).toEqual([4_000n, 5_000n]);
  });

  it.each<readonly [string, number, unknown, string]>([
    [
      "a part of the data",
      200,
      { MetricDataResults: [result("q0", [3], { StatusCode: "PartialData" })] },
      "PartialAnswer",
    ],
    [
      "an error for the metric",
      200,
      { MetricDataResults: [result("q0", [], { StatusCode: "InternalError" })] },
      "FailedInAws",
    ],
    [
      "no right for the metric",
      200,
      { MetricDataResults: [result("q0", [], { StatusCode: "Forbidden" })] },
      "RefusedByAws",
    ],
    [
      "two series",
      200,
      { MetricDataResults: [result("q0", [3]), result("q0", [4], { Label: "other" })] },
      "SeveralSeries",
    ],
    ["no result", 200, { MetricDataResults: [] }, "InvalidAnswer"],
    ["another result", 200, { MetricDataResults: [result("q9", [3])] }, "InvalidAnswer"],
    [
      "a value that is none",
      200,
      { MetricDataResults: [result("q0", [1], { Values: ["12"] })] },
      "NotANumber",
    ],
    [
      "a value without a time",
      200,
      { MetricDataResults: [result("q0", [1], { Timestamps: [] })] },
      "NotANumber",
    ],
    ["something else", 200, "<html>", "InvalidAnswer"],
    [
      "a throttle",
      400,
      { __type: "com.amazonaws.cloudwatch#Throttling", message: "Rate exceeded" },
      "Throttled",
    ],
    [
      "no right",
      400,
      { __type: "AccessDenied", message: "User: arn:aws:sts::1:assumed-role/x" },
      "RefusedByAws",
    ],
  ])("is missing with %s, and shows no name of a role", async (_what, status, body, reason) => {
    answering(() => [status, body]);
    const answer = await askOne(metric("Age"));
    expect(answer).toMatchObject({ kind: "failed", failure: { reason } });
    expect(JSON.stringify(answer)).not.toContain("assumed-role");
  });

  it("is empty where the time holds no value", async () => {
    answering(() => [200, { MetricDataResults: [result("q0", [])] }]);
    expect(await askOne(metric("Age"))).toEqual({ kind: "answered", items: [] });
  });

  it.each([
    [
      metric("CPU", { namespace: "Bank" }),
      'source "metrics" does not allow metrics of namespace "Bank"',
    ],
    [
      question({
        expression: "a + b",
        inputs: [
          { id: "a", namespace: "Shop", metric: "x" },
          { id: "b", namespace: "Bank", metric: "y" },
        ],
      }),
      'source "metrics" does not allow metrics of namespace "Bank"',
    ],
    [
      question({ expression: "SUM(SEARCH('{AWS/SQS,QueueName}', 'Sum', 300))" }),
      'source "metrics" allows neither SEARCH nor SELECT',
    ],
    [
      question({ expression: 'SELECT SUM(x) FROM SCHEMA("Bank")' }),
      'source "metrics" allows neither SEARCH nor SELECT',
    ],
    [
      metric("Age", { accountId: "111122223333" }),
      'source "metrics" does not allow metrics of account 111122223333',
    ],
    [
      question({
        expression: "a",
        inputs: [{ id: "a", namespace: "Shop", metric: "x", accountId: "111122223333" }],
      }),
      'source "metrics" does not allow metrics of account 111122223333',
    ],
  ])("never asks what its source does not allow: %j", async (query, message) => {
    expect(await askOne(query)).toMatchObject({
      kind: "failed",
      failure: { reason: "NotAllowed", message },
    });
    expect(server.calls).toEqual([]);
  });

  it("asks metrics of its own account, and of the accounts that its source allows", async () => {
    answering(byName);
    const answers = await askAll([
      metric("m1", { accountId: "123456789012" }),
      metric("m2", { accountId: "999988887777" }),
    ]);
    expect(answers.map(milliOf)).toEqual([1_000n, 2_000n]);
  });

  it("asks SEARCH and SELECT where its source allows them, SELECT in a call of its own", async () => {
    answering((call) => [
      200,
      { MetricDataResults: returned(call).map(({ Id }) => result(Id, [2])) },
    ]);
    const source = { ...METRICS, aws: { ...PLACE, metricNamespaces: ["Shop"], search: true } };
    const select = 'SELECT AVG(CPUUtilization) FROM "AWS/EC2"';
    expect(
      (
        await askAll(
          [
            question({ expression: "SUM(SEARCH('{Shop}', 'Sum', 60))" }),
            question({ expression: select }),
          ],
          source,
        )
      ).map(milliOf),
    ).toEqual([2_000n, 2_000n]);
    expect(calls()).toHaveLength(2);
    expect(calls()[1]?.MetricDataQueries).toMatchObject([{ Expression: select, Period: 60 }]);
  });
});

describe("metric math in a manifest", () => {
  it.each([
    ["a + other", '"other" is the id of no input'],
    ["SUM(METRICS())", "METRICS is not among the functions"],
    ["LAMBDA('f')", "LAMBDA is not among the functions"],
    ["ANOMALY_DETECTION_BAND(a)", "ANOMALY_DETECTION_BAND is not among the functions"],
    ["SUM(SEARCH('{AWS/SQS} ', 'Sum')) + q0_b", '"q0_b" is the id of no input'],
    ["SEARCH('open", "only SEARCH has one"],
    ["a".repeat(1_025), "must have at most 1024 characters"],
  ])("refuses %s", (expression, words) => {
    expect(() => sum(expression)).toThrow(words);
  });

  it.each<readonly [object, string]>([
    [{}, "metrics[0].cloudwatch.namespace is required"],
    [{ namespace: "A B", metric: "x" }, "must be a namespace of CloudWatch"],
    [{ namespace: "A", metric: "x", stat: "Most" }, "must be a statistic of CloudWatch"],
    [{ namespace: "A", metric: "x", accountId: "12" }, "twelve digits"],
    [
      { namespace: "A", metric: "x", periodSeconds: 61 },
      "must be 1, 5, 10, 20, 30 or a multiple of 60",
    ],
    [
      { namespace: "A", metric: "x", periodSeconds: 300, lookbackSeconds: 60 },
      "must be one to 300 periods",
    ],
    [{ namespace: "A", metric: "x", dimensions: { "": "y" } }, "printable ASCII"],
    [
      { namespace: "A", metric: "x", inputs: [{ id: "a", namespace: "A", metric: "x" }] },
      "may only be set with expression",
    ],
    [{ expression: "1 + 1", namespace: "A" }, "may not be set together with expression"],
    [{ expression: "a", inputs: [{ id: "a", namespace: "A" }] }, "inputs[0].metric is required"],
    [
      { expression: "a", inputs: [{ id: "A", namespace: "A", metric: "x" }] },
      "inputs[0].id must be a small letter",
    ],
  ])("refuses %j", (block, words) => {
    expect(() => question(block)).toThrow(words);
  });

  const inputs = ["a", "b"].map((id) => ({ id, namespace: "A", metric: "x" }));
  it.each([
    ["a"],
    ["-a + -(b)"],
    ["a - -1.5e3 * .5"],
    ["100 * FILL(a, 0) / b"],
    ["IF(a >= 5 && b != 2 || a < 1 AND b, a, 0)"],
    ["SUM([a, b]) ^ 2"],
    ["SLICE(SORT([a,b], AVG, DESC), 0, 1)"],
    ["FILL(a, REPEAT)"],
    ["SUM(SEARCH('{AWS/SQS,QueueName} a+(', 'Sum', 300))"],
    ["((((a))))"],
  ])("sends %j", (expression) => {
    expect(() => question({ expression, inputs })).not.toThrow();
  });

  it.each([
    ...[
      "1 + ",
      "+ a",
      "a b",
      "a + * b",
      "(a",
      "a)",
      "(a]",
      "MAX a",
      "MAX(",
      "MAX()",
      "a,b",
      "(a,b)",
    ],
    ...["[]", "a(b)", "SUM(a,)", "a = b", "a ? b", "2 a", "a -", "()", "a.b", "- "],
  ])("refuses %j before CloudWatch refuses a whole call for it", (expression) => {
    expect(() => question({ expression, inputs })).toThrow(
      "is no metric math: a value must stand on both sides of each operator, and brackets must close",
    );
  });

  it("asks a metric once in its period, and lets it be as old as the time that it looks at", () => {
    const metricsOf = (block: object) =>
      native({
        metrics: [
          { cloudwatch: { source: "m", namespace: "A", metric: "x", ...block }, target: 1 },
        ],
      }).metrics;
    expect(metricsOf({})).toMatchObject([
      { everyMs: 60_000, maxAgeMs: 360_000, source: { lookbackSeconds: 300 } },
    ]);
    expect(metricsOf({ periodSeconds: 300, offsetSeconds: 60 })).toMatchObject([
      { everyMs: 300_000, maxAgeMs: 1_260_000, source: { lookbackSeconds: 900 } },
    ]);
  });
});

describe.skipIf(!HAS_MOTO)("CloudWatch of an emulated account", () => {
  let emulator: Moto;
  beforeAll(async () => {
    nowMs = Date.now();
    emulator = await motoServer();
    startClient(emulator.url);
    const at = Math.floor(nowMs / 60_000) * 60 - 90;
    const put = (MetricName: string, Value: number, Timestamp: number) => ({
      MetricName,
      Value,
      Timestamp,
      Dimensions: [{ Name: "Queue", Value: "orders" }],
    });
    const { SignatureV4 } = await import("@smithy/signature-v4");
    const { Sha256 } = await import("../../lib/stack/aws/sha256.ts");
    const { hostname, port, host } = new URL(emulator.url);
    const body = JSON.stringify({
      Namespace: "Shop",
      MetricData: [put("Depth", 20, at), put("Depth", 40, at), put("Depth", 9, at - 120)],
    });
    const signer = new SignatureV4({
      service: "monitoring",
      region: "eu-central-1",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      sha256: Sha256,
    });
    const { headers } = await signer.sign({
      method: "POST",
      protocol: "http:",
      hostname,
      port: Number(port),
      path: "/",
      headers: {
        host,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "GraniteServiceVersion20100801.PutMetricData",
      },
      body,
    });
    const answer = await fetch(emulator.url, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
  }, 60_000);
  afterAll(async () => {
    stopClient();
    await emulator.close();
  });

  it("has the newest value of each statistic, and no value where there is none", async () => {
    const depth = (more: object) =>
      question({ namespace: "Shop", metric: "Depth", dimensions: { Queue: "orders" }, ...more });
    const answers = await askAll([
      depth({}),
      depth({ stat: "Sum" }),
      depth({ stat: "Maximum" }),
      depth({ dimensions: { Queue: "mail" } }),
    ]);
    expect(answers.slice(0, 3).map(milliOf)).toEqual([30_000n, 60_000n, 40_000n]);
    expect(answers[3]).toEqual({ kind: "answered", items: [] });
  });
});
