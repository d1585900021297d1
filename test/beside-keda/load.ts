import { createServer } from "node:http";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { readShippedTrace } from "../../lib/embedded/traces/read-trace.ts";
import { demandAt } from "../../lib/embedded/traces/trace.ts";

export const HOUR_SAMPLES = 240;
const SAMPLE_MS = 15_000;
/** Where the busiest hour of the recorded week begins. */
const BUSIEST_MS = 4_820 * 60_000;
/**
 * After the hour: nothing for so many samples, longer than the 20 after which both let the workload
 * rest, and load again.
 */
const QUIET_SAMPLES = 30;
const AGAIN_SAMPLES = 10;

/**
 * The load of each sample of the run: the recorded hour or its beginning, then none, then some
 * again.
 */
export const playedLoad = async (samples: number): Promise<readonly number[]> => {
  const trace = await readShippedTrace("nasa-http-launch-week-1m");
  const hour = Array.from(
    { length: samples },
    (_, at) => demandAt(trace, BUSIEST_MS + at * SAMPLE_MS).value,
  );
  return [
    ...hour,
    ...Array.from({ length: QUIET_SAMPLES }, () => 0),
    ...Array.from({ length: AGAIN_SAMPLES }, () => 90),
  ];
};

/** What is asked before the first sample. */
export const LOAD_BEFORE = 60;

/** Something whose load is set, and seen by whoever asks it after `delayMs`. */
export interface Loaded {
  readonly set: (load: number) => Promise<void>;
  readonly delayMs: number;
  readonly close: () => unknown;
}

/** How often the Prometheus of a run scrapes. */
export const SCRAPE_MS = 500;
export const QUERY = "sum(load)";

/** A server with one gauge, for a Prometheus to scrape. */
export const exporter = async (): Promise<Loaded & { readonly host: string }> => {
  let load = LOAD_BEFORE;
  const server = createServer((_request, response) =>
    response
      .writeHead(200, { "content-type": "text/plain" })
      .end(`# TYPE load gauge\nload ${load}\n`),
  );
  const url = await listenOnLoopback(server);
  return {
    host: new URL(url).host,
    // Two scrapes: the first may be under way.
    delayMs: 2 * SCRAPE_MS,
    set: async (wanted) => {
      load = wanted;
    },
    close: () => closeServer(server),
  };
};

/** Messages per unit of load: what an emulated queue takes in the time of a sample. */
export const MESSAGES = 0.2;
const BATCH_MAX = 10;

/** A queue of an emulated account that holds a fifth of the load. */
export const queueAt = async (endpoint: string, region: string, name: string): Promise<Loaded> => {
  const sqs = new SQSClient({
    endpoint,
    region,
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  });
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  let held = 0;
  const send = async (count: number): Promise<void> => {
    const Entries = Array.from({ length: count }, (_, at) => ({
      Id: String(at),
      MessageBody: "order",
    }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    held += count;
  };
  const take = async (count: number): Promise<void> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: count }),
    );
    if (Messages.length === 0) throw new Error(`the queue has no message, and should have ${held}`);
    const Entries = Messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    held -= Messages.length;
  };
  return {
    delayMs: 0,
    set: async (load) => {
      const messages = Math.round(load * MESSAGES);
      while (held < messages) await send(Math.min(BATCH_MAX, messages - held));
      while (held > messages) await take(Math.min(BATCH_MAX, held - messages));
    },
    close: () => sqs.destroy(),
  };
};
