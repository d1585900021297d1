import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { autoscalerName, clusterName, namespace } from "../../lib/rules/model/ids.ts";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import {
  getAutoscaler,
  lastGeneration,
  putAutoscaler,
} from "../../lib/stack/store/records/autoscalers.ts";
import { getCluster } from "../../lib/stack/store/records/clusters.ts";
import { startMemory } from "../contracts/engines.ts";
import { around, isDeletion, type TableClient } from "../contracts/faults.ts";
import { testTables } from "../sync/world.ts";
import { hpa } from "./world/manifests.ts";
import { runs } from "../runs.ts";

const NAME = "eu-1";
const CONNECTION = { kind: "kubeconfig", path: "none" } as const;
const SOURCE = { file: "web.yaml", text: hpa("web", { namespace: "shop" }) };
const REF = {
  cluster: clusterName(NAME),
  namespace: namespace("shop"),
  name: autoscalerName("web"),
};

class Died extends Error {}

const newContexts = async () => {
  const engine = await startMemory();
  let uids = 0;
  const context = (client: TableClient, by: string): ServiceContext => {
    const tables = testTables(client, engine.tables, () => 0);
    return {
      tables,
      insert: insertByStatement(tables),
      clock: () => 0,
      by,
      newUid: () => `uid-${++uids}`,
    };
  };
  const plain = context(engine.client, "eve");
  await openService(plain).addCluster({ name: NAME, connection: CONNECTION });
  return { client: engine.client, context, plain };
};

/** Calls to the tables that wait for their turn. */
const scheduled = (client: TableClient, scheduler: fc.Scheduler, who: string): TableClient =>
  around(client, async (command, send) => {
    await scheduler.schedule(Promise.resolve(), `${who}: ${command}`);
    return send();
  });

/**
 * Tables of a process that dies when it is about to delete a record: no later call of it arrives
 * either.
 */
const diesAtDeletion = (client: TableClient): TableClient => {
  let died = false;
  return around(client, async (_command, send, input) => {
    died ||= isDeletion(input);
    if (died) throw new Died();
    return send();
  });
};

const applied = (context: ServiceContext) =>
  openService(context).apply([SOURCE], { cluster: NAME, dryRun: false });

const outcomeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => {
      if (typeof error === "object" && error !== null && "code" in error) return String(error.code);
      throw error;
    },
  );

