import { describe, expect, it } from "vitest";
import { onNews, stackReader } from "../../../lib/embedded/view/reader.ts";
import { openService } from "../../../lib/answers/service/open.ts";
import { serviceWorld } from "../../service/world/context.ts";
import { fillShop } from "../../service/world/shop.ts";

const world = () => {
  const state = { writes: 0, syncing: false, nowMs: 0, reads: 0 };
  const read = onNews(
    { writes: () => state.writes, syncing: () => state.syncing },
    async () => ++state.reads,
    () => state.nowMs,
  );
  return { state, read };
};

describe("what the view reads", () => {
  it("is read once, and not again before something was written", async () => {
    const { state, read } = world();
    expect([await read(), await read(), await read()]).toEqual([1, 1, 1]);
    state.writes++;
    expect([await read(), await read()]).toEqual([2, 2]);
  });

  it("is left alone while a sync is at work, for five seconds at most", async () => {
    const { state, read } = world();
    await read();
    Object.assign(state, { writes: 1, syncing: true, nowMs: 4_999 });
    expect(await read()).toBe(1);
    state.nowMs = 5_000;
    expect(await read()).toBe(2);
    state.writes = 2;
    expect(await read()).toBe(2);
    state.syncing = false;
    expect(await read()).toBe(3);
  });

  it("is read the first time also under a sync", async () => {
    const { state, read } = world();
    state.syncing = true;
    expect(await read()).toBe(1);
  });

  it("is read again when something was written while it was being read", async () => {
    let writes = 0;
    let reads = 0;
    const read = onNews({ writes: () => writes, syncing: () => false }, async () => {
      writes++;
      return ++reads;
    });
    expect([await read(), await read()]).toEqual([1, 2]);
  });
});

describe("of more autoscalers than fit", () => {
  it("those that need a person come first, the worst of them at the top, and the others by name", async () => {
    const shop = await serviceWorld();
    try {
      await fillShop(shop);
      const service = openService(shop.context);
      const reader = stackReader(service, 0, {
        writes: () => 0,
        syncing: () => false,
        total: () => 5,
        clock: shop.context.clock,
      });
      const seen = async (most: number): Promise<readonly string[]> =>
        (await reader.autoscalers(most)).map(
          ({ namespace, name, state }) => `${namespace}/${name} ${state}`,
        );
      // Who reads all of them between two looks, as the summary of a run does, changes no order.
      expect(await reader.autoscalers()).toHaveLength(5);
      expect(await seen(2)).toEqual(["shop/api failing", "infra/web waiting"]);
      expect(await seen(5)).toEqual([
        "infra/web waiting",
        "shop/api failing",
        "shop/late waiting",
        "shop/web limited",
        "batch/jobs waiting",
      ]);
    } finally {
      await shop.close();
    }
  });
});

describe("the events of a run whose clock is set back", () => {
  it("are read all the same, each once", async () => {
    const shop = await serviceWorld();
    try {
      await fillShop(shop);
      let nowMs = shop.context.clock() + 60_000;
      let writes = 0;
      const service = openService({ ...shop.context, clock: () => nowMs });
      const reader = stackReader(service, 0, {
        writes: () => ++writes,
        syncing: () => false,
        total: () => 5,
        clock: () => nowMs,
      });
      expect((await reader.newEvents()).length).toBeGreaterThan(0);
      nowMs -= 24 * 3_600_000;
      expect(await reader.newEvents()).toEqual([]);
    } finally {
      await shop.close();
    }
  });
});
