import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerUid, clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { compareShadow, shadowSample } from "../../lib/answers/service/shadow/shadow.ts";
import { wholeShadow } from "../../lib/answers/service/shadow/join-shadow.ts";
import { journalPageOf } from "../../lib/stack/store/pages/plan.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";
import { insertJournal } from "../store/insert-journal.ts";

const MINUTE_MS = 60_000;
const CLUSTER = "moved";
const BEFORE_MS = NOON - 60 * MINUTE_MS;

let world: ServiceWorld;
let service: Service;
let uid = autoscalerUid("");
beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  world.set(BEFORE_MS);
  await service.addCluster({
    name: CLUSTER,
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
  await service.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop" }) }], {
    cluster: CLUSTER,
    dryRun: false,
  });
  uid = autoscalerUid((await service.get({ cluster: CLUSTER, name: "web" })).uid);
});
afterAll(() => world.close());

const evaluation = (of: typeof uid, desiredReplicas: number): Evaluation => ({
  uid: of,
  namespace: "shop" as Evaluation["namespace"],
  name: "web" as Evaluation["name"],
  kind: "hold",
  failed: false,
  from: 4,
  because: { reason: "RivalController", message: "m" },
  metrics: [],
  steps: [],
  events: [],
  rivals: [{ kind: "HorizontalPodAutoscaler", name: "web", uid: "u-1", desiredReplicas }],
});

/** A sync each minute, in a partition with so many pages of windows. */
const journal = async (
  partition: string,
  pages: number,
  minutes: readonly [from: number, to: number],
  of = uid,
): Promise<void> => {
  const ref = { cluster: clusterName(CLUSTER), partition: partitionName(partition) };
  for (let minute = minutes[0]; minute < minutes[1]; minute++) {
    const atMs = BEFORE_MS + minute * MINUTE_MS;
    await insertJournal(world.context.insert, ref, [
      {
        atMs,
        epoch: 1,
        page: journalPageOf(uid, pages),
        evaluations: [evaluation(of, 4 + (minute % 2))],
      },
    ]);
  }
};

describe("shadow()", () => {
  it("compares also what was journaled before the pages were divided and before the namespace moved, each sync once", async () => {
    await journal("default", 1, [1, 20]);
    await journal("default", 70, [20, 40]);
    // Other autoscalers of the page go on after this one has moved.
    await journal("default", 70, [40, 44], autoscalerUid("another"));
    world.set(BEFORE_MS + 40 * MINUTE_MS);
    const connection = { kind: "kubeconfig", path: "/kube/config" } as const;
    const partitions = [{ name: "a", namespaces: ["shop"] }, { name: "default" }];
    await service.replaceCluster({ name: CLUSTER, connection, partitions });
    await journal("a", 3, [40, 60]);
    world.set(NOON);
    const compared = await service.shadow({ cluster: CLUSTER, name: "web", sinceMs: BEFORE_MS });
    expect([compared.syncs, compared.stretches.length]).toEqual([59, 59]);
    expect(compared.stretches.map(({ at }) => at)).toEqual(
      compared.stretches.map(({ at }) => at).toSorted(),
    );
  });

  it("comes in parts where the time is long, and the whole is what one comparison of all syncs gives", async () => {
    const cluster = "long";
    const startMs = NOON - 3 * 24 * 60 * MINUTE_MS;
    world.set(startMs);
    await service.addCluster({
      name: cluster,
      connection: { kind: "kubeconfig", path: "/kube/config" },
    });
    await service.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop" }) }], {
      cluster,
      dryRun: false,
    });
    const own = autoscalerUid((await service.get({ cluster, name: "web" })).uid);
    const ref = { cluster: clusterName(cluster), partition: partitionName("default") };
    // Each 4 minutes: mostly both want 4, and each of them leaves it at times, for some syncs.
    const syncs = Array.from({ length: 1_080 }, (_, at) => {
      const rival = 4 + Number(at % 37 > 30);
      return {
        atMs: startMs + at * 4 * MINUTE_MS,
        evaluation: {
          ...evaluation(own, rival),
          from: 4,
          withoutHold: { to: 4 + Number(at % 23 > 19), because: { reason: "R", message: "m" } },
        },
      };
    });
    await insertJournal(
      world.context.insert,
      ref,
      syncs.map(({ atMs, evaluation: one }) => ({
        atMs,
        epoch: 1,
        page: journalPageOf(own, 0),
        evaluations: [one],
      })),
    );
    world.set(NOON);
    const query = { cluster, name: "web", sinceMs: startMs };
    const [first, whole] = [await service.shadow(query), await wholeShadow(service, query)];
    expect(first.next).toBeDefined();
    const samples = syncs.flatMap(({ atMs, evaluation: one }) => shadowSample(atMs, one) ?? []);
    const { replicaHours, ...wanted } = compareShadow(samples, NOON, {
      periodMs: 15_000,
      fullMs: startMs + 60 * MINUTE_MS,
    });
    expect(whole).toMatchObject({
      ...wanted,
      since: new Date(startMs).toISOString(),
      until: new Date(NOON).toISOString(),
    });
    expect(whole).not.toHaveProperty("next");
    expect(whole.replicaHours.own).toBeCloseTo(replicaHours.own, 1);
    expect(whole.replicaHours.rival).toBeCloseTo(replicaHours.rival, 1);
  });

  it("knows what another partition had, also while the new one has made no sync yet", async () => {
    const compared = await service.shadow({
      cluster: CLUSTER,
      name: "web",
      sinceMs: BEFORE_MS,
      untilMs: BEFORE_MS + 39 * MINUTE_MS,
    });
    expect(compared.syncs).toBe(39);
  });
});

describe("explain() of an earlier time", () => {
  const at = (minute: number): number => BEFORE_MS + minute * MINUTE_MS;
  it.each([
    ["before the pages were divided", 10],
    ["after the pages were divided", 30],
    ["in the last minute of the partition that the namespace was in", 39],
    ["after the namespace moved", 50],
  ])("finds the evaluation from %s", async (_when, minute) => {
    const explanation = await service.explain({ cluster: CLUSTER, name: "web" }, at(minute) + 1);
    expect(explanation.decision.at).toBe(new Date(at(minute)).toISOString());
  });

  it("says that there is none from before the first sync", async () => {
    await expect(service.explain({ cluster: CLUSTER, name: "web" }, at(0))).rejects.toMatchObject({
      code: "service.not-evaluated",
    });
  });
});
