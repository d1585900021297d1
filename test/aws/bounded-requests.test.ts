import { randomUUID } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { boundedRequests } from "../../lib/aws/bounded-requests.ts";
import { realTables } from "../../lib/store/table/real-tables.ts";
import { repeat } from "../../lib/store/table/repeat.ts";

/** What a server does with one connection. Nothing is ever closed by it. */
type Behaviour = (socket: Socket) => void;

const BODY = '{"Item":{"pk":{"S":"fleet"}}}';
const HEAD = `HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: ${BODY.length}\r\n\r\n`;

const silent: Behaviour = () => undefined;
const headOnly: Behaviour = (socket) => void socket.on("data", () => socket.write(HEAD));
const halfBody: Behaviour = (socket) => void socket.on("data", () => socket.write(HEAD + BODY.slice(0, 10)));
const dripping: Behaviour = (socket) => {
  socket.once("data", () => {
    socket.write(HEAD.replace(/length: \d+/, "length: 100000"));
    const timer = setInterval(() => socket.write(" "), 100);
    socket.on("close", () => clearInterval(timer));
  });
};
const answering: Behaviour = (socket) => void socket.on("data", () => socket.write(HEAD + BODY));

let server: Server;
let endpoint: string;
let connections: Socket[];
/** The behaviour of each connection in turn; the last one stays. */
let behaviours: Behaviour[];

beforeEach(async () => {
  connections = [];
  behaviours = [silent];
  server = createServer((socket) => {
    // A client that gives up resets the connection.
    socket.on("error", () => undefined);
    behaviours[Math.min(connections.length, behaviours.length - 1)]?.(socket);
    connections.push(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  endpoint = typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
  vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const socket of connections) socket.destroy();
  await new Promise((closed) => server.close(closed));
});

const tables = () => realTables({ stateTable: "state", historyTable: "history" });
const getFleet = new GetItemCommand({ TableName: "state", Key: { pk: { S: "fleet" }, sk: { S: "fleet" } } });

/** Fails the test when a call outlives its limit by far: a call without a limit never comes back at all. */
const within = async <Value>(ms: number, call: Promise<Value>): Promise<Value> => {
  const late = new Promise<never>((_, reject) => void setTimeout(() => reject(new Error(`still waiting after ${ms} ms`)), ms).unref());
  return Promise.race([call, late]);
};

describe("the client of the tables", () => {
  it("tells how far the machine's clock differs from the service's, by the Date header of the last answer", async () => {
    const dated =
      (date: Date): Behaviour =>
      (socket) =>
        void socket.on("data", () => socket.write(HEAD.replace("OK\r\n", `OK\r\ndate: ${date.toUTCString()}\r\n`) + BODY));
    behaviours = [dated(new Date(Date.now() - 3_600_000))];
    const { client, serverClock } = tables();
    expect(serverClock?.()).toBeUndefined();
    await client.send(getFleet);
    const { leastMs = 0, mostMs = 0 } = serverClock?.() ?? {};
    expect(leastMs).toBeGreaterThan(3_598_000);
    expect(mostMs).toBeLessThan(3_610_000);
  });

  it.each([
    ["accepts and never answers", silent],
    ["sends the head of an answer and no body", headOnly],
    ["stops in the middle of a body", halfBody],
    ["sends a body one byte at a time", dripping],
  ])("gives up a call after 2 s when the server %s", async (_what, behaviour) => {
    behaviours = [behaviour];
    const error: unknown = await within(10_000, tables().client.send(getFleet)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain("still waiting");
  });

  it("repeats a call on a new connection when the old one went dead while the environment was frozen", async () => {
    const live = answering;
    const deadAfterOne: Behaviour = (socket) => void socket.once("data", () => socket.write(HEAD + BODY));
    behaviours = [deadAfterOne, live];
    const own = tables();
    const read = () => repeat(own, "read the fleet", () => own.client.send(getFleet));
    expect((await read()).Item).toEqual({ pk: { S: "fleet" } });
    expect((await within(10_000, read())).Item).toEqual({ pk: { S: "fleet" } });
    expect(connections).toHaveLength(2);
    expect(connections[0]?.destroyed || connections[0]?.readableEnded).toBe(true);
  });

  it("ends its repeats when the time of the sync is over, against a server that never answers", async () => {
    const own = { ...tables(), untilMs: Date.now() + 3_000 };
    const call = repeat(own, "claim partition", () => own.client.send(getFleet));
    await expect(within(15_000, call)).rejects.toMatchObject({ code: "store.unclear" });
  });
});

describe("boundedRequests()", () => {
  const limits = { maxAttempts: 1, requestHandler: boundedRequests({ connectMs: 200, wholeMs: 300 }) };

  it("names the host and the limit, and fails as a timeout", async () => {
    const sts = new STSClient(limits);
    const call = sts.send(new AssumeRoleCommand({ RoleArn: "arn:aws:iam::1:role/x", RoleSessionName: randomUUID() }));
    await expect(within(5_000, call)).rejects.toMatchObject({ name: "TimeoutError", message: "no answer from 127.0.0.1 within 300 ms" });
  });

  it("lets the client of the queue send a batch again after a timeout", async () => {
    const answer = '{"Successful":[{"Id":"0","MessageId":"m","MD5OfMessageBody":"900150983cd24fb0d6963f7d28e17f72"}],"Failed":[]}';
    behaviours = [
      silent,
      (socket) =>
        void socket.on("data", () =>
          socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`),
        ),
    ];
    const sqs = new SQSClient({ ...limits, maxAttempts: 2 });
    const sent = await within(
      10_000,
      sqs.send(new SendMessageBatchCommand({ QueueUrl: `${endpoint}/1/q`, Entries: [{ Id: "0", MessageBody: "abc" }] })),
    );
    expect(sent.Successful).toHaveLength(1);
    expect(connections).toHaveLength(2);
  });
});

describe("every client of an AWS service", () => {
  it("is made with a limit, or talks to this machine alone", async () => {
    const { parsedFiles, ROOT } = await import("../architecture/source.ts");
    const { readFileSync } = await import("node:fs");
    const made = parsedFiles(["lib", "functions"]).flatMap(({ path }) =>
      [...readFileSync(`${ROOT}/${path}`, "utf8").matchAll(/new (?:DynamoDB|SQS|STS|SecretsManager|EKS)Client\(([\s\S]{0,200}?)\);/g)].map(
        ([text]) => ({ path, text }),
      ),
    );
    expect(made.length).toBeGreaterThan(4);
    const isBounded = ({ path, text }: { readonly path: string; readonly text: string }): boolean => {
      const [, options] = /Client\((\w+)\)/.exec(text) ?? [];
      if (options === undefined) return /boundedRequests|AWS_CALLS|SEND|LOOPBACK_REGION/.test(text);
      return (
        new RegExp(`const ${options} = .*(boundedRequests|LOOPBACK_REGION)`).test(readFileSync(`${ROOT}/${path}`, "utf8")) ||
        /AWS_CALLS|SEND/.test(options)
      );
    };
    // A client of which only the configuration is read sends nothing.
    const sends = ({ text }: { readonly text: string }): boolean => !/Client\(\)\.config/.test(text);
    expect(made.filter((client) => sends(client) && !isBounded(client))).toEqual([]);
  });
});
