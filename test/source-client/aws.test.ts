import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { MetricSourceRecord, SignedService } from "../../lib/rules/model/metric-source.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { sourceClient, type SourceClient } from "../../lib/stack/source-client/source-client.ts";
import { questionTo } from "../../lib/rules/sources/sources.ts";
import { SQS, type SqsQuery } from "../../lib/rules/sources/sqs.ts";
import { type AwsServer, awsServer } from "./aws-server.ts";
import { HAS_MOTO, type Moto, motoServer } from "./moto.ts";
import { ask, keyOf, sourceRecord } from "./scene.ts";

const AWS = {
  region: "eu-central-1",
  roleArn: "arn:aws:iam::123456789012:role/tidemark-prod-source-orders",
  externalId: "orders-of-shop",
};
const QUEUES = sourceRecord({
  name: "queues",
  kind: "sqs",
  timeoutSeconds: 3,
  aws: { ...AWS, queues: ["orders*", "999988887777/mail"] },
});
const WORKSPACE = sourceRecord({
  kind: "amp",
  timeoutSeconds: 3,
  aws: { ...AWS, workspace: "ws-1a2b" },
});
const LEFT = { cluster: "eu-1", leftMs: () => 5_000 };

const question = (
  queue: string,
  more: {
    readonly accountId?: string;
    readonly count?: readonly ("Visible" | "InFlight" | "Delayed")[];
  } = {},
): SqsQuery => {
  const query = SQS.queryOf(
    {
      type: "Sqs",
      source: "queues",
      queue,
      accountId: "",
      count: ["Visible", "InFlight"],
      ...more,
    },
    { namespace: "shop", podSelector: undefined },
  );
  if (query === undefined) throw new Error("a queue is always asked");
  return query;
};

let client: SourceClient;
const startClient = (url: string): void => {
  vi.stubEnv("AWS_ENDPOINT_URL", url);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFUNCTION");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-function");
  client = sourceClient({ clock: Date.now, ownAddresses: false });
};
const stopClient = (): void => {
  client.close();
  vi.unstubAllEnvs();
};
const count = async (query: SqsQuery) =>
  (await client.ask(QUEUES, [query], LEFT)).get(queryKey(query));

