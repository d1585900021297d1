import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { areRestored, withIds } from "../../lib/stack/store/table/real-tables.ts";
import { startDynalite } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";

const IDS = { state: "state-1", history: "history-1" };

/** A service that says which tables have the two names now. */
const newService = () => {
  const asked: string[] = [];
  const service = { nowMs: NOON, suffix: 1, fails: false, asked };
  const send = async ({ input }: { readonly input: { readonly TableName: string } }) => {
    asked.push(input.TableName);
    if (service.fails)
      throw Object.assign(new Error("no such table"), { name: "ResourceNotFoundException" });
    return { Table: { TableId: `${input.TableName}-${service.suffix}` } };
  };
  const client = { send: send as unknown as DynamoDBClient["send"] };
  const tables = withIds(
    testTables(client, { stateTable: "state", historyTable: "history" }, () => service.nowMs),
  );
  return { service, ids: () => tables.ids?.() };
};

describe("withIds()", () => {
  it("asks for both tables once a minute, so that a warm environment notices another table under the same name before a restore can have ended", async () => {
    const { service, ids } = newService();
    expect(await ids()).toEqual(IDS);
    service.suffix = 2;
    service.nowMs += 59_000;
    expect(await ids()).toEqual(IDS);
    expect(service.asked).toEqual(["state", "history"]);
    service.nowMs += 1_000;
    expect(await ids()).toEqual({ state: "state-2", history: "history-2" });
  });

  it("throws while a table is not there, and asks again at the next call", async () => {
    const { service, ids } = newService();
    service.fails = true;
    await expect(ids()).rejects.toMatchObject({ name: "ResourceNotFoundException" });
    service.fails = false;
    expect(await ids()).toEqual(IDS);
  });

  it("tells two tables of the embedded engine apart, and gives one table the same id each time", async () => {
    const [one, other] = [await startDynalite(), await startDynalite()];
    const idsOf = (engine: typeof one) =>
      withIds(testTables(engine.client, engine.tables, Date.now)).ids?.();
    const [first, again, elsewhere] = [await idsOf(one), await idsOf(one), await idsOf(other)];
    expect(again).toEqual(first);
    expect(areRestored(first, elsewhere)).toBe(true);
    await Promise.all([one.close(), other.close()]);
  });
});

describe("areRestored()", () => {
  it.each([
    [undefined, IDS, false],
    [IDS, undefined, false],
    [IDS, IDS, false],
    [IDS, { ...IDS, state: "state-2" }, true],
    [IDS, { ...IDS, history: "history-2" }, true],
  ])("says of %j beside %j: %s", (recorded, found, restored) => {
    expect(areRestored(recorded, found)).toBe(restored);
  });
});
