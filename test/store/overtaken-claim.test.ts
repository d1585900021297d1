import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, it } from "vitest";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { claim, claimParams } from "../../lib/stack/store/head/claim.ts";
import { storeIntents } from "../../lib/stack/store/head/store-intents.ts";
import { startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";
import { bodiesOf, intent } from "./records.ts";

const LEASE_MS = 34_000;
const LARGEST_MS = 4_000;

it("a lease by a right clock is kept, though the claim of another right clock was read before and arrives after", async () => {
  const { client, tables: names } = await startMemory();
  const tables = testTables(client, names, () => NOON);
  const partition = { cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER };
  const claimBy = (clockMs: number) =>
    claim(tables, { partition, dueMs: NOON, clockMs, leaseUntilMs: clockMs + LEASE_MS });
  const [first, second] = [await claimBy(NOON + LARGEST_MS + 1), await claimBy(NOON)];
  expect([first.kind, second.kind]).toEqual(["claimed", "held"]);
});

it("a copy of a claim that lands half a minute late may take the lease of a later sync, and both are refused at their next write", async () => {
  const { client, tables: names } = await startMemory();
  const tables = testTables(client, names, () => NOON);
  const partition = { cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER };
  const at = (clockMs: number) => ({
    partition,
    dueMs: clockMs,
    clockMs,
    leaseUntilMs: clockMs + LEASE_MS,
  });
  const early = { ...at(NOON), token: "early" };
  const send = () => client.send(new UpdateItemCommand(claimParams(names.stateTable, early)));
  await send();
  const later = await claim(tables, at(NOON + LEASE_MS + 1));
  expect(later).toMatchObject({ kind: "claimed", head: { epoch: 2 } });
  await send();
  const next = (epoch: number) =>
    storeIntents(tables, { partition, epoch, writeNumber: epoch }, bodiesOf(intent()), NOON);
  for (const epoch of [1, 2])
    await expect(next(epoch)).rejects.toMatchObject({ code: "store.lease-lost" });
  expect(await claim(tables, at(NOON + 2 * LEASE_MS))).toMatchObject({
    kind: "claimed",
    head: { epoch: 4, intents: [] },
  });
});
