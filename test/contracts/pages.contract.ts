import { beforeEach, describe, expect, it } from "vitest";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import {
  deleteLeftovers,
  deletePage,
  type PageId,
  readPage,
  writePage,
} from "../../lib/stack/store/pages/pages.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { once, withFaults } from "./faults.ts";

const body = (text: string): Uint8Array => Buffer.from(text);
let places = 0;

/** What windows pages must do on every engine: be written by the latest holder alone. */
export const pagesContract = (engine: () => Engine): void => {
  describe("a windows page", () => {
    let pageId: PageId;
    let tables: Tables;
    const textNow = async (): Promise<string> =>
      Buffer.from((await readPage(tables, pageId))?.body ?? []).toString();

    beforeEach(() => {
      pageId = {
        partition: { cluster: clusterName(`page-${++places}`), partition: WHOLE_CLUSTER },
        generation: 1,
        index: 0,
      };
      tables = testTables(engine().client, engine().tables, () => 0);
    });

    it("is absent before it is written, and then says who wrote it", async () => {
      expect(await readPage(tables, pageId)).toBeUndefined();
      await writePage(tables, { id: pageId, epoch: 3, body: body("three") });
      expect(await readPage(tables, pageId)).toMatchObject({ epoch: 3 });
      expect(await textNow()).toBe("three");
    });

    it("refuses a late write of an earlier holder", async () => {
      await writePage(tables, { id: pageId, epoch: 3, body: body("three") });
      await writePage(tables, { id: pageId, epoch: 5, readEpoch: 3, body: body("five") });
      const late = writePage(tables, { id: pageId, epoch: 4, readEpoch: 3, body: body("four") });
      await expect(late).rejects.toMatchObject({
        name: "TidemarkError",
        code: "store.lease-lost",
        details: { mine: 4, found: 5 },
      });
      expect(await textNow()).toBe("five");
    });

    it("that no head names is written over by a later epoch, never by an earlier one or the same", async () => {
      await writePage(tables, { id: pageId, epoch: 3, body: body("leavings") });
      await writePage(tables, { id: pageId, epoch: 5, body: body("five") });
      await expect(
        writePage(tables, { id: pageId, epoch: 4, body: body("late") }),
      ).rejects.toMatchObject({ code: "store.lease-lost" });
      expect(await textNow()).toBe("five");
    });

    it("knows a write whose answer was lost", async () => {
      const failing = {
        ...tables,
        client: withFaults(
          engine().client,
          once({ command: "PutItemCommand", fault: "lost answer" }),
        ),
      };
      await writePage(failing, { id: pageId, epoch: 3, body: body("three") });
      expect(await textNow()).toBe("three");
    });

    it("that was deleted is not brought back by a late write", async () => {
      await writePage(tables, { id: pageId, epoch: 3, body: body("three") });
      await deletePage(tables, pageId);
      await expect(
        writePage(tables, { id: pageId, epoch: 4, readEpoch: 3, body: body("four") }),
      ).rejects.toMatchObject({ code: "store.lease-lost" });
      expect(await readPage(tables, pageId)).toBeUndefined();
    });

    it("is deleted when no head names it, unless it is of a later epoch", async () => {
      const at = (generation: number, index: number): PageId => ({ ...pageId, generation, index });
      const written: readonly (readonly [generation: number, index: number, epoch: number])[] = [
        [1, 0, 3],
        [1, 1, 3],
        [2, 0, 4],
        [2, 1, 4],
        [3, 0, 4],
        [3, 1, 6],
      ];
      for (const [generation, index, epoch] of written)
        await writePage(tables, { id: at(generation, index), epoch, body: body("x") });
      expect(
        await deleteLeftovers(tables, { partition: pageId.partition, generation: 2, count: 1 }, 5),
      ).toBe(4);
      const left = await Promise.all(
        written.map(
          async ([generation, index]) => (await readPage(tables, at(generation, index)))?.epoch,
        ),
      );
      expect(left).toEqual([undefined, undefined, 4, undefined, undefined, 6]);
      expect(
        await deleteLeftovers(tables, { partition: pageId.partition, generation: 2, count: 1 }, 5),
      ).toBe(0);
    });

    it("is written once per epoch: a second time is a programmer's mistake", async () => {
      await expect(
        writePage(tables, { id: pageId, epoch: 3, readEpoch: 3, body: body("again") }),
      ).rejects.toThrow(RangeError);
    });

    it("takes a body of the largest size that is ever written", async () => {
      await writePage(tables, { id: pageId, epoch: 3, body: new Uint8Array(390_000) });
      expect((await readPage(tables, pageId))?.body).toHaveLength(390_000);
    });
  });
};
