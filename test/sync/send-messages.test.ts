import type { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { messageOf, type SyncMessage } from "../../lib/stack/plan/message.ts";
import { sendPlanned } from "../../lib/stack/plan/send-messages.ts";
import { NOON } from "../noon.ts";

const due = (seconds: number): SyncMessage => ({
  cluster: clusterName("eu-1"),
  partition: WHOLE_CLUSTER,
  dueMs: NOON + seconds * 1_000,
  periodMs: 15_000,
});

/**
 * A queue whose answers take this many seconds each, one after the other, and what it received:
 * seconds of the due time, and the delay.
 */
const slowQueue = (tookSeconds: readonly number[]) => {
  let nowMs = NOON;
  let sends = 0;
  const received: (readonly [number, number])[] = [];
  const send = async ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
    for (const { MessageBody = "", DelaySeconds = 0 } of Entries)
      received.push([(messageOf(MessageBody).dueMs - NOON) / 1_000, DelaySeconds]);
    nowMs += (tookSeconds[sends++] ?? 0) * 1_000;
    return {};
  };
  const queue = {
    client: { send: send as never },
    queueUrl: "https://queue",
    wait: async () => {},
    random: () => 0,
  };
  return { received, ports: { queue, clock: () => nowMs } };
};

describe("sendPlanned()", () => {
  it("sends each message once, with the delay to its due time, the soonest first", async () => {
    const { received, ports } = slowQueue([0]);
    expect(await sendPlanned(ports, [due(60), due(45)], 1)).toBe(2);
    expect(received).toEqual([
      [45, 45],
      [60, 60],
    ]);
  });

  it("sends messages again with the delays of now where the answer came late, because a frozen function shifts their delays", async () => {
    const { received, ports } = slowQueue([28, 0]);
    expect(await sendPlanned(ports, [due(20), due(60)], 1)).toBe(2);
    expect(received).toEqual([
      [20, 20],
      [60, 60],
      // What is due already comes late all the same; the other comes at its time.
      [60, 32],
    ]);
  });

  it("sends a message once to a queue that is merely slow, so that its load is not doubled", async () => {
    const { received, ports } = slowQueue([4]);
    await sendPlanned(ports, [due(60)], 1);
    expect(received).toEqual([[60, 60]]);
  });

  it("takes a new delay for each attempt, because a refused message waits before it is sent again", async () => {
    let nowMs = NOON;
    const delays: (number | undefined)[] = [];
    const send = async ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
      delays.push(...Entries.map(({ DelaySeconds }) => DelaySeconds));
      return delays.length < 3
        ? { Failed: [{ Id: "0", Code: "RequestThrottled", SenderFault: false }] }
        : {};
    };
    const wait = async (): Promise<void> => {
      nowMs += 2_000;
    };
    const queue = {
      client: { send: send as never },
      queueUrl: "https://queue",
      wait,
      random: () => 1,
    };
    expect(await sendPlanned({ queue, clock: () => nowMs }, [due(60), due(70)], 1)).toBe(2);
    expect(delays).toEqual([60, 70, 58]);
  });

  it("takes a new delay for each batch", async () => {
    const { received, ports } = slowQueue([1, 0]);
    await sendPlanned(
      ports,
      Array.from({ length: 11 }, (_, at) => due(100 + at)),
      1,
    );
    expect(received.at(-1)).toEqual([110, 109]);
  });

  it("sends a message no more than three times", async () => {
    const { received, ports } = slowQueue([6, 6, 6, 6]);
    await sendPlanned(ports, [due(60)], 1);
    expect(received).toEqual([
      [60, 60],
      [60, 54],
      [60, 48],
    ]);
  });
});
