import { createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkBySync, checkSourceBySync } from "../../lib/lambda/check-by-sync.ts";
import { checkIn } from "../../lib/lambda/check-event.ts";
import { checkedSourceIn } from "../../lib/lambda/source-event.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { sourceRecord } from "../source-client/scene.ts";

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

let server: Server;
let answer: Answer;
let asked:
  | { readonly request: string; readonly authorization: string; readonly body: string }
  | undefined;

const answerTo = async (request: IncomingMessage): Promise<Answer> => {
  asked = {
    request: `${request.method} ${request.url}`,
    authorization: String(request.headers.authorization),
    body: await text(request),
  };
  return answer;
};

beforeEach(async () => {
  server = createServer((request, response) => {
    void answerTo(request).then(({ status, body, headers = {} }) =>
      response.writeHead(status, headers).end(body),
    );
  });
  vi.stubEnv("AWS_ENDPOINT_URL_LAMBDA", await listenOnLoopback(server));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await closeServer(server);
});

const CONNECTION = { kind: "eks", clusterId: "prod", region: "eu-west-1" } as const;
const TARGET = {
  name: clusterName("eu-1"),
  connection: CONNECTION,
  namespaces: ["shop"],
  kinds: [{ group: "argoproj.io", plural: "rollouts" }],
  targets: [{ apiVersion: "example.org/v1", kind: "Fleet" }],
};
const SYNC = {
  functionName: "tidemark-prod-sync",
  credentials: async () => ({ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" }),
  region: async () => "eu-west-1",
  clock: Date.now,
};
const look = () => checkBySync(SYNC)(TARGET);
const REPORT = {
  name: "eu-1",
  usable: false,
  kubeSystemUid: "7f0b0f5e-6a53-4c57-8f41-4f6f7c7b1d20",
  serverVersion: "v1.37.1",
  checks: [{ check: "tls", result: "failed", message: "another CA", fix: "give the CA" }],
};

describe("the look of connect through sync", () => {
  it("is one signed call of the function, and its answer is the report", async () => {
    answer = { status: 200, body: JSON.stringify(REPORT) };
    expect(await look()).toEqual(REPORT);
    expect(asked?.request).toBe("POST /2015-03-31/functions/tidemark-prod-sync/invocations");
    expect(asked?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/lambda\/aws4_request/,
    );
    expect(checkIn(JSON.parse(asked?.body ?? ""))).toEqual(TARGET);
  });

  it("asks a source by one call of the function, too", async () => {
    answer = { status: 200, body: JSON.stringify(REPORT) };
    const aws = {
      region: "eu-west-1",
      roleArn: "arn:aws:iam::123456789012:role/tidemark-source-a",
      externalId: "e1",
      queues: ["orders"],
    };
    const asking = {
      source: sourceRecord({ kind: "sqs", aws }),
      cluster: { name: clusterName("eu-1") },
      reached: { connection: CONNECTION },
      question: { queue: "orders" },
    };
    expect(await checkSourceBySync(SYNC)(asking)).toEqual(REPORT);
    const sent: unknown = JSON.parse(asked?.body ?? "");
    expect(checkedSourceIn(sent)).toEqual(asking);
    expect(() =>
      checkedSourceIn({
        checkSource: {
          ...asking,
          reached: { connection: { kind: "kubeconfig", path: "/etc/passwd" } },
        },
      }),
    ).toThrow();
    answer = { status: 429, body: "{}" };
    await expect(checkSourceBySync(SYNC)(asking)).rejects.toMatchObject({
      message: expect.stringMatching(/^Cannot ask source "main": .* busy with syncs/),
    });
  });

  it.each<readonly [string, Answer, string]>([
    [
      "is throttled",
      { status: 429, body: '{"Message":"Rate Exceeded."}' },
      "is busy with syncs (429)",
    ],
    [
      "is not allowed",
      { status: 403, body: '{"Message":"not authorized\\n"}' },
      "may not be called: not authorized (lambda:InvokeFunction is needed)",
    ],
    [
      "fails inside",
      {
        status: 200,
        body: '{"errorMessage":"the token is abc"}',
        headers: { "x-amz-function-error": "Unhandled" },
      },
      "failed or ran out of time; its log says why",
    ],
    [
      "answers without a report",
      { status: 200, body: '{"batchItemFailures":[]}' },
      "was answered 200: ",
    ],
    ["answers no JSON", { status: 502, body: "<html>" }, "was answered 502: "],
  ])(
    "says what the platform answered where it %s, so that nothing is stored",
    async (_name, given, words) => {
      answer = given;
      await expect(look()).rejects.toMatchObject({
        code: "service.busy",
        message: `Cannot look at cluster "eu-1": the function "tidemark-prod-sync" ${words}; try again`,
      });
    },
  );
});

describe("the event of a look", () => {
  it.each([
    ["a kubeconfig file", { name: "x", connection: { kind: "kubeconfig", path: "/etc/passwd" } }],
    ["an unknown field", { name: "x", connection: CONNECTION, path: "/etc/passwd" }],
    ["no connection", { name: "x" }],
    ["nothing", undefined],
  ])("is refused with %s", (_name, check) => {
    expect(() => checkIn({ check })).toThrow();
  });
});
