import { afterAll, beforeAll, expect, it } from "vitest";
import { openQueries } from "../../lib/service/open.ts";
import { toArray } from "../../lib/service/to-array.ts";
import type { Tables } from "../../lib/store/table/tables.ts";
import { NOON, newWorld, type World } from "./world/context.ts";
import { fillShop } from "./world/shop.ts";

let world: World;
beforeAll(async () => {
  world = await newWorld();
  await fillShop(world);
});
afterAll(() => world.close());

it("A list of autoscalers asks for each page of the journal once, although the clock moves on meanwhile", async () => {
  const asked: string[] = [];
  const { client } = world.tables;
  interface Sent {
    readonly input: { readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string }>>; readonly ExclusiveStartKey?: object };
  }
  const send = (command: Sent): unknown => {
    const { ":pk": pk, ":since": since } = command.input.ExpressionAttributeValues ?? {};
    // One that goes on further back is another question.
    if (pk?.S?.startsWith("journal#") && !command.input.ExclusiveStartKey) asked.push(`${pk.S} ${since?.S}`);
    return client.send(command as never);
  };
  const tables: Tables = { ...world.tables, client: { send: send as never } };
  let nowMs = NOON;
  const all = await toArray(openQueries({ tables, clock: () => ++nowMs }).autoscalers({}));
  expect(all.length).toBeGreaterThan(2);
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
});
