import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import type { CloudEvent } from "../../lib/answers/cloud-events/kinds.ts";
import { eventKindOf } from "../../lib/answers/cloud-events/kinds.ts";
import type { EventAnswer } from "../../lib/answers/cloud-events/in-order.ts";
import { sendsEvents } from "../../lib/lambda/send-events.ts";
import type { BusEvent } from "../../lib/lambda/put-events.ts";
import { historyItemOf } from "../../lib/stack/store/history/item.ts";
import { recordOf } from "../cloud-events/history-stream.ts";
import { memoryTables } from "../contracts/memory-engine.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";
import { play } from "./play.ts";
import { type Random, randomOf } from "./random.ts";
import { TABLE_NAMES } from "./tables.ts";

/** Seeds that a check plays; `STREAM_SEEDS` plays more. */
const SEEDS = Number(process.env["STREAM_SEEDS"] ?? 6);
const SHARDS = 3;
const BATCH_MAX = 20;
/** A shard that has given so many batches and is not at its end will never be. */
const BATCHES_MAX = 20_000;

type Item = Readonly<Record<string, AttributeValue>>;
interface Streamed {
  readonly item: Item;
  readonly sequence: number;
  readonly poison?: true;
}

/** A function died, after what it had done by then. */
class Died extends Error {}

const keyOf = (item: Item) => ({ pk: item["pk"]?.S ?? "", sk: item["sk"]?.S ?? "" });

/** What a seed leaves in the stream of its history, with records that nobody can read. */
const streamOfSeed = async (seed: number, random: Random): Promise<readonly Streamed[]> => {
  const items: Item[] = [];
  const { violation } = await play(seed, {
    ...{ faults: true, told: false, onHistory: (item) => void items.push(item) },
  });
  expect(violation).toBeUndefined();
  const streamed = items.flatMap((item): readonly Omit<Streamed, "sequence">[] => {
    const { pk, sk } = keyOf(item);
    const poison = { ...item, sk: { S: `${sk}0` }, body: { B: new Uint8Array([9, 9, 9]) } };
    return eventKindOf({ pk, sk }) && random.chance(0.02)
      ? [{ item }, { item: poison, poison: true }]
      : [{ item }];
  });
  return streamed.map((one, at) => ({ ...one, sequence: at + 1 }));
};

/** As DynamoDB divides a stream: the items of one partition key are in one shard, in their order. */
const shardOf = (item: Item): number =>
  [...keyOf(item).pk].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9_973, 7) %
  SHARDS;

interface Sent {
  readonly taken: readonly CloudEvent[];
  readonly letters: readonly string[];
}

/** The history as the function reads it: every item of the stream that can be read. */
const historyOf = (stream: readonly Streamed[]) => {
  const engine = memoryTables();
  const { partitions } = engine.table(TABLE_NAMES.historyTable);
  for (const { item } of stream.filter(({ poison }) => !poison)) {
    const { pk, sk } = keyOf(item);
    const inside = partitions.get(pk) ?? new Map<string, Item>();
    partitions.set(pk, inside as never);
    inside.set(sk, item as never);
  }
  return engine;
};

/**
 * The function in a world in which the bus refuses entries and whole requests, answers get lost,
 * the table does not answer, and the function dies before and after it has put events.
 */
const faultyFunction = (stream: readonly Streamed[], random: Random) => {
  const engine = historyOf(stream);
  const taken: CloudEvent[] = [];
  const letters: string[] = [];
  const dies = (): void => {
    if (random.chance(0.03)) throw new Died();
  };
  const answerOf = (event: BusEvent): EventAnswer => {
    if (random.chance(0.1)) return { kind: "later", why: "ThrottlingException" };
    taken.push(JSON.parse(event.entry.Detail) as CloudEvent);
    // The bus took it, and its answer got lost.
    return random.chance(0.02) ? { kind: "later", why: "no answer" } : { kind: "accepted" };
  };
  const put = async (events: readonly BusEvent[]): Promise<readonly EventAnswer[]> => {
    dies();
    if (random.chance(0.05)) return events.map(() => ({ kind: "later", why: "503" }));
    const answers = events.map(answerOf);
    dies();
    return answers;
  };
  const client = {
    send: async (command: unknown) => {
      dies();
      return engine.execute(command);
    },
  };
  const setAside = async (command: { readonly input: { readonly MessageBody?: string } }) => {
    letters.push((JSON.parse(command.input.MessageBody ?? "") as { key: string }).key);
    return {};
  };
  const send = sendsEvents({
    tables: testTables(client as never, TABLE_NAMES, () => NOON),
    put,
    deadLetters: { client: { send: setAside as never }, queueUrl: "https://q" },
  });
  return { send, taken, letters };
};

