import { afterAll, beforeAll, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { around } from "../contracts/faults.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

let world: ServiceWorld;
let bob: Service;

/**
 * A service of ada. Something happens between its first write of the fleet and the lost answer to
 * it.
 */
const adaWith = (happens: () => Promise<unknown>): Service => {
  let first = true;
  const client = around(world.tables.client, async (command, send) => {
    if (command !== "PutItemCommand" || !first) return send();
    first = false;
    await send();
    await happens();
    throw Object.assign(new Error("planted: lost answer"), { name: "TimeoutError" });
  });
  return openService({ ...world.context, tables: { ...world.tables, client } });
};

beforeAll(async () => {
  world = await serviceWorld();
  bob = openService({ ...world.context, by: "bob" });
});
afterAll(() => world.close());

it("a thaw whose answer was lost does not undo the freeze that another person has made since", async () => {
  await bob.freeze("first drill");
  expect(await adaWith(() => bob.freeze("second drill")).thaw()).toMatchObject({ changed: true });
  expect((await bob.fleet()).frozen).toMatchObject({ by: "bob", reason: "second drill" });
  await bob.thaw();
});

it("a freeze whose answer was lost does not freeze again what another person has thawed since", async () => {
  expect(await adaWith(() => bob.thaw()).freeze("drill")).toMatchObject({ changed: true });
  expect((await bob.fleet()).frozen).toBeUndefined();
});
