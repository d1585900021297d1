import { beforeEach, describe, expect, it } from "vitest";
import { clusterName, type PartitionRef, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import {
  deleteDerived,
  derivedItemOf,
  putIndex,
  putSummary,
  readSummary,
} from "../../lib/stack/store/summary/summary-items.ts";
import { batchGet } from "../../lib/stack/store/table/read-many.ts";
import { indexKey, summaryKey } from "../../lib/stack/store/table/keys.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { around } from "./faults.ts";

let places = 0;

/**
 * What summaries must do on every engine: be those of the latest holder, and be read many at once.
 */
export const summariesContract = (engine: () => Engine): void => {
  describe("a summary", () => {
    let partition: PartitionRef;
    let tables: Tables;
    beforeEach(() => {
      partition = { cluster: clusterName(`summary-${++places}`), partition: WHOLE_CLUSTER };
      tables = testTables(engine().client, engine().tables, () => 0);
    });
    const written = (epoch: number): Promise<boolean> =>
      putSummary(tables, partition, { epoch, body: Buffer.of(epoch) });

    it("refuses a late write of an earlier holder, and takes a repeat of the last one", async () => {
      expect(await readSummary(tables, partition)).toBeUndefined();
      expect([await written(5), await written(5), await written(4)]).toEqual([true, true, false]);
      expect(await readSummary(tables, partition)).toMatchObject({ epoch: 5 });
      expect(await written(6)).toBe(true);
    });

    it("is gone with its index when the partition ends", async () => {
      await written(5);
      await putIndex(tables, partition, { epoch: 5, body: Buffer.of(1) });
      await deleteDerived(tables, partition);
      expect(
        await batchGet(tables, "look", [summaryKey(partition), indexKey(partition)], {
          consistent: true,
        }),
      ).toEqual([undefined, undefined]);
    });

    it("is read with 249 others in three requests, in the order of the keys, those that are missing too", async () => {
      const refs = Array.from({ length: 250 }, (_, at) => ({
        cluster: clusterName(`summary-${places}-${at}`),
        partition: WHOLE_CLUSTER,
      }));
      for (const [at, ref] of refs.entries())
        if (at % 3 > 0) await putSummary(tables, ref, { epoch: at, body: Buffer.of(7) });
      let requests = 0;
      const client = around(engine().client, (_command, send) => {
        requests++;
        return send();
      });
      const read = await batchGet({ ...tables, client }, "look", refs.map(summaryKey), {
        consistent: false,
      });
      expect(read.map((item) => derivedItemOf(item)?.epoch)).toEqual(
        refs.map((_, at) => (at % 3 > 0 ? at : undefined)),
      );
      expect(requests).toBe(3);
    });
  });
};
