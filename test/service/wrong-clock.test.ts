import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";

const MINUTE_MS = 60_000;

let world: ServiceWorld;
/** How far the clock of the editor is ahead of the clock of the tables. */
let aheadMs: number;
let wasAnswered: boolean;
let service: Service;
beforeEach(async () => {
  world = await serviceWorld();
  [aheadMs, wasAnswered] = [0, false];
  const { client } = world.tables;
  const tables: Tables = {
    ...world.tables,
    client: {
      send: ((command: never) => {
        wasAnswered = true;
        return client.send(command);
      }) as Tables["client"]["send"],
    },
    serverClock: () =>
      wasAnswered ? { leastMs: aheadMs - 1_000, mostMs: aheadMs + 1_000 } : undefined,
  };
  service = openService({
    ...world.context,
    tables,
    insert: world.context.insert,
    clock: () => NOON + aheadMs,
  });
  await service.addCluster({ name: "eu-1", connection: { kind: "secret", secretId: "prod/eu-1" } });
  await service.apply([{ file: "web.yaml", text: hpa("web", { namespace: "shop" }) }], {
    cluster: "eu-1",
    dryRun: false,
  });
  await service.setOverride({
    cluster: "eu-1",
    min: 5,
    untilMs: NOON + 60 * MINUTE_MS,
    reason: "sale",
  });
});
afterEach(() => world.close());

const overridesNow = async (): Promise<number> =>
  (await Array.fromAsync(service.overrides({}))).length;

describe("an editor whose clock is wrong", () => {
  it("by 61 minutes edits nothing, so that overrides in force stay in force", async () => {
    aheadMs = 61 * MINUTE_MS;
    await expect(service.pauseCluster("eu-1")).rejects.toMatchObject({
      code: "store.clock-wrong",
      message: expect.stringMatching(/3659\.0 s ahead of/),
    });
    aheadMs = 0;
    expect(await overridesNow()).toBe(1);
    expect((await service.cluster("eu-1")).paused).toBeUndefined();
    await service.pauseCluster("eu-1");
    expect(await overridesNow()).toBe(1);
  });

  it("is found by its first call, before any answer has shown the time", async () => {
    [aheadMs, wasAnswered] = [61 * MINUTE_MS, false];
    await expect(service.freeze("incident")).rejects.toMatchObject({ code: "store.clock-wrong" });
  });

  it("shows what is stored all the same", async () => {
    aheadMs = -61 * MINUTE_MS;
    expect((await service.cluster("eu-1")).name).toBe("eu-1");
    expect(await Array.fromAsync(service.autoscalers({}))).toHaveLength(1);
  });

  it("that steps in the middle of an edit stores nothing after the step, wherever it steps", async () => {
    let refused = 0;
    for (let step = 1; step < 12; step++) {
      let calls = 0;
      const after: string[] = [];
      const byMs = (): number => (calls >= step ? 61 * MINUTE_MS : 0);
      const { client } = world.tables;
      const stepping: Tables = {
        ...world.tables,
        client: {
          send: ((command: never) => {
            if (calls >= step) after.push((command as object).constructor.name);
            calls++;
            return client.send(command);
          }) as Tables["client"]["send"],
        },
        serverClock: () => ({ leastMs: byMs() - 1_000, mostMs: byMs() + 1_000 }),
      };
      const editor = openService({
        ...world.context,
        tables: stepping,
        insert: insertByStatement(stepping),
        clock: () => NOON + byMs(),
      });
      await editor.pauseCluster("eu-1").catch((error: unknown) => {
        refused++;
        expect(error).toMatchObject({ code: "store.clock-wrong" });
      });
      expect(after.filter((name) => /Put|Update|Delete|Execute/.test(name))).toEqual([]);
      expect(await overridesNow()).toBe(1);
      await service.resumeCluster("eu-1");
    }
    expect(refused).toBeGreaterThan(1);
  });
});