describe("a cluster that is removed while something is applied to it", () => {
  it("never goes from under an autoscaler whose apply succeeded, and never leaves one behind", async () => {
    const seen = new Set<string>();
    const play = async (scheduler: fc.Scheduler): Promise<void> => {
      const { client, context, plain } = await newContexts();
      const outcomes = await scheduler.waitFor(
        Promise.all([
          outcomeOf(applied(context(scheduled(client, scheduler, "apply"), "ada"))),
          outcomeOf(applied(context(scheduled(client, scheduler, "apply too"), "bob"))),
          outcomeOf(
            openService(context(scheduled(client, scheduler, "remove"), "grace")).removeCluster(
              NAME,
            ),
          ),
        ]),
      );
      const [cluster, record] = [
        await getCluster(plain.tables, REF.cluster),
        await getAutoscaler(plain.tables, REF),
      ];
      const succeeded = outcomes[0] === "done" || outcomes[1] === "done";
      expect(cluster === undefined, String(outcomes)).toBe(outcomes[2] === "done");
      if (succeeded || !cluster) expect(record !== undefined, String(outcomes)).toBe(succeeded);
      // One that waited for a removal in vain says so, and what it stored is there.
      else if (record) expect(outcomes.slice(0, 2), String(outcomes)).toContain("service.conflict");
      // No cluster is left half removed.
      expect(cluster?.removing).toBeUndefined();
      seen.add(`${succeeded ? "applied" : "refused"}, ${outcomes[2]}`);
    };
    await fc.assert(fc.asyncProperty(fc.scheduler(), play), runs(50));
    expect([...seen]).toEqual(expect.arrayContaining(["applied, service.in-use", "refused, done"]));
  });

  /**
   * A removal that died at its nth call, before or after it took effect; false once there is no
   * such call.
   */
  const diesAt = async (dieAt: number, after: boolean): Promise<boolean> => {
    const { client, context, plain } = await newContexts();
    let calls = 0;
    const dying = around(client, async (_command, send) => {
      const nth = ++calls;
      if (nth < dieAt) return send();
      if (nth === dieAt && after) await send();
      throw new Died();
    });
    const removal = openService(context(dying, "grace")).removeCluster(NAME);
    const ended = await removal.then(
      () => true,
      () => false,
    );
    await goesOn(plain, `died at call ${dieAt}`);
    return !ended;
  };

  /**
   * Whatever a dead removal left: nothing is half there, and it ends by an edit or by being done
   * again.
   */
  const goesOn = async (plain: ServiceContext, words: string): Promise<void> => {
    const service = openService(plain);
    const left = await getCluster(plain.tables, REF.cluster);
    if (!left)
      return expect(await outcomeOf(applied(plain)), words).toMatch(
        /^service\.(unknown|invalid)$/,
      ) as undefined;
    if (left.removing) {
      expect(await outcomeOf(applied(plain)), words).toBe("service.conflict");
      await service.resumeCluster(NAME);
    }
    expect(await outcomeOf(applied(plain)), words).toBe("done");
    await service.delete({ name: "web" });
    await service.removeCluster(NAME);
    expect(await getCluster(plain.tables, REF.cluster), words).toBeUndefined();
  };

  it.each([false, true])(
    "is never half removed, wherever the removal dies, after the call took effect: %s",
    async (after) => {
      let died = 0;
      while (await diesAt(died + 1, after)) died++;
      expect(died).toBeGreaterThan(5);
    },
  );

  it("is removed by a repeated call where the first one died", async () => {
    const { client, context, plain } = await newContexts();
    const stalled = diesAtDeletion(client);
    await expect(openService(context(stalled, "grace")).removeCluster(NAME)).rejects.toThrow(Died);
    await openService(plain).removeCluster(NAME);
    expect(await getCluster(plain.tables, REF.cluster)).toBeUndefined();
  });

  it("says who is removing it", async () => {
    const { client, context, plain } = await newContexts();
    const stalled = diesAtDeletion(client);
    await expect(openService(context(stalled, "grace")).removeCluster(NAME)).rejects.toThrow(Died);
    expect((await openService(plain).cluster(NAME)).removing).toEqual({
      by: "grace",
      at: "1970-01-01T00:00:00.000Z",
    });
    await expect(applied(plain)).rejects.toMatchObject({
      name: "TidemarkError",
      code: "service.conflict",
      message:
        'Cannot apply: cluster "eu-1" is being removed by grace; run tidemark cluster remove again to finish, or cluster resume to keep it',
    });
  });

  it("is not ended by an override of the cluster or a namespace: the removal can still be finished", async () => {
    const { client, context, plain } = await newContexts();
    const stalled = diesAtDeletion(client);
    await expect(openService(context(stalled, "grace")).removeCluster(NAME)).rejects.toThrow(Died);
    const wanted = { min: 3, untilMs: 3_600_000, reason: "TV spot" };
    for (const place of [{ cluster: NAME }, { cluster: NAME, namespace: "shop" }])
      await expect(openService(plain).setOverride({ ...place, ...wanted })).rejects.toMatchObject({
        code: "service.conflict",
        message: expect.stringContaining('cluster "eu-1" is being removed by grace'),
      });
    expect((await openService(plain).cluster(NAME)).removing).toMatchObject({ by: "grace" });
    await openService(plain).removeCluster(NAME);
    expect(await getCluster(plain.tables, REF.cluster)).toBeUndefined();
  });

  it("is reported as gone to an edit that stored something meanwhile, and the record of both edits is kept", async () => {
    const { client, context, plain } = await newContexts();
    const late = around(client, async (command, send) => {
      const item = command === "PutItemCommand" && (await getCluster(plain.tables, REF.cluster));
      const first = item && (await getAutoscaler(plain.tables, REF)) === undefined;
      const answer = first ? await openService(plain).removeCluster(NAME).then(send) : await send();
      return answer;
    });
    await expect(applied(context(late, "ada"))).rejects.toMatchObject({
      code: "service.unknown",
      message: 'Cannot apply: cluster "eu-1" was removed in the meantime',
    });
    expect(await getAutoscaler(plain.tables, REF)).toBeUndefined();
  });

  const other = { ...SOURCE, text: hpa("web", { namespace: "shop", max: 7 }) };
  it.each([
    ["another manifest", other, '"maxReplicas":7'],
    ["the same manifest", SOURCE, '"maxReplicas":10'],
  ])(
    "keeps what others applied since the cluster was added again, %s, though an older apply takes back its own",
    async (_, source, kept) => {
      const { client, context, plain } = await newContexts();
      let looks = 0;
      const late = around(client, async (command, send) => {
        const there = await getCluster(plain.tables, REF.cluster);
        const record = await getAutoscaler(plain.tables, REF);
        if (command === "PutItemCommand" && there && !record && looks === 0)
          await openService(plain).removeCluster(NAME);
        const answer = await send();
        // To raise its spec version, and to see whether it stayed: now it knows that the cluster is
        // gone, and stands still.
        if (command === "GetItemCommand" && !there && record && ++looks === 2) {
          await openService(plain).addCluster({ name: NAME, connection: CONNECTION });
          await openService(plain).apply([source], { cluster: NAME, dryRun: false });
        }
        return answer;
      });
      await expect(applied(context(late, "ada"))).rejects.toMatchObject({
        code: "service.unknown",
      });
      expect((await getAutoscaler(plain.tables, REF))?.manifest).toContain(kept);
    },
  );

  it("refuses an apply during which the cluster was removed and added again, and one more apply is of the new cluster", async () => {
    const { client, context, plain } = await newContexts();
    const late = around(client, async (command, send) => {
      if (command === "PutItemCommand" && !(await getAutoscaler(plain.tables, REF))) {
        await openService(plain).removeCluster(NAME);
        await openService(plain).addCluster({ name: NAME, connection: CONNECTION });
      }
      return send();
    });
    await expect(applied(context(late, "ada"))).rejects.toMatchObject({
      code: "service.conflict",
      message:
        'Cannot apply: cluster "eu-1" was removed and added again in the meantime; check that it is the one that you mean, and apply again',
    });
    const now = await getCluster(plain.tables, REF.cluster);
    const left = await getAutoscaler(plain.tables, REF);
    expect(left?.clusterUid).not.toBe(now?.uid);
    expect(await applied(plain)).toMatchObject([{ outcome: "configured" }]);
    const after = await getAutoscaler(plain.tables, REF);
    expect(after?.clusterUid).toBe(now?.uid);
    // Its windows went with the earlier cluster, so it is another autoscaler.
    expect(after?.uid).not.toBe(left?.uid);
    expect(await applied(plain)).toMatchObject([{ outcome: "unchanged" }]);
  });

  it("leaves what others applied to the cluster that was added again, where an apply to the earlier one stood still", async () => {
    const { client, context, plain } = await newContexts();
    let isOver = false;
    const late = around(client, async (_command, send) => {
      const answer = await send();
      // It has read its cluster, and stands still before it reads the record.
      if (!isOver) {
        isOver = true;
        await openService(plain).removeCluster(NAME);
        await openService(plain).addCluster({ name: NAME, connection: CONNECTION });
        await openService(plain).apply([other], { cluster: NAME, dryRun: false });
      }
      return answer;
    });
    await expect(applied(context(late, "ada"))).rejects.toMatchObject({ code: "service.conflict" });
    const now = await getCluster(plain.tables, REF.cluster);
    const stays = {
      generation: 1,
      clusterUid: now?.uid,
      manifest: expect.stringContaining('"maxReplicas":7'),
    };
    expect(await getAutoscaler(plain.tables, REF)).toMatchObject(stays);
  });

  it("is planned from the instant at which the cluster added again was stored, however long the add took before", async () => {
    const { client, context, plain } = await newContexts();
    await openService(plain).removeCluster(NAME);
    let nowMs = 0;
    let puts = 0;
    const slow = around(client, (command, send) => {
      nowMs += 1_000;
      // The first put is that of the connection, the second that of the cluster.
      return command === "PutItemCommand" && ++puts === 2
        ? send().finally(() => (nowMs += 60_000))
        : send();
    });
    await openService({ ...context(slow, "ada"), clock: () => nowMs }).addCluster({
      name: NAME,
      connection: CONNECTION,
    });
    const { plannedFromMs = 0 } = (await getCluster(plain.tables, REF.cluster)) ?? {};
    expect(plannedFromMs).toBeGreaterThan(2_000);
    expect(plannedFromMs).toBeLessThan(60_000);
  });

  it("takes back an edit, too, of what another apply created meanwhile", async () => {
    const { client, context, plain } = await newContexts();
    await applied(plain);
    const late = around(client, async (command, send) => {
      if (command !== "PutItemCommand" || !(await getCluster(plain.tables, REF.cluster)))
        return send();
      // As a removal leaves it that listed the autoscalers before the first apply stored its own.
      const record = await getAutoscaler(plain.tables, REF);
      if (record) {
        await openService(plain).delete({ name: "web" });
        await openService(plain).removeCluster(NAME);
        await putAutoscaler(
          plain.tables,
          { ...record, generation: (await lastGeneration(plain.tables, REF)) + 1 },
          undefined,
        );
      }
      return send();
    });
    await expect(
      openService(context(late, "ada")).apply([other], { cluster: NAME, dryRun: false }),
    ).rejects.toMatchObject({
      code: "service.unknown",
    });
    expect(await getAutoscaler(plain.tables, REF)).toBeUndefined();
  });
});
