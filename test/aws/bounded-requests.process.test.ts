import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { boundedRequests } from "../../lib/stack/aws/bounded-requests.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { realTables } from "../../lib/stack/store/table/real-tables.ts";
import { repeat } from "../../lib/stack/store/table/repeat.ts";
import { REQUESTS_AT_ONCE } from "../../lib/stack/store/table/wait-for-all.ts";
import {
  answering,
  type BrokenServer,
  brokenServer,
  silent,
  wholeAnswer,
  within,
} from "./broken-server.ts";

const BODY = '{"Item":{"pk":{"S":"fleet"}}}';
const WHOLE = wholeAnswer(BODY);

let server: BrokenServer;

beforeEach(async () => {
  server = await brokenServer(silent);
  vi.stubEnv("AWS_ENDPOINT_URL", server.endpoint);
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const tables = () => realTables({ stateTable: "state", historyTable: "history" });
const getFleet = new GetItemCommand({
  TableName: "state",
  Key: { pk: { S: "fleet" }, sk: { S: "fleet" } },
});

describe("the client of the tables", () => {
  it("tells how far the machine's clock differs from the service's, by the Date header of the last answer", async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    server.behaviours = [answering(WHOLE.replace("OK\r\n", `OK\r\ndate: ${date}\r\n`))];
    const { client, serverClock } = tables();
    expect(serverClock?.()).toBeUndefined();
    await client.send(getFleet);
    const { leastMs = 0, mostMs = 0 } = serverClock?.() ?? {};
    expect(leastMs).toBeGreaterThan(3_598_000);
    expect(mostMs).toBeLessThan(3_610_000);
  });

  it("has as many requests under way as the reads of a large fleet send together", async () => {
    const held: ServerResponse[] = [];
    const crowd = createServer((_request, response) => {
      held.push(response);
      if (held.length < REQUESTS_AT_ONCE) return;
      for (const one of held)
        one.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end(BODY);
    });
    vi.stubEnv("AWS_ENDPOINT_URL", await listenOnLoopback(crowd));
    const { client } = tables();
    try {
      // With fewer connections none is answered: each call ends at its limit.
      const answers = await Promise.all(
        Array.from({ length: REQUESTS_AT_ONCE }, () => client.send(getFleet)),
      );
      expect(answers.every(({ Item }) => Item?.["pk"]?.S === "fleet")).toBe(true);
    } finally {
      await closeServer(crowd);
    }
  });

  it("ends its repeats when the time of the sync is over, against a server that never answers", async () => {
    const own = { ...tables(), untilMs: Date.now() + 3_000 };
    const call = repeat(own, "claim partition", () => own.client.send(getFleet));
    await expect(within(15_000, call)).rejects.toMatchObject({ code: "store.unclear" });
  });
});

describe("boundedRequests()", () => {
  const limits = {
    maxAttempts: 1,
    requestHandler: boundedRequests({ connectMs: 200, wholeMs: 300 }),
  };

  it("names the host and the limit, and fails as a timeout", async () => {
    const sts = new STSClient(limits);
    const call = sts.send(
      new AssumeRoleCommand({ RoleArn: "arn:aws:iam::1:role/x", RoleSessionName: randomUUID() }),
    );
    await expect(within(5_000, call)).rejects.toMatchObject({
      name: "TimeoutError",
      message: "no answer from 127.0.0.1 within 300 ms",
    });
  });

  it("lets the client of the queue send a batch again after a timeout", async () => {
    const answer =
      '{"Successful":[{"Id":"0","MessageId":"m","MD5OfMessageBody":"900150983cd24fb0d6963f7d28e17f72"}],"Failed":[]}';
    server.behaviours = [silent, answering(wholeAnswer(answer))];
    const sqs = new SQSClient({ ...limits, maxAttempts: 2 });
    const sent = await within(
      10_000,
      sqs.send(
        new SendMessageBatchCommand({
          QueueUrl: `${server.endpoint}/1/q`,
          Entries: [{ Id: "0", MessageBody: "abc" }],
        }),
      ),
    );
    expect(sent.Successful).toHaveLength(1);
    expect(server.connections).toHaveLength(2);
  });
});

describe("every client of an AWS service", () => {
  it("is made with a limit, or talks to this machine alone", async () => {
    const { parsedFiles, ROOT } = await import("../architecture/source.ts");
    const { readFileSync } = await import("node:fs");
    const made = parsedFiles(["lib", "functions"]).flatMap(({ path }) =>
      [
        ...readFileSync(`${ROOT}/${path}`, "utf8").matchAll(
          /new (?:DynamoDB|SQS|STS|SecretsManager|EKS|CloudFormation)Client\(([\s\S]{0,200}?)\);/g,
        ),
      ].map(([text]) => ({ path, text })),
    );
    expect(made.length).toBeGreaterThan(4);
    const isBounded = ({
      path,
      text,
    }: {
      readonly path: string;
      readonly text: string;
    }): boolean => {
      const options = /Client\((?:\{ \.\.\.)?(\w+)[,)]/.exec(text)?.[1];
      if (options === undefined) return /boundedRequests|AWS_CALLS|SEND|LOOPBACK_REGION/.test(text);
      return (
        new RegExp(`const ${options} = [^;]*(boundedRequests|LOOPBACK_REGION)`).test(
          readFileSync(`${ROOT}/${path}`, "utf8"),
        ) || /AWS_CALLS|SEND/.test(options)
      );
    };
    // A client of which only the configuration is read sends nothing.
    const sends = ({ text }: { readonly text: string }): boolean =>
      !/Client\(\)\.config/.test(text);
    expect(made.filter((client) => sends(client) && !isBounded(client))).toEqual([]);
  });
});
