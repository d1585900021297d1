import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import type { AutoscalerView } from "../../lib/answers/views/autoscaler.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";
import { CPU, fillShop, recordOf } from "./world/shop.ts";
import { storeEvents, storeSync } from "./world/synced.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const ago = (seconds: number): number => NOON - seconds * 1000;
const at = (seconds: number): string => new Date(NOON + seconds * 1000).toISOString();

let world: ServiceWorld;
let service: Service;

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  await fillShop(world);
});
afterAll(() => world.close());

describe("autoscalers()", () => {
  it("lists every cluster in order of cluster, namespace and name, with a state for each", async () => {
    const all = await Array.fromAsync(service.autoscalers({}));
    expect(
      all.map(({ cluster, namespace: inside, name, state }) => [cluster, inside, name, state]),
    ).toEqual([
      ["eu-1", "infra", "web", "waiting"],
      ["eu-1", "shop", "api", "failing"],
      ["eu-1", "shop", "late", "waiting"],
      ["eu-1", "shop", "web", "limited"],
      ["us-1", "batch", "jobs", "waiting"],
    ]);
  });

  it("narrows to a cluster and a namespace", async () => {
    const names = async (filter: { cluster?: string; namespace?: string }) =>
      (await Array.fromAsync(service.autoscalers(filter))).map(({ name }) => name);
    expect(await names({ cluster: "us-1" })).toEqual(["jobs"]);
    expect(await names({ namespace: "shop" })).toEqual(["api", "late", "web"]);
    expect(await names({ namespace: "sho" })).toEqual([]);
  });
});

describe("get()", () => {
  it("shows counts, metrics, conditions and decision of the newest sync, and its age", async () => {
    expect(await service.get({ name: "shop/web" })).toMatchObject({
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      generation: 1,
      dialect: "hpa",
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 2,
      maxReplicas: 10,
      state: "limited",
      currentReplicas: 9,
      desiredReplicas: 9,
      metrics: [{ name: CPU, value: "40%", target: "60%", proposal: 6 }],
      conditions: [
        { type: "AbleToScale", status: "True", reason: "ScaleDownStabilized", since: at(-900) },
      ],
      decision: {
        at: at(-15),
        kind: "hold",
        from: 9,
        reason: "ScaleDownStabilized",
        failed: false,
      },
      lastScaleAt: at(-45),
      syncedAt: at(-15),
      ageSeconds: 15,
      createdAt: at(-3600),
      updatedBy: "ada",
    });
  });

  it("leaves out what no sync has told yet", async () => {
    const view = await service.get({ name: "jobs" });
    expect(view).toMatchObject({
      state: "waiting",
      metrics: [{ kind: "unmeasured", type: "Resource", name: "cpu resource", target: "60%" }],
      conditions: [],
    });
    for (const member of [
      "currentReplicas",
      "decision",
      "syncedAt",
      "ageSeconds",
      "lastScaleAt",
      "paused",
    ])
      expect(view).not.toHaveProperty(member);
  });

  it("says of a manifest that is no longer understood why, and that nothing is decided", async () => {
    const record = await recordOf(world.context, "late");
    await putAutoscaler(
      world.tables,
      { ...record, generation: 2, manifest: '{"kind":"Pod","apiVersion":"v1"}' },
      1,
    );
    const view = await service.get({ name: "late" });
    expect(view).toMatchObject({
      state: "invalid",
      dialect: "unknown",
      problem: expect.stringMatching(/^Cannot accept "shop\/late": kind "Pod" of "v1"/),
    });
    expect(view).not.toHaveProperty("target");
    await putAutoscaler(world.tables, { ...record, generation: 3 }, 2);
  });
});

describe("finding an autoscaler", () => {
  it("refuses a name that is in two places, and names them", async () => {
    await expect(service.get({ name: "web" })).rejects.toMatchObject({
      code: "service.ambiguous",
      message:
        'Cannot choose autoscaler "web": it is one of "eu-1/infra/web", "eu-1/shop/web"; give its namespace or cluster',
    });
    expect((await service.get({ name: "eu-1/infra/web" })).namespace).toBe("infra");
    expect((await service.get({ name: "web", namespace: "infra" })).namespace).toBe("infra");
  });

  it.each([
    [
      { name: "wbe", namespace: "shop" },
      'Cannot find autoscaler "wbe" in namespace "shop": the nearest name is "web"',
    ],
    [{ name: "jbos" }, 'Cannot find autoscaler "jbos": the nearest name is "jobs"'],
    [
      { name: "nothing-like-it" },
      'Cannot find autoscaler "nothing-like-it": no object has that name',
    ],
    [
      { name: "us-1/batch/job" },
      'Cannot find autoscaler "job" in namespace "batch" of cluster "us-1": the nearest name is "jobs"',
    ],
    [{ name: "jobs", cluster: "eu-2" }, 'Cannot find cluster "eu-2": the nearest name is "eu-1"'],
  ])("suggests the nearest name for %j", async (asked, message) => {
    await expect(service.get(asked)).rejects.toMatchObject({
      name: "TidemarkError",
      code: "service.unknown",
      message,
    });
  });

  it.each(["a/b/c/d", "/web", "shop/"])("refuses %s as a name", async (name) => {
    await expect(service.get({ name })).rejects.toMatchObject({
      code: "service.invalid",
      message: `Cannot read the name "${name}": wanted NAME, NAMESPACE/NAME or CLUSTER/NAMESPACE/NAME`,
    });
  });
});