describe("a source of AWS", () => {
  let server: AwsServer;
  beforeEach(async () => {
    server = await awsServer();
    startClient(server.url);
  });
  afterEach(async () => {
    stopClient();
    await server.close();
  });

  const numbers = {
    ApproximateNumberOfMessages: "12",
    ApproximateNumberOfMessagesNotVisible: "3",
    ApproximateNumberOfMessagesDelayed: "40",
  };

  it("counts the messages of a queue by name, with a request that the session of its role has signed", async () => {
    server.answer = () => [200, { Attributes: numbers }];
    expect(await count(question("orders"))).toEqual({
      kind: "answered",
      items: [{ milli: 15_000n, timestampMs: 0 }],
    });
    expect(server.calls).toMatchObject([
      {
        service: "sqs",
        accessKeyId: "ASIASESSION",
        target: "AmazonSQS.GetQueueAttributes",
        signatureIsRight: true,
      },
    ]);
    expect(JSON.parse(server.calls[0]?.body ?? "")).toEqual({
      QueueUrl: "https://sqs.eu-central-1.amazonaws.com/123456789012/orders",
      AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    });
  });

  it("assumes its role once for many questions, with its ExternalId and a policy for its own queues only", async () => {
    server.answer = () => [200, { Attributes: numbers }];
    await client.ask(QUEUES, [question("orders"), question("orders-eu")], LEFT);
    await count(question("orders"));
    expect(server.assumed).toHaveLength(1);
    const [form] = server.assumed;
    expect(form?.get("RoleArn")).toBe(AWS.roleArn);
    expect(form?.get("ExternalId")).toBe("orders-of-shop");
    expect(form?.get("RoleSessionName")).toBe("tidemark-eu-1");
    expect(JSON.parse(form?.get("Policy") ?? "").Statement).toEqual([
      {
        Effect: "Allow",
        Action: "sqs:GetQueueAttributes",
        Resource: [
          "arn:aws:sqs:eu-central-1:123456789012:orders*",
          "arn:aws:sqs:eu-central-1:999988887777:mail",
        ],
      },
    ]);
  });

  it("asks the workspace of Amazon Managed Prometheus with a signed GET, and reads it as any Prometheus", async () => {
    server.answer = () => [
      200,
      {
        status: "success",
        data: { resultType: "vector", result: [{ metric: {}, value: [1, "7"] }] },
      },
    ];
    const query = "sum(rate(x{app=~'web|api*'}[2m])) + 1 % 2";
    expect((await client.ask(WORKSPACE, [ask(query)], LEFT)).get(keyOf(query))).toMatchObject({
      kind: "answered",
      items: [{ milli: 7_000n }],
    });
    expect(server.calls).toMatchObject([{ service: "aps", method: "GET", signatureIsRight: true }]);
    const url = new URL(server.calls[0]?.url ?? "", server.url);
    expect(url.pathname).toBe("/workspaces/ws-1a2b/api/v1/query");
    expect(url.searchParams.get("query")).toBe(query);
    expect(url.searchParams.get("max_samples_processed_error_threshold")).toBe("1000000");
    expect(JSON.parse(server.assumed[0]?.get("Policy") ?? "").Statement).toEqual([
      {
        Effect: "Allow",
        Action: "aps:QueryMetrics",
        Resource: "arn:aws:aps:eu-central-1:123456789012:workspace/ws-1a2b",
      },
    ]);
  });

  describe("that is an address of one's own, with auth of kind sigv4", () => {
    const SIGNED = (
      service: SignedService,
      more: Partial<MetricSourceRecord> = {},
    ): MetricSourceRecord =>
      sourceRecord({
        url: `${server.url}/prod`,
        private: true,
        timeoutSeconds: 3,
        auth: { kind: "sigv4", service },
        aws: AWS,
        ...more,
      });
    const query = "sum(rate(x{app=~'web|api*'}[2m])) + 1 % 2";
    const askSigned = async (source: MetricSourceRecord) => {
      const own = sourceClient({ clock: Date.now, ownAddresses: true });
      const answers = await own.ask(source, [ask(query)], LEFT);
      own.close();
      return answers.get(keyOf(query));
    };
    beforeEach(() => {
      server.answer = () => [
        200,
        {
          status: "success",
          data: { resultType: "vector", result: [{ metric: {}, value: [1, "7"] }] },
        },
      ];
    });

    it.each<readonly [SignedService, readonly string[], limit: string | null]>([
      ["execute-api", ["execute-api:Invoke"], null],
      ["lambda", ["lambda:InvokeFunctionUrl", "lambda:InvokeFunction"], null],
      ["vpc-lattice-svcs", ["vpc-lattice-svcs:Invoke"], null],
      ["aps", ["aps:QueryMetrics"], "1000000"],
    ])(
      "gets a GET that the session of its role has signed for %s, and the session may do nothing else",
      async (service, Action, limit) => {
        const source = SIGNED(service, {
          headers: { "x-scope-orgid": "shop" },
          parameters: { tenant: "a b*c" },
        });
        expect(await askSigned(source)).toMatchObject({
          kind: "answered",
          items: [{ milli: 7_000n }],
        });
        expect(server.calls).toMatchObject([
          { service, accessKeyId: "ASIASESSION", method: "GET", signatureIsRight: true },
        ]);
        const url = new URL(server.calls[0]?.url ?? "", server.url);
        expect(url.pathname).toBe("/prod/api/v1/query");
        expect(url.searchParams.get("query")).toBe(query);
        expect(url.searchParams.get("tenant")).toBe("a b*c");
        expect(url.searchParams.get("max_samples_processed_error_threshold")).toBe(limit);
        const [form] = server.assumed;
        expect(form?.get("ExternalId")).toBe(AWS.externalId);
        expect(JSON.parse(form?.get("Policy") ?? "").Statement).toEqual([
          { Effect: "Allow", Action, Resource: "*" },
        ]);
      },
    );

    it("is asked for a number of a JSON document, too", async () => {
      server.answer = () => [200, { depth: 12 }];
      const [jobs] = [
        questionTo("http", { source: "main", path: "/queues/orders", pointer: "/depth" }),
      ];
      if (jobs === undefined) throw new Error("a document is always asked for");
      const own = sourceClient({ clock: Date.now, ownAddresses: true });
      const answers = await own.ask(SIGNED("execute-api", { kind: "http" }), [jobs], LEFT);
      own.close();
      expect(answers.get(queryKey(jobs))).toMatchObject({
        kind: "answered",
        items: [{ milli: 12_000n }],
      });
      expect(server.calls).toMatchObject([{ url: "/prod/queues/orders", signatureIsRight: true }]);
    });

    it("is missing where its role cannot be assumed, and nothing is sent to it", async () => {
      vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
      expect(await askSigned(SIGNED("execute-api"))).toMatchObject({
        kind: "failed",
        failure: { reason: "NoCredential" },
      });
      expect(server.calls).toEqual([]);
    });
  });

  it("sends the limit of samples of its source with each question", async () => {
    server.answer = () => [
      400,
      { status: "error", errorType: "bad_data", error: "query samples processed limit exceeded" },
    ];
    // A record of an earlier version may have such a parameter.
    const parameters = { max_samples_processed_error_threshold: "9000000" };
    const workspace = {
      ...WORKSPACE,
      parameters,
      aws: { ...AWS, workspace: "ws-1a2b", maxSamples: 500 },
    };
    expect((await client.ask(workspace, [ask("dear")], LEFT)).get(keyOf("dear"))).toMatchObject({
      failure: { reason: "QueryRefused", message: expect.stringContaining("limit exceeded") },
    });
    expect(
      new URL(server.calls[0]?.url ?? "", server.url).searchParams.get(
        "max_samples_processed_error_threshold",
      ),
    ).toBe("500");
  });

  it.each([
    [question("mail"), 'source "queues" does not allow queue "mail"'],
    [
      question("orders", { accountId: "999988887777" }),
      'source "queues" does not allow queue "orders" of account 999988887777',
    ],
  ])("never asks for a queue that it does not allow: %j", async (query, message) => {
    expect(await count(query)).toMatchObject({
      kind: "failed",
      failure: { reason: "NotAllowed", message },
    });
    expect(server.calls).toEqual([]);
  });

  it.each<readonly [string, number, unknown, string]>([
    [
      "no such queue",
      400,
      { __type: "com.amazonaws.sqs#QueueDoesNotExist", message: "secret words" },
      "the queue does not exist",
    ],
    [
      "no right",
      403,
      {
        __type: "com.amazon.coral.service#AccessDeniedException",
        message: "User: arn:aws:sts::1:assumed-role/x",
      },
      "may not ask for the attributes",
    ],
    [
      "an unknown error",
      400,
      { __type: "com.amazonaws.sqs#InvalidSecurity", message: "secret words" },
      "AWS answered InvalidSecurity",
    ],
    [
      "a number that is missing",
      200,
      { Attributes: { ApproximateNumberOfMessages: "12" } },
      "lacks a number",
    ],
    [
      "a number that is none",
      200,
      { Attributes: { ...numbers, ApproximateNumberOfMessages: "-1" } },
      "lacks a number",
    ],
    ["no attributes", 200, {}, "lacks a number"],
    ["something else", 200, [], "lacks a number"],
    ["an error that is none", 500, { message: "secret words" }, "not one of the service"],
  ])("is missing with %s, and shows no text of the service", async (_what, status, body, words) => {
    server.answer = () => [status, body];
    const answer = await count(question("orders"));
    expect(answer).toMatchObject({
      kind: "failed",
      failure: { message: expect.stringContaining(words) },
    });
    expect(JSON.stringify(answer)).not.toMatch(/secret words|assumed-role/);
  });

  it("repeats a throttled question once", async () => {
    let asked = 0;
    server.answer = () =>
      ++asked === 1
        ? [400, { __type: "com.amazonaws.sqs#RequestThrottled" }]
        : [200, { Attributes: numbers }];
    expect(await count(question("orders", { count: ["Delayed"] }))).toMatchObject({
      kind: "answered",
      items: [{ milli: 40_000n }],
    });
    server.answer = () => [400, { __type: "com.amazonaws.sqs#RequestThrottled" }];
    server.calls.length = 0;
    expect(await count(question("orders"))).toMatchObject({
      kind: "failed",
      failure: { code: 429, reason: "Throttled" },
    });
    expect(server.calls).toHaveLength(2);
  });

  it("is missing where its role cannot be assumed, without a word of the role", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
    const answer = await count(question("orders"));
    expect(answer).toMatchObject({
      kind: "failed",
      failure: {
        reason: "NoCredential",
        message: expect.stringContaining('the role of source "queues" cannot be assumed'),
      },
    });
    expect(JSON.stringify(answer)).not.toContain("arn:");
  });
});

