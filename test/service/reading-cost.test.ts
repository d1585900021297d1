import { afterAll, beforeAll, expect, it } from "vitest";
import { openQueries } from "../../lib/answers/service/open.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { fillShop } from "./world/shop.ts";

let world: ServiceWorld;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
});
afterAll(() => world.close());

it("A list of autoscalers asks for each page of the journal once, although the clock moves on meanwhile", async () => {
  const asked: string[] = [];
  const { client } = world.tables;
  interface Sent {
    readonly input: {
      readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string }>>;
      readonly ExclusiveStartKey?: object;
    };
  }
  const send = (command: Sent): unknown => {
    const { ":pk": pk, ":since": since } = command.input.ExpressionAttributeValues ?? {};
    // One that goes on further back is another question.
    if (pk?.S?.startsWith("journal#") && !command.input.ExclusiveStartKey)
      asked.push(`${pk.S} ${since?.S}`);
    return client.send(command as never);
  };
  const tables: Tables = { ...world.tables, client: { send: send as never } };
  let nowMs = NOON;
  const all = await Array.fromAsync(openQueries({ tables, clock: () => ++nowMs }).autoscalers({}));
  expect(all.length).toBeGreaterThan(2);
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
});

it("A list of autoscalers reads windows pages only where the journal does not tell the status, and no more items than it is asked for", async () => {
  const { client } = world.tables;
  const read = { windowsPages: 0, autoscalers: 0 };
  interface Sent {
    readonly input: {
      readonly Key?: Readonly<Record<string, { readonly S?: string }>>;
      readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string }>>;
    };
  }
  const send = async (command: Sent): Promise<unknown> => {
    if (command.input.Key?.["sk"]?.S?.startsWith("page#")) read.windowsPages++;
    const answer = (await client.send(command as never)) as { readonly Items?: readonly unknown[] };
    if (command.input.ExpressionAttributeValues?.[":pk"]?.S?.startsWith("autoscalers#"))
      read.autoscalers += answer.Items?.length ?? 0;
    return answer;
  };
  const service = openQueries({
    tables: { ...world.tables, client: { send: send as never } },
    clock: () => NOON,
  });
  const all = await Array.fromAsync(service.autoscalers({}));
  const waiting = all.filter(({ decision }) => decision === undefined).length;
  expect(read.autoscalers).toBe(all.length);
  expect(read.windowsPages).toBeLessThanOrEqual(waiting);
  expect(all.some(({ decision }) => decision !== undefined)).toBe(true);

  read.autoscalers = 0;
  for await (const first of service.autoscalers({ pageSize: 2 })) {
    expect(first).toEqual(all[0]);
    break;
  }
  expect(read.autoscalers).toBe(2);
});
