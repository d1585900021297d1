import { afterAll, beforeAll, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { MetricPods } from "../../lib/rules/model/decision.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { NO_TROUBLES, type Troubles, troubleKey } from "../../lib/stack/store/head/troubles.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { fillShop, recordOf } from "./world/shop.ts";
import { storeSync } from "./world/synced.ts";

const BEGAN_MS = NOON - 20 * MINUTE_MS;

let world: ServiceWorld;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
});
afterAll(() => world.close());

let syncs = 0;
/** The condition of an autoscaler in the table after a sync with these pods. */
const conditionsWith = async (pods: MetricPods, sinceMs?: number) => {
  const record = await recordOf(world.context, "web");
  const atMs = NOON + ++syncs * MINUTE_MS;
  const troubles: Troubles =
    sinceMs === undefined
      ? NO_TROUBLES
      : {
          of: { pods: { since: new Map([[troubleKey(record.uid), sinceMs]]), first: "shop/web" } },
        };
  const metric = {
    name: "cpu",
    type: "Resource",
    kind: "measured",
    value: "60%",
    target: "60%",
    proposal: 2,
    pods,
  } as const;
  const evaluation = {
    kind: "hold",
    failed: false,
    from: 2,
    because: { reason: "WithinTarget", message: "m" },
    metrics: [metric],
    steps: [],
    events: [],
  } as const;
  await storeSync(
    world.context,
    record.cluster,
    atMs,
    [{ record, windows: NEW_WINDOWS, evaluation }],
    troubles,
  );
  world.set(atMs);
  const { conditions } = await openService(world.context).describe({ name: "shop/web" });
  return conditions.filter(({ type }) => type === "PodsCounted");
};

it("Pods that count and should not are a condition of an autoscaler in the table, since the minute that the head has", async () => {
  expect(await conditionsWith({ matched: 6, owned: 2, counted: 6 }, BEGAN_MS)).toEqual([
    {
      type: "PodsCounted",
      status: "False",
      reason: "ForeignPods",
      message:
        "6 pods match the selector and 2 belong to the target: the rules do not leave out the others",
      since: new Date(BEGAN_MS).toISOString(),
    },
  ]);
});

it("A rollout is the condition since the newest evaluation, and usual pods are none", async () => {
  expect(await conditionsWith({ matched: 6, owned: 6, counted: 6, otherRevision: 2 })).toEqual([
    expect.objectContaining({
      reason: "RolloutUnderWay",
      since: new Date(NOON + syncs * MINUTE_MS).toISOString(),
    }),
  ]);
  expect(await conditionsWith({ matched: 6, owned: 6, counted: 6 })).toEqual([]);
});
