import { GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid, clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { claimParams } from "../../lib/stack/store/head/claim.ts";
import { giveBackParams, releaseParams } from "../../lib/stack/store/head/release.ts";
import { intendParams } from "../../lib/stack/store/head/store-intents.ts";
import { NO_TROUBLES } from "../../lib/stack/store/head/troubles.ts";
import { writePageParams } from "../../lib/stack/store/pages/pages.ts";
import { raiseSpecVersionParams } from "../../lib/stack/store/records/autoscalers.ts";
import { headKey, itemKey } from "../../lib/stack/store/table/keys.ts";
import { type Engine, startDynalite, startMemory } from "../contracts/engines.ts";
import { bodiesOf, intent } from "../store/records.ts";
import { type Random, randomOf } from "./random.ts";

let engines: readonly Engine[] = [];
beforeAll(async () => {
  engines = [await startDynalite(), await startMemory()];
});
afterAll(() => Promise.all(engines.map(({ close }) => close())));

const partition = { cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER };

/** A request of the store with numbers near each other, so that about half are refused. */
const someRequest = (random: Random): PutItemCommand | UpdateItemCommand => {
  const held = { partition, epoch: random.int(1, 4), writeNumber: random.int(1, 9) };
  const token = `token-${random.int(1, 3)}`;
  const pageId = { partition, generation: 1, index: random.int(0, 1) };
  const epoch = random.int(1, 6);
  const read = random.chance(1 / 2) ? { readEpoch: random.int(1, 5) } : {};
  const body = new Uint8Array([random.int(0, 9)]);
  const released = {
    dueMs: 1,
    nowMs: 2,
    evaluatedMs: 3,
    pageGeneration: 1,
    pages: [epoch],
    intents: new Map(),
    troubles: NO_TROUBLES,
  };
  const someIntent = { ...intent(), id: `${autoscalerUid("uid")}:${held.epoch}` };
  return random.pick([
    () =>
      new UpdateItemCommand(
        claimParams("state", {
          partition,
          dueMs: random.int(0, 3),
          clockMs: random.int(0, 50),
          leaseUntilMs: random.int(0, 50),
          token,
        }),
      ),
    () =>
      new UpdateItemCommand(
        intendParams("state", held, { intents: bodiesOf(someIntent), nowMs: 5, token }),
      ),
    () => new UpdateItemCommand(releaseParams("state", held, released, token)),
    () => new UpdateItemCommand(giveBackParams("state", held, token)),
    () => new UpdateItemCommand(raiseSpecVersionParams("state", partition)),
    () => new PutItemCommand(writePageParams("state", { id: pageId, epoch, body, ...read })),
    () =>
      new PutItemCommand({
        TableName: "history",
        Item: {
          ...itemKey({ pk: "p", sk: `s${random.int(1, 30)}` }),
          ttl: { N: "1" },
          body: { S: "text" },
        },
        ConditionExpression: "attribute_not_exists(pk)",
      }),
  ])();
};

const outcomeOf = async (
  { client }: Engine,
  command: PutItemCommand | UpdateItemCommand,
): Promise<unknown> => {
  try {
    const { Attributes } =
      command instanceof PutItemCommand ? await client.send(command) : await client.send(command);
    return { Attributes };
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
};

describe("the tables of the simulation", () => {
  it("always answer a sequence of the store's requests as the embedded engine does, and hold the same head", async () => {
    const random = randomOf(1, "settings");
    let refused = 0;
    for (let at = 0; at < 400; at++) {
      const command = someRequest(random);
      const [real, simulated] = await Promise.all(
        engines.map((engine) => outcomeOf(engine, command)),
      );
      expect(simulated).toEqual(real);
      if (real === "ConditionalCheckFailedException") refused++;
    }
    expect(refused).toBeGreaterThan(50);
    const read = new GetItemCommand({
      TableName: "state",
      Key: itemKey(headKey(partition)),
      ConsistentRead: true,
    });
    const [real, simulated] = await Promise.all(
      engines.map(async ({ client }) => (await client.send(read)).Item),
    );
    expect(simulated).toEqual(real);
  });
});
