import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deadLetters } from "../../lib/lambda/dead-letters.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";

const NAMES = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
/** Requests go to the URL of the queue. */
let queues = { syncs: "", plans: "" };

/** A server that answers GetQueueAttributes as SQS does. */
let counts: Readonly<Record<string, readonly [visible: number, taken: number]>> | undefined;
const asked: unknown[] = [];
const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = (await json(request)) as { readonly QueueUrl: string };
  asked.push([request.headers["x-amz-target"], body]);
  response.setHeader("content-type", "application/x-amz-json-1.0");
  const own = counts?.[body.QueueUrl];
  if (own)
    response.end(
      JSON.stringify({
        Attributes: Object.fromEntries(NAMES.map((name, at) => [name, String(own[at])])),
      }),
    );
  else
    response
      .writeHead(403)
      .end(JSON.stringify({ __type: "com.amazonaws.sqs#AccessDenied", message: "not authorized" }));
};
const server = createServer((request, response) => void answer(request, response));

beforeEach(async () => {
  const url = await listenOnLoopback(server);
  queues = { syncs: `${url}/123456789012/sync-dead`, plans: `${url}/123456789012/tick-dead` };
  for (const [name, value] of Object.entries({
    AWS_REGION: "eu-west-3",
    AWS_ACCESS_KEY_ID: "A",
    AWS_SECRET_ACCESS_KEY: "s",
  }))
    vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await closeServer(server);
});

describe("deadLetters()", () => {
  it("counts what waits and what is taken, of both queues", async () => {
    counts = { [queues.syncs]: [2, 1], [queues.plans]: [0, 0] };
    const lines: LogLine[] = [];
    expect(await deadLetters(queues, { line: (line) => lines.push(line) })()).toEqual({
      syncs: 3,
      plans: 0,
    });
    expect(lines).toEqual([]);
    expect(asked).toEqual(
      expect.arrayContaining(
        Object.values(queues).map((QueueUrl) => [
          "AmazonSQS.GetQueueAttributes",
          { QueueUrl, AttributeNames: NAMES },
        ]),
      ),
    );
  });

  it("is not known where the role may not ask, and the log says why", async () => {
    counts = undefined;
    const lines: LogLine[] = [];
    expect(await deadLetters(queues, { line: (line) => lines.push(line) })()).toBeUndefined();
    expect(lines).toMatchObject([
      {
        level: "warn",
        message: expect.stringContaining("they are not known"),
        fields: { why: "not authorized" },
      },
    ]);
  });
});
