import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { hpa } from "../service/world/manifests.ts";
import { recordOf } from "../service/world/shop.ts";
import { storeSync } from "../service/world/synced.ts";
import { inside } from "./inside.ts";

/**
 * Three clusters that were synced half a minute ago at most, and one that was not: "out" has not
 * answered for five minutes.
 */
let world: ServiceWorld;
const CONNECTION = { kind: "kubeconfig", path: "/kube/config" } as const;
const WORDS = `Cannot GET deployments.apps of cluster "out": nothing listens at the server's address (ECONNREFUSED)`;

beforeAll(async () => {
  world = await serviceWorld();
  const service = openService(world.context);
  world.set(NOON - 600_000);
  for (const name of ["late", "new", "out", "well"])
    await service.addCluster({ name, connection: CONNECTION });
  await service.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop" }) }], {
    cluster: "out",
    dryRun: false,
  });
  const record = await recordOf(world.context, "web", "shop", clusterName("out"));
  const because = {
    reason: "FailedGetScale",
    message: `the HPA controller was unable to get the target's current scale: ${WORDS}`,
  };
  const condition = {
    type: "AbleToScale",
    status: "False",
    ...because,
    transitionMs: NOON - 300_000,
  } as const;
  const status = {
    conditions: [condition],
    currentReplicas: 3,
    desiredReplicas: 3,
    currentMetrics: null,
  };
  const windows = { memory: { recommendations: null, scaleUps: [], scaleDowns: [] }, status };
  const evaluation = {
    kind: "hold",
    failed: true,
    because,
    metrics: [],
    steps: [],
    events: [],
    status,
  } as const;
  await storeSync(world.context, clusterName("out"), NOON - 15_000, [
    { record, windows, evaluation },
  ]);
  await storeSync(world.context, clusterName("late"), NOON - 46_000, []);
  await storeSync(world.context, clusterName("well"), NOON - 30_000, []);
  world.set(NOON);
});
afterAll(() => world.close());

const printed = (...args: readonly string[]): Promise<string> =>
  printedBy(openService(world.context), args);

const printedBy = async (service: Service, args: readonly string[]): Promise<string> => {
  const { code, out, err } = await inside(args, {
    open: async () => ({
      place: "folder here",
      service,
      nowMs: NOON,
      clock: () => NOON,
      close: async () => {},
    }),
  });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
};

it("The list of clusters tells which cannot be reached, are late or were never synced", async () => {
  expect(
    await printed("cluster", "list"),
  ).toBe(`NAME   CONNECTION   PERIOD   PARTITIONS   PAUSED   STATE          DECIDED   SYNCED
late   kubeconfig   15s      1            no       late           94.8%     46s ago
new    kubeconfig   15s      1            no       never synced   0%        never
out    kubeconfig   15s      1            no       unreachable    100%      15s ago
well   kubeconfig   15s      1            no       ok             100%      30s ago
`);
});

it("A cluster is described with the time since which it cannot be reached, and the reason", async () => {
  const [, state, error] = (await printed("cluster", "describe", "out")).split("\n");
  expect(state).toBe("State:        unreachable since 2026-03-01T11:55:00Z");
  expect(error).toBe(
    `Error:        the HPA controller was unable to get the target's current scale: ${WORDS}`,
  );
});

it("The document of a cluster has the same state", async () => {
  const view = JSON.parse(await printed("cluster", "describe", "out", "-o", "json"));
  const expected = {
    state: "unreachable",
    since: "2026-03-01T11:55:00.000Z",
    error: expect.stringContaining("ECONNREFUSED"),
  };
  expect(view).toMatchObject({ ...expected, partitions: [expected] });
});