describe("describe()", () => {
  it("adds behavior, windows and the newest events; the open run reaches the last sync", async () => {
    const view = await service.describe({ name: "shop/web" });
    expect(view.behavior).toMatchObject({
      scaleUp: { stabilizationWindowSeconds: 0 },
      scaleDown: { stabilizationWindowSeconds: 300 },
    });
    expect(view.windows.recommendations).toEqual([
      { replicas: 9, first: at(-400), last: at(-200) },
      { replicas: 6, first: at(-185), last: at(-15) },
    ]);
    expect(view.windows.stabilization).toEqual([
      { direction: "scaleUp", windowSeconds: 0 },
      { direction: "scaleDown", windowSeconds: 300, held: { replicas: 9, until: at(100) } },
    ]);
    expect(view.windows.rates[0]).toMatchObject({
      direction: "scaleUp",
      type: "Pods",
      value: 4,
      added: 3,
      events: [{ change: 3, leaves: at(15) }],
    });
    expect(view.events.map(({ from, to, outcome }) => [from, to, outcome])).toEqual([
      [2, 4, "applied"],
      [4, 6, "refused"],
      [6, 9, "applied"],
    ]);
  });
});

describe("explain()", () => {
  it("tells each metric, each step with its limit, and what would lead elsewhere", async () => {
    const explanation = await service.explain({ name: "shop/web" });
    expect(explanation).toMatchObject({
      decision: { at: at(-15), kind: "hold", from: 9 },
      ageSeconds: 15,
    });
    expect(explanation.steps).toEqual([
      { step: "propose", before: 9, after: 6 },
      {
        step: "stabilize",
        before: 6,
        after: 9,
        limit: {
          reason: "ScaleDownStabilized",
          value: 9,
          message: "9 was recommended within 300 s",
          until: at(100),
        },
      },
    ]);
    expect(explanation.otherwise).toEqual([
      `${CPU} is at 40.6% against 60% and asks for 6: from 54% it would ask for no fewer than 9`,
      `Stabilization holds 9 until ${at(100)}: then it allows 6, if the recommendations stay as they are`,
    ]);
  });

  it("goes back to the newest evaluation at or before the time asked for", async () => {
    expect((await service.explain({ name: "shop/web" }, ago(16))).decision).toMatchObject({
      at: at(-60),
      reason: "Earlier",
    });
    expect((await service.explain({ name: "shop/web" }, ago(15))).decision.at).toBe(at(-15));
    await expect(service.explain({ name: "shop/web" }, ago(-3_600))).rejects.toMatchObject({
      code: "service.invalid",
      message: `Cannot explain "shop/web" at ${at(3_600)}: that is a future time; it is now ${at(0)}`,
    });
    await expect(service.explain({ name: "shop/web" }, ago(61))).rejects.toMatchObject({
      code: "service.not-evaluated",
      message: `Cannot explain "shop/web" in cluster "eu-1" at ${at(-61)}: no sync has evaluated it by then, or its journal has expired`,
    });
  });

  it("says that a failed metric stops every decision", async () => {
    expect((await service.explain({ name: "api" })).otherwise).toEqual([
      `No decision is possible until a metric can be read: ${CPU}`,
    ]);
  });

  it("says that no sync has evaluated it yet", async () => {
    await expect(service.explain({ name: "jobs" })).rejects.toMatchObject({
      code: "service.not-evaluated",
      message: 'Cannot explain "batch/jobs" in cluster "us-1": no sync has evaluated it yet',
    });
  });
});