describe.skipIf(!HAS_MOTO)("a queue of an emulated account", () => {
  let emulator: Moto;
  beforeAll(async () => {
    emulator = await motoServer();
    const { url } = emulator;
    startClient(url);
    const { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } =
      await import("@aws-sdk/client-sqs");
    const sqs = new SQSClient({
      endpoint: url,
      region: "eu-central-1",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
    });
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "orders" }));
    for (let at = 0; at < 5; at++)
      await sqs.send(
        new SendMessageCommand({
          QueueUrl,
          MessageBody: String(at),
          DelaySeconds: at === 0 ? 900 : 0,
        }),
      );
    await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1 }));
    sqs.destroy();
  }, 60_000);
  afterAll(async () => {
    stopClient();
    await emulator.close();
  });

  it.each([
    [["Visible"] as const, 3_000n],
    [["Visible", "InFlight"] as const, 4_000n],
    [["Visible", "InFlight", "Delayed"] as const, 5_000n],
  ])("has the messages of %j", async (counted, milli) => {
    expect(await count(question("orders", { count: counted }))).toMatchObject({
      kind: "answered",
      items: [{ milli }],
    });
  });

  it("that does not exist is missing, and never 0", async () => {
    expect(await count(question("orders-none"))).toMatchObject({
      kind: "failed",
      failure: { message: expect.stringContaining("does not exist") },
    });
  });
});
