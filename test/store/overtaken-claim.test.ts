import { expect, it } from "vitest";
import { clusterName, WHOLE_CLUSTER } from "../../lib/model/ids.ts";
import { claim } from "../../lib/store/head/claim.ts";
import { startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";

const LEASE_MS = 34_000;
const LARGEST_MS = 4_000;

it("a lease by a right clock is kept, though the claim of another right clock was read before and arrives after", async () => {
  const { client, tables: names } = await startMemory();
  const tables = testTables(client, names, () => NOON);
  const partition = { cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER };
  const claimBy = (clockMs: number) => claim(tables, { partition, dueMs: NOON, clockMs, leaseUntilMs: clockMs + LEASE_MS });
  const [first, second] = [await claimBy(NOON + LARGEST_MS + 1), await claimBy(NOON)];
  expect([first.kind, second.kind]).toEqual(["claimed", "held"]);
});