describe("events()", () => {
  const listed = async (query: Parameters<Service["events"]>[0]) =>
    (await Array.fromAsync(service.events(query))).map(
      ({ name, from, to }) => `${name} ${from}>${to}`,
    );

  it("gives those of one autoscaler, oldest first", async () => {
    expect(await listed({ name: "shop/web" })).toEqual(["web 2>4", "web 4>6", "web 6>9"]);
  });

  it("gives those of all clusters in one order of time", async () => {
    expect(await listed({ sinceMs: ago(7200) })).toEqual([
      "web 2>4",
      "web 4>6",
      "jobs 1>2",
      "web 6>9",
    ]);
    expect(await listed({ sinceMs: ago(7200), cluster: "us-1" })).toEqual(["jobs 1>2"]);
    expect(await listed({ sinceMs: ago(7200), namespace: "shop" })).toEqual([
      "web 2>4",
      "web 4>6",
      "web 6>9",
    ]);
  });

  it.each([
    ["just inside", 46, ["web 6>9"]],
    ["at its instant", 45, ["web 6>9"]],
    ["after it", 44, []],
  ])("counts an event %s of --since", async (_where, seconds, expected) => {
    expect(await listed({ name: "shop/web", sinceMs: ago(seconds) })).toEqual(expected);
  });

  it("are complete: id, times, counts, reason, outcome and what the server said", async () => {
    expect((await Array.fromAsync(service.events({ name: "shop/web" })))[1]).toEqual({
      id: `${(await recordOf(world.context, "web")).uid}:2`,
      at: at(-3000),
      settledAt: new Date(ago(3000) + 40).toISOString(),
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      from: 4,
      to: 6,
      reason: "ScaleUp",
      message: `${CPU} above target`,
      outcome: "refused",
      detail: "the server said: forbidden",
      partition: "default",
      uid: (await recordOf(world.context, "web")).uid,
      specGeneration: 1,
      metrics: [],
      steps: [],
    });
  });

  it("outlive their autoscaler", async () => {
    await service.apply([{ file: "a.yaml", text: hpa("gone", { namespace: "shop" }) }], {
      cluster: "eu-1",
      dryRun: false,
    });
    await storeEvents(world.context.insert, await recordOf(world.context, "gone"), NOON, [
      [10, 2, 3],
    ]);
    await service.delete({ name: "gone" });
    expect(await listed({ name: "gone" })).toEqual(["gone 2>3"]);
    expect(await listed({ name: "shop/gone" })).toEqual(["gone 2>3"]);
    await expect(listed({ name: "gon" })).rejects.toMatchObject({ code: "service.unknown" });
  });
});

describe("the state of an autoscaler", () => {
  const evaluated = async (more: Partial<Evaluation>, syncedAgo = 5): Promise<AutoscalerView> => {
    const record = await recordOf(world.context, "late");
    const evaluation = {
      kind: "hold",
      failed: false,
      from: 4,
      because: { reason: "r", message: "m" },
      metrics: [],
      steps: [],
      events: [],
      ...more,
    } as const;
    syncs += 10;
    world.set(NOON + syncs * 1000);
    await storeSync(world.context, record.cluster, NOON + (syncs - syncedAgo) * 1000, [
      { record, windows: NEW_WINDOWS, evaluation },
    ]);
    return service.get({ name: "late" });
  };
  let syncs = 0;
  const status = { conditions: [], currentReplicas: 4, desiredReplicas: 7, currentMetrics: null };

  it.each<[Partial<Evaluation>, string]>([
    [{ steps: [{ step: "propose", before: 4, after: 4 }] }, "active"],
    [
      {
        steps: [
          {
            step: "limit",
            before: 9,
            after: 4,
            limit: { reason: "TooManyReplicas", value: 4, message: "x" },
          },
        ],
      },
      "limited",
    ],
    [
      {
        steps: [{ step: "propose", before: 4, after: 6 }],
        because: { reason: "RivalController", message: "x" },
      },
      "shadow",
    ],
    [{ failed: true, because: { reason: "UnreadableWindows", message: "x" } }, "failing"],
    [{ failed: true, because: { reason: "AutoscalerPaused", message: "x" } }, "waiting"],
  ])("after %j is %s", async (evaluation, state) => {
    expect((await evaluated(evaluation)).state).toBe(state);
  });

  it("shows the count of the newest evaluation, whatever the page kept", async () => {
    expect(await evaluated({ status: { ...status, desiredReplicas: 4 } })).toMatchObject({
      currentReplicas: 4,
      desiredReplicas: 4,
    });
    expect(await evaluated({ kind: "scale", to: 7, status })).toMatchObject({
      currentReplicas: 4,
      desiredReplicas: 7,
    });
  });

  it("says of a held one what holds it, first", async () => {
    await evaluated({
      steps: [{ step: "propose", before: 4, after: 6 }],
      because: { reason: "RivalController", message: 'the workload is also scaled by HPA "late"' },
    });
    expect((await service.explain({ name: "late" })).otherwise).toEqual([
      'Held because the workload is also scaled by HPA "late"; without this hold the count would be 6',
    ]);
  });
});