/** How many records of a batch need not be given again: none where its call failed. */
const settledOf = async (
  send: ReturnType<typeof faultyFunction>["send"],
  given: readonly DynamoDBRecord[],
): Promise<number> => {
  try {
    const { answer } = await send({ Records: [...given] });
    const [failed] = answer.batchItemFailures;
    const stands = given.findIndex(
      ({ dynamodb }) => dynamodb?.SequenceNumber === failed?.itemIdentifier,
    );
    return stands === -1 ? given.length : stands;
  } catch (error) {
    if (error instanceof Died) return 0;
    throw error;
  }
};

/** Gives the stream to the function as Lambda does: batches of a shard one after the other. */
const consumed = async (stream: readonly Streamed[], random: Random): Promise<Sent> => {
  const { send, taken, letters } = faultyFunction(stream, random);
  for (let shard = 0; shard < SHARDS; shard++) {
    const records = stream
      .filter(({ item }) => shardOf(item) === shard)
      .map(({ item, sequence }) => recordOf(historyItemOf(item as never), sequence));
    let at = 0;
    for (let batch = 0; at < records.length; batch++) {
      if (batch === BATCHES_MAX) throw new Error(`shard ${shard} stands at ${at}`);
      at += await settledOf(send, records.slice(at, at + random.int(1, BATCH_MAX)));
    }
  }
  return { taken, letters };
};

const idOf = (item: Item): string => {
  const [, at = "", ...id] = keyOf(item).sk.split("#");
  return keyOf(item).sk.startsWith("event#") ? id.join("#") : id.length > 0 ? id.join("#") : at;
};

describe("a consumer of the stream with faults", () => {
  it.each(Array.from({ length: SEEDS }, (_, seed) => [seed]))(
    "puts every stored event on the bus at least once, those of one autoscaler in their order (seed %i)",
    { timeout: 120_000 },
    async (seed) => {
      const random = randomOf(seed, "jitter");
      const stream = await streamOfSeed(seed, random);
      const { taken, letters } = await consumed(stream, random);
      const events = stream.filter(({ item }) => eventKindOf(keyOf(item)) !== undefined);
      const good = events.filter(({ poison }) => !poison);
      expect(good.length).toBeGreaterThan(0);
      const ids = new Set(taken.map(({ id }) => id.replace(/^change:/, "")));
      expect(
        good.filter(({ item }) => !ids.has(idOf(item))).map(({ item }) => keyOf(item)),
      ).toEqual([]);
      expect(new Set(letters).size).toBe(events.length - good.length);
      // The first time that each event arrives, by what it is about.
      const firsts = [
        ...new Map(taken.toReversed().map((one) => [one.id, one])).values(),
      ].reverse();
      const wanted = Map.groupBy(good, ({ item }) => keyOf(item).pk);
      for (const [pk, own] of wanted) {
        if (!pk.startsWith("autoscaler#")) continue;
        const order = own.map(({ item }) => idOf(item));
        const subject = pk.slice("autoscaler#".length).replaceAll("#", "/");
        const arrived = firsts
          .filter((one) => one.subject === subject && one.kind !== "storm")
          .map(({ id }) => id.replace(/^change:/, ""));
        expect([pk, arrived]).toEqual([pk, order]);
      }
    },
  );
});
