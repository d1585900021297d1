import { BatchGetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { hpa } from "./world/manifests.ts";
import { builtFleet } from "./world/synced-fleet.ts";

interface BatchInput {
  readonly RequestItems: Readonly<Record<string, { readonly ConsistentRead?: boolean }>>;
}

const engines: Engine[] = [];
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

let cluster: string;
let nowMs: number;
/**
 * Its eventual reads of heads give what was stored at the last `settle`, as a replica of DynamoDB
 * that lags.
 */
let service: Service;
let settle: () => void;
beforeEach(async () => {
  const engine = await startMemory();
  engines.push(engine);
  const fleet = await builtFleet(engine, [1, 2]);
  ({ cluster, nowMs } = fleet);
  const lagging = new Map<string, unknown>();
  settle = () => lagging.clear();
  const client = around(fleet.tables.client, async (command, send, input) => {
    const isEventual =
      command === BatchGetItemCommand.name &&
      Object.values((input as BatchInput).RequestItems).every((one) => one.ConsistentRead !== true);
    if (!isEventual) return send();
    const asked = JSON.stringify(input);
    if (!lagging.has(asked)) lagging.set(asked, await send());
    return lagging.get(asked);
  });
  const clock = (): number => nowMs;
  const tables = { ...fleet.tables, client, clock };
  service = openService({
    tables,
    insert: insertByStatement(tables),
    clock,
    by: "ada",
    newUid: () => "uid-new",
  });
});

const ONE = "checkout-worker-0";
const OTHER = "checkout-worker-1";

const names = async (): Promise<readonly string[]> =>
  (await Array.fromAsync(service.rows({}))).flatMap(({ rows }) =>
    rows.map(({ name, paused }) => (paused ? `${name} paused` : name)),
  );

/** What readers see before an edit. A replica that lags goes on saying so. */
const lookedAt = async (): Promise<void> => {
  nowMs += 120_000;
  settle();
  expect(await names()).toEqual([ONE, OTHER]);
  expect((await service.status()).paused.autoscalers).toEqual([]);
  expect(await Array.fromAsync(service.overrides({ expired: "no" }))).toEqual([]);
  await expect(service.get({ name: "new" })).rejects.toMatchObject({ code: "service.unknown" });
};

describe("an edit", () => {
  it("shows at once to every reader, although an eventual read of the heads would miss it", async () => {
    await lookedAt();
    await service.pause({ name: OTHER });
    expect(await names()).toEqual([ONE, `${OTHER} paused`]);
    expect((await service.status()).paused.autoscalers).toMatchObject([{ name: OTHER }]);
  });

  it("of an override shows at once in the list without expired ones", async () => {
    await lookedAt();
    await service.setOverride({ name: OTHER, hold: true, reason: "drill" });
    expect(await Array.fromAsync(service.overrides({ expired: "no" }))).toMatchObject([
      { name: OTHER },
    ]);
  });

  it("that makes an autoscaler makes its name known at once, also without namespace and cluster", async () => {
    await lookedAt();
    await service.apply([{ file: "new.yaml", text: hpa("new") }], { cluster, dryRun: false });
    expect(await service.get({ name: "new" })).toMatchObject({ name: "new" });
    expect(await names()).toContain("new");
  });

  it("of more than a minute ago is no reason for strong reads", async () => {
    await lookedAt();
    await service.pause({ name: OTHER });
    nowMs += 61_000;
    expect(await names()).toEqual([ONE, OTHER]);
    settle();
    expect(await names()).toEqual([ONE, `${OTHER} paused`]);
  });
});
