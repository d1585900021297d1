import { beforeEach, describe, expect, it } from "vitest";
import { clusterName, type PartitionRef, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { claim } from "../../lib/stack/store/head/claim.ts";
import { readHead, type Lease } from "../../lib/stack/store/head/head.ts";
import { adoptPages, markMoving } from "../../lib/stack/store/head/moving.ts";
import { giveBack } from "../../lib/stack/store/head/release.ts";
import { storeIntents } from "../../lib/stack/store/head/store-intents.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { bodiesOf, intent } from "../store/records.ts";
import { testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { once, withFaults } from "./faults.ts";

const LEASE_MS = 34_000;
let partitions = 0;

/** What the head must do on every engine while namespaces move between partitions. */
export const movingContract = (engine: () => Engine): void => {
  describe("a head whose namespaces move", () => {
    let partition: PartitionRef;
    let tables: Tables;
    const claimed = async (clockMs: number): Promise<Lease> => {
      const outcome = await claim(tables, {
        partition,
        dueMs: clockMs,
        clockMs,
        leaseUntilMs: clockMs + LEASE_MS,
      });
      if (outcome.kind !== "claimed") throw new Error(`it is ${outcome.kind}`);
      return { partition, epoch: outcome.head.epoch, writeNumber: outcome.head.writeNumber };
    };

    beforeEach(() => {
      partition = { cluster: clusterName(`moving-${++partitions}`), partition: WHOLE_CLUSTER };
      tables = testTables(engine().client, engine().tables, () => 0);
    });

    it("is marked with the cluster's version and a higher epoch, which ends every holder before", async () => {
      const before = await claimed(1_000);
      const marked = await markMoving(tables, before, { clusterVersion: 7, epoch: 30 });
      expect(await readHead(tables, partition)).toMatchObject({
        movingVersion: 7,
        epoch: 30,
        writeNumber: before.writeNumber + 1,
      });
      await expect(storeIntents(tables, before, bodiesOf(intent()), 1_000)).rejects.toMatchObject({
        code: "store.lease-lost",
      });
      await giveBack(tables, marked);
      // The release that it had is not the one before: no cache is trusted.
      expect(await claimed(2_000)).toMatchObject({ epoch: 31 });
      expect((await readHead(tables, partition))?.releasedEpoch).toBe(0);
    });

    it("names the pages of a new generation and keeps its lease", async () => {
      const held = await markMoving(tables, await claimed(1_000), { clusterVersion: 1, epoch: 4 });
      const adopted = await adoptPages(tables, held, { generation: 3, pages: [4, 4], nowMs: 900 });
      expect(await readHead(tables, partition)).toMatchObject({
        pageGeneration: 3,
        pages: [4, 4],
        nowMs: 900,
        leaseUntilMs: 35_000,
      });
      await expect(
        adoptPages(tables, held, { generation: 5, pages: [4], nowMs: 900 }),
      ).rejects.toMatchObject({ code: "store.lease-lost" });
      await giveBack(tables, adopted);
      expect((await readHead(tables, partition))?.pageGeneration).toBe(3);
    });

    it("takes an answer that was lost for what it was", async () => {
      const losing = {
        ...tables,
        client: withFaults(
          engine().client,
          once({ command: "UpdateItemCommand", fault: "lost answer" }),
        ),
      };
      const held = await markMoving(losing, await claimed(1_000), { clusterVersion: 7, epoch: 2 });
      expect((await readHead(tables, partition))?.writeNumber).toBe(held.writeNumber);
      expect(await adoptPages(tables, held, { generation: 1, pages: [2], nowMs: 1 })).toMatchObject(
        { writeNumber: held.writeNumber + 1 },
      );
    });

    it("refuses an epoch that falls, as a mistake", async () => {
      await claimed(1_000);
      const held = await claimed(36_000);
      await expect(markMoving(tables, held, { clusterVersion: 1, epoch: 1 })).rejects.toThrow(
        new RangeError("an epoch never falls"),
      );
    });
  });
};
