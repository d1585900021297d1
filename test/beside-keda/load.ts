import { setTimeout as wait } from "node:timers/promises";
import { DeleteMessageBatchCommand, CreateQueueCommand, ReceiveMessageCommand, SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { readShippedTrace } from "../../lib/local/traces/read-trace.ts";
import { demandAt } from "../../lib/local/traces/trace.ts";

export const HOUR_SAMPLES = 240;
const SAMPLE_MS = 15_000;
/** Where the busiest hour of the recorded week begins. */
const BUSIEST_MS = 4_820 * 60_000;
/** After the hour: nothing for so many samples, longer than the 20 after which both let the workload rest, and load again. */
export const QUIET_SAMPLES = 30;
export const AGAIN_SAMPLES = 10;

/** The load of a sample of the run: the recorded hour, then none, then some again. */
export const playedLoad = async (): Promise<readonly number[]> => {
  const trace = await readShippedTrace("nasa-http-launch-week-1m");
  const hour = Array.from({ length: HOUR_SAMPLES }, (_, at) => demandAt(trace, BUSIEST_MS + at * SAMPLE_MS).value);
  return [...hour, ...Array.from({ length: QUIET_SAMPLES }, () => 0), ...Array.from({ length: AGAIN_SAMPLES }, () => 90)];
};

/** What is asked before the first sample. */
export const LOAD_BEFORE = 60;
/** The times of all samples lie so far back: a Prometheus takes none of the future. The query has the same offset. */
const BACK_SECONDS = 86_400;
export const QUERY = "sum(load offset 1d)";

const SERIES_BEFORE_SECONDS = 600;
const HOLD_SECONDS = 60;

/** The series of a Prometheus whose value changes at the instant of each sample. */
export const seriesOf = (load: readonly number[], startMs: number, stepMs: number): string => {
  const startSeconds = startMs / 1_000 - BACK_SECONDS;
  const line = (seconds: number, value: number): string => `load ${value} ${seconds.toFixed(3)}`;
  const before = Array.from({ length: SERIES_BEFORE_SECONDS / HOLD_SECONDS }, (_, at) =>
    line(startSeconds - SERIES_BEFORE_SECONDS + at * HOLD_SECONDS, LOAD_BEFORE),
  );
  const played = load.map((value, at) => line(startSeconds + (at * stepMs) / 1_000, value));
  const last = load.at(-1) ?? 0;
  const after = Array.from({ length: 10 }, (_, at) => line(startSeconds + (load.length * stepMs) / 1_000 + at * HOLD_SECONDS, last));
  return ["# TYPE load gauge", ...before, ...played, ...after].join("\n");
};

/** Messages per unit of load: what an emulated queue takes in the time of a sample. */
export const MESSAGES = 0.2;
export const messagesOf = (load: number): number => Math.round(load * MESSAGES);

export interface Queue {
  /** Brings the queue to so many messages. */
  readonly fill: (messages: number) => Promise<void>;
  readonly close: () => void;
}

const BATCH_MAX = 10;

export const queueAt = async (endpoint: string, region: string, name: string): Promise<Queue> => {
  const sqs = new SQSClient({ endpoint, region, credentials: { accessKeyId: "a", secretAccessKey: "b" } });
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  let held = 0;
  const send = async (count: number): Promise<void> => {
    await sqs.send(
      new SendMessageBatchCommand({ QueueUrl, Entries: Array.from({ length: count }, (_, at) => ({ Id: String(at), MessageBody: "order" })) }),
    );
    held += count;
  };
  const take = async (count: number): Promise<void> => {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: count }));
    if (Messages.length === 0) throw new Error(`the queue has no message, and should have ${held}`);
    const Entries = Messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    held -= Messages.length;
  };
  return {
    fill: async (messages) => {
      while (held < messages) await send(Math.min(BATCH_MAX, messages - held));
      while (held > messages) await take(Math.min(BATCH_MAX, held - messages));
    },
    close: () => sqs.destroy(),
  };
};

/** Waits for an instant of the real clock. */
export const untilMs = async (instantMs: number): Promise<void> => wait(Math.max(0, instantMs - Date.now()));
