import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openQueries } from "../../lib/service/open.ts";
import type { Tables } from "../../lib/store/table/tables.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { fillShop } from "./world/shop.ts";

let world: ServiceWorld;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
});
afterAll(() => world.close());

/** The tables, and the partition keys that were queried through them. */
const watched = (): { readonly tables: Tables; readonly queried: string[] } => {
  const queried: string[] = [];
  const { client } = world.tables;
  const send = (command: { readonly input: { readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string }>> } }): unknown => {
    queried.push(command.input.ExpressionAttributeValues?.[":pk"]?.S ?? "");
    return client.send(command as never);
  };
  return { tables: { ...world.tables, client: { send: send as never } }, queried };
};

describe("the series of a fleet without watermark rules", () => {
  it("cost no look at its scale events: nothing counts them", async () => {
    const { tables, queried } = watched();
    const families = await openQueries({ tables, clock: world.context.clock }).series();
    expect(families.map(({ name }) => name)).toContain("tidemark_current_replicas");
    expect(queried.filter((pk) => pk.startsWith("journal#")).length).toBeGreaterThan(0);
    expect(queried.filter((pk) => pk.startsWith("day#"))).toEqual([]);
  });
});
