import { expect, it } from "vitest";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { newRegions, type Region } from "../service/world/regions.ts";
import { inside } from "./inside.ts";

it("A person reads that a stack stands by, is refused while the other one may act, and takes the fleet when its region is down", async () => {
  const stacks = await newRegions(MINUTE_MS);
  const { one, two, world } = stacks;
  const run = ({ service }: Region, ...args: readonly string[]) =>
    inside(args, {
      open: async () => ({
        ...{ place: "stack", service: service(), nowMs: world.nowMs, clock: () => world.nowMs },
        close: async () => {},
      }),
    });
  await stacks.live(3 * MINUTE_MS);
  expect((await run(two, "fleet", "describe")).out).toContain(
    "This stack is a standby: the fleet is in eu-1\n",
  );
  expect((await run(two, "status")).out).toMatch(/^Standby: +the fleet is in eu-1$/m);
  one.isUp = false;
  expect(await run(two, "fleet", "move", "--to", "eu-2")).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^error: Cannot move the fleet to "eu-2": the stack in "eu-1" may act until 20\S+Z; run it again in \d+ s, or where that stack works, run it there first$/m,
    ),
  });
  await stacks.live(6 * MINUTE_MS);
  expect((await run(two, "status")).out).toMatch(/No stack has held the fleet for \S+: nothing is/);
  expect((await run(two, "fleet", "move", "--to", "eu-2")).out).toContain(
    'Fleet moved to "eu-2" from "eu-1"; 2 autoscalers of 1 partitions go on as if each had just been scaled as far as its rules allow\n',
  );
  expect((await run(two, "fleet", "describe")).out).toMatch(
    /^Moved here from eu-1 at 20\S+Z by ada$/m,
  );
  expect((await run(two, "fleet", "move", "--to", "eu-1")).out).toContain(
    'Fleet given up from "eu-2"; nothing is scaled until the stack in "eu-1" takes it',
  );
});
