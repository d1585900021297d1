import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { md5OfBody } from "../../lib/embedded/queue/message.ts";
import { ROOT } from "../architecture/source.ts";

/**
 * The function of `examples/events/people.yaml` that makes one mail of what waits, as Lambda runs
 * it: the text of the template as index.js, with the real client of SQS. A server here is the queue
 * and the topic.
 */
const TOPIC = "arn:aws:sns:eu-central-1:123456789012:mail";
/** What SNS takes: a subject of printable ASCII, and 256 KiB. */
const MAIL = z.strictObject({
  TopicArn: z.literal(TOPIC),
  Subject: z.string().regex(/^[ -~]{1,99}$/),
  Message: z.string().refine((body) => body.length > 0 && Buffer.byteLength(body) <= 262_144),
});
/** Lambda has this client; this repository does not. It sends what it is given to the server. */
const SNS = `
exports.PublishCommand = class { constructor(input) { this.input = input; } };
exports.SNSClient = class {
  async send({ input }) {
    const answer = await fetch(process.env.TOPIC_SERVER, { method: "POST", body: JSON.stringify(input) });
    if (!answer.ok) throw new Error("SNS answered " + answer.status);
  }
};`;

let server: Server;
let dir: string;
let queue: { readonly id: string; readonly body: string; hidden: boolean }[];
let mails: z.infer<typeof MAIL>[];
let topicIsDown: boolean;
let digest: () => Promise<unknown>;

const answered = (target: string, asked: Readonly<Record<string, unknown>>): object => {
  if (target === "AmazonSQS.ReceiveMessage") {
    const some = queue.filter(({ hidden }) => !hidden).slice(0, 10);
    for (const one of some) one.hidden = true;
    return {
      Messages: some.map(({ id, body }) => ({
        ...{ MessageId: id, ReceiptHandle: id, Body: body, MD5OfBody: md5OfBody(body) },
      })),
    };
  }
  if (target === "AmazonSQS.DeleteMessageBatch") {
    const entries = asked["Entries"] as readonly { readonly ReceiptHandle: string }[];
    expect(entries.length).toBeLessThanOrEqual(10);
    const gone = new Set(entries.map(({ ReceiptHandle }) => ReceiptHandle));
    queue = queue.filter(({ id }) => !gone.has(id));
    return { Successful: [] };
  }
  throw new RangeError(`the queue has no ${target}`);
};

beforeEach(async () => {
  [queue, mails, topicIsDown] = [[], [], false];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const target = request.headers["x-amz-target"];
      if (typeof target === "string") {
        response.setHeader("content-type", "application/x-amz-json-1.0");
        response.end(JSON.stringify(answered(target, JSON.parse(body))));
        return;
      }
      if (!topicIsDown) mails.push(MAIL.parse(JSON.parse(body)));
      response.writeHead(topicIsDown ? 500 : 200).end();
    });
  });
  const url = await listenOnLoopback(server);
  dir = mkdtempSync(join(tmpdir(), "tidemark-mail-"));
  const clients = join(dir, "node_modules/@aws-sdk");
  mkdirSync(join(clients, "client-sns"), { recursive: true });
  writeFileSync(join(clients, "client-sns/index.js"), SNS);
  symlinkSync(join(ROOT, "node_modules/@aws-sdk/client-sqs"), join(clients, "client-sqs"));
  const { Resources } = parse(readFileSync(join(ROOT, "examples/events/people.yaml"), "utf8")) as {
    readonly Resources: {
      readonly MailDigest: { readonly Properties: { readonly Code: { readonly ZipFile: string } } };
    };
  };
  const code = Resources.MailDigest.Properties.Code.ZipFile;
  // The most that CloudFormation takes in a template.
  expect(code.length).toBeLessThanOrEqual(4_096);
  writeFileSync(join(dir, "index.js"), code);
  for (const [name, value] of Object.entries({
    ...{ AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
    ...{ AWS_ENDPOINT_URL_SQS: url, QUEUE_URL: `${url}/123456789012/mail` },
    ...{ TOPIC_ARN: TOPIC, TOPIC_SERVER: url },
  }))
    vi.stubEnv(name, value);
  const loaded = createRequire(join(dir, "index.js"))("./index.js") as {
    readonly handler: () => Promise<unknown>;
  };
  digest = loaded.handler;
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await closeServer(server);
  rmSync(dir, { recursive: true, force: true });
});

const waits = (...bodies: readonly string[]): void => {
  for (const body of bodies) queue.push({ id: String(queue.length), body, hidden: false });
};
const event = (id: string, minute: number, what: string): string =>
  JSON.stringify({ id, time: `2026-03-01T12:0${minute}:00.412Z`, text: what });

it("is one mail of all events that wait, each once and the oldest first", async () => {
  waits(event("b", 2, "shop/web: second"), event("a", 1, "shop/web: first"));
  waits(event("b", 2, "shop/web: second"));
  expect(await digest()).toEqual({ events: 2 });
  expect(mails).toEqual([
    {
      ...{ TopicArn: TOPIC, Subject: "Tidemark: 2 events" },
      Message:
        "2026-03-01 12:01:00 UTC  shop/web: first\n\n2026-03-01 12:02:00 UTC  shop/web: second",
    },
  ]);
  expect(queue).toEqual([]);
});

it("is no mail where nothing waits", async () => {
  expect(await digest()).toEqual({ events: 0 });
  expect(mails).toEqual([]);
});

it("keeps the events where the topic takes none, for the next mail", async () => {
  waits(event("a", 1, "first"));
  topicIsDown = true;
  await expect(digest()).rejects.toThrow("SNS answered 500");
  expect(queue.length).toBe(1);
  for (const one of queue) one.hidden = false;
  topicIsDown = false;
  await digest();
  expect(mails.map(({ Subject }) => Subject)).toEqual(["Tidemark: 1 event"]);
});

it("is no larger than SNS takes, however much waits; the rest comes in the next mails", async () => {
  const long = "ü".repeat(2_000);
  waits(...Array.from({ length: 100 }, (_, at) => event(`e${at}`, at % 10, `${at} ${long}`)));
  while (queue.length > 0) await digest();
  expect(mails.length).toBe(3);
  const shown = mails.flatMap(({ Message }) => Message.split("\n\n"));
  expect(shown.length).toBe(100);
});

it("shows what it cannot read, and does not stop at it", async () => {
  waits("not JSON", '{"id": 1}', event("a", 1, "first"));
  await digest();
  expect(mails[0]?.Message.split("\n\n")).toEqual([
    ...["not JSON", '{"id": 1}'],
    "2026-03-01 12:01:00 UTC  first",
  ]);
});
