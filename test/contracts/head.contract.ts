import { beforeEach, describe, expect, it } from "vitest";
import {
  autoscalerUid,
  clusterName,
  type PartitionRef,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { claim } from "../../lib/stack/store/head/claim.ts";
import { type Head, readHead, type Lease } from "../../lib/stack/store/head/head.ts";
import {
  bytesOf,
  entryBytes,
  HEAD_ENTRIES_BYTES_MAX,
  intentBodies,
} from "../../lib/stack/store/head/intent-codec.ts";
import { lowerTimes } from "../../lib/stack/store/head/repair-head.ts";
import { giveBack, type Release, release } from "../../lib/stack/store/head/release.ts";
import { storeIntents } from "../../lib/stack/store/head/store-intents.ts";
import { NO_TROUBLES } from "../../lib/stack/store/head/troubles.ts";
import { raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { bodiesOf, intent } from "../store/records.ts";
import { testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { once, type Planted, withFaults } from "./faults.ts";
import type { UncountedScale } from "../../lib/rules/model/scale-records.ts";

const LEASE_MS = 34_000;
let partitions = 0;

/** As many entries as a head may hold; worked out once for all engines. */
let full: ReadonlyMap<string, Uint8Array> | undefined;
const fullHead = (): ReadonlyMap<string, Uint8Array> => {
  if (full) return full;
  const long = {
    reason: "Long",
    message: Array.from({ length: 400 }, (_, index) =>
      String.fromCharCode(97 + ((index * 7919) % 26)),
    ).join(""),
  };
  const all = Array.from({ length: 3_000 }, (_, index) =>
    intent({
      id: `0b0cf6ee-57de-4a07-8d6e-7d3f5ff3${String(index).padStart(4, "0")}:1`,
      because: long,
    }),
  );
  const bodies = new Map<string, Uint8Array>();
  let bytes = 0;
  for (const [id, body] of bodiesOf(...all)) {
    if (bytes + entryBytes(id, body) > HEAD_ENTRIES_BYTES_MAX) continue;
    bodies.set(id, body);
    bytes += entryBytes(id, body);
  }
  expect(bytesOf(bodies)).toBe(bytes);
  full = bodies;
  return bodies;
};

/** What the head must do on every engine: fence, lease, tokens. */
export const headContract = (engine: () => Engine): void => {
  describe("the head", () => {
    let partition: PartitionRef;
    let tables: Tables;
    const at = (clockMs: number, dueMs = clockMs) => ({
      partition,
      dueMs,
      clockMs,
      leaseUntilMs: clockMs + LEASE_MS,
    });
    const claimed = async (
      clockMs: number,
      by = tables,
    ): Promise<Lease & { readonly head: Head }> => {
      const outcome = await claim(by, at(clockMs));
      if (outcome.kind !== "claimed") throw new Error(`it is ${outcome.kind}`);
      return {
        partition,
        epoch: outcome.head.epoch,
        writeNumber: outcome.head.writeNumber,
        head: outcome.head,
      };
    };
    const closing = (parts: Partial<Release>): Release => ({
      dueMs: 0,
      nowMs: 0,
      evaluatedMs: 0,
      pageGeneration: 0,
      pages: [],
      intents: bodiesOf(),
      troubles: NO_TROUBLES,
      ...parts,
    });
    const failing = (...planted: readonly Planted[]): Tables => ({
      ...tables,
      client: withFaults(engine().client, once(...planted)),
    });

    beforeEach(() => {
      partition = { cluster: clusterName(`head-${++partitions}`), partition: WHOLE_CLUSTER };
      tables = testTables(engine().client, engine().tables, () => 0);
    });

    it("is claimed once at a time, and again when it was given back or the lease ran out", async () => {
      expect(await claim(tables, at(1_000))).toMatchObject({
        kind: "claimed",
        head: { epoch: 1, releasedEpoch: 0, intents: [], pages: [] },
      });
      expect(await claim(tables, at(16_000))).toEqual({ kind: "held", untilMs: 35_000 });
      expect(await claim(tables, at(35_000))).toEqual({ kind: "held", untilMs: 35_000 });
      expect(await claim(tables, at(35_001))).toMatchObject({
        kind: "claimed",
        head: { epoch: 2 },
      });
    });

    it("refuses a due time that is done, and every earlier one", async () => {
      const held = await claimed(20_000);
      await release(tables, held, closing({ dueMs: 20_000, nowMs: 20_010, evaluatedMs: 20_010 }));
      expect(await claim(tables, at(20_020, 20_000))).toEqual({ kind: "done" });
      expect(await claim(tables, at(20_020, 5_000))).toEqual({ kind: "done" });
      expect(await claim(tables, at(20_020, 35_000))).toMatchObject({
        kind: "claimed",
        head: { epoch: 2, releasedEpoch: 1, dueDoneMs: 20_000 },
      });
    });

    it("is refused to code that does not know the rules of the code that claimed it last", async () => {
      expect(await claim(tables, { ...at(1_000), protocol: 3 })).toMatchObject({
        kind: "claimed",
        head: { protocol: 3 },
      });
      expect(await claim(tables, at(90_000))).toEqual({ kind: "newer", protocol: 3 });
      expect(await claim(tables, { ...at(90_000), protocol: 4 })).toMatchObject({
        kind: "claimed",
        head: { epoch: 2, protocol: 4 },
      });
    });

    it("is claimed by one of many claimers of the same due time", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, () => claim(tables, at(1_000))),
      );
      expect(outcomes.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
      expect(outcomes.filter(({ kind }) => kind === "held")).toHaveLength(11);
    });

    it("knows a claim whose answer was lost by its token", async () => {
      const outcome = await claim(
        failing({ command: "UpdateItemCommand", fault: "lost answer" }),
        at(1_000),
      );
      expect(outcome).toMatchObject({ kind: "claimed", head: { epoch: 1, writeNumber: 1 } });
    });

    it("sends a claim again that was throttled, lost on its way, or met a server error", async () => {
      const planted = (["throttled", "lost request", "server error"] as const).map((fault) => ({
        command: "UpdateItemCommand",
        fault,
      }));
      expect(await claim(failing(...planted), at(1_000))).toMatchObject({
        kind: "claimed",
        head: { epoch: 1 },
      });
    });

    it("stores an intent under the holder's epoch and last write, and shows it to the next holder", async () => {
      const held = await claimed(1_000);
      const after = await storeIntents(
        tables,
        held,
        bodiesOf(intent(), intent({ id: "uid-api:1" })),
        1_500,
      );
      expect(after.writeNumber).toBe(2);
      expect(await claimed(40_000)).toMatchObject({
        epoch: 2,
        head: { nowMs: 1_500, intents: expect.toSatisfy((all) => all.length === 2) },
      });
    });

    it("refuses the intents of a holder that lost the lease", async () => {
      const [one, other] = [await claimed(1_000), await claimed(40_000)];
      await expect(storeIntents(tables, one, bodiesOf(intent()), 1_500)).rejects.toMatchObject({
        name: "TidemarkError",
        code: "store.lease-lost",
        message: `Cannot store intents of "${partition.cluster}/default": epoch is 2, not 1`,
      });
      expect((await readHead(tables, partition))?.intents).toEqual([]);
      await storeIntents(tables, other, bodiesOf(intent()), 40_500);
    });

    it("refuses an intent under a write that is not the last, and stores a repeated one once", async () => {
      const held = await claimed(1_000);
      const after = await storeIntents(
        failing({ command: "UpdateItemCommand", fault: "lost answer" }),
        held,
        bodiesOf(intent()),
        1_500,
      );
      expect(after.writeNumber).toBe(2);
      expect(await readHead(tables, partition)).toMatchObject({
        writeNumber: 2,
        intents: [{ id: "uid-web:5" }],
      });
      await expect(
        storeIntents(tables, held, bodiesOf(intent({ id: "uid-api:1" })), 1_600),
      ).rejects.toMatchObject({ code: "store.lease-lost" });
      expect((await readHead(tables, partition))?.intents).toHaveLength(1);
    });

    it("is released in one update: intents cleared but those that stay, pages named, due time done", async () => {
      const held = await storeIntents(
        tables,
        await claimed(1_000),
        bodiesOf(intent(), intent({ id: "uid-api:1" })),
        1_500,
      );
      const open = intent({ id: "uid-api:1" });
      const ending = closing({
        dueMs: 1_000,
        nowMs: 1_500,
        evaluatedMs: 1_500,
        pageGeneration: 1,
        pages: [1, 1],
        intents: bodiesOf(open),
      });
      await release(failing({ command: "UpdateItemCommand", fault: "lost answer" }), held, ending);
      expect(await readHead(tables, partition)).toMatchObject({
        epoch: 1,
        releasedEpoch: 1,
        leaseUntilMs: 0,
        dueDoneMs: 1_000,
        evaluatedMs: 1_500,
        pageGeneration: 1,
        pages: [1, 1],
        intents: [open],
        writeNumber: 3,
      });
    });

    it("refuses the release of a holder that lost the lease", async () => {
      const held = await claimed(1_000);
      await claimed(40_000);
      await expect(release(tables, held, closing({ dueMs: 1_000 }))).rejects.toMatchObject({
        code: "store.lease-lost",
      });
      expect(await readHead(tables, partition)).toMatchObject({
        epoch: 2,
        releasedEpoch: 0,
        dueDoneMs: 0,
      });
    });

    it("lowers its times only under the holder's epoch and last write", async () => {
      const times = { nowMs: 500, evaluatedMs: 500, dueDoneMs: 500 };
      await release(
        tables,
        await claimed(1_000),
        closing({ dueMs: 1_000, nowMs: 1_500, evaluatedMs: 1_500 }),
      );
      const held = await claimed(40_000);
      expect(await lowerTimes(tables, held, times)).toMatchObject({
        writeNumber: held.writeNumber + 1,
      });
      expect(await readHead(tables, partition)).toMatchObject(times);
      // The copy that comes late finds that the holder has written since.
      await expect(lowerTimes(tables, held, { ...times, nowMs: 100 })).rejects.toMatchObject({
        code: "store.lease-lost",
      });
      await claimed(90_000);
      await expect(
        lowerTimes(
          tables,
          { ...held, writeNumber: held.writeNumber + 1 },
          { ...times, nowMs: 100 },
        ),
      ).rejects.toMatchObject({
        code: "store.lease-lost",
      });
      expect(await readHead(tables, partition)).toMatchObject(times);
    });

    it("is claimed at once, and unclean, when it was given back", async () => {
      await giveBack(tables, await claimed(1_000));
      expect(await claim(tables, at(1_001, 1_000))).toMatchObject({
        kind: "claimed",
        head: { epoch: 2, releasedEpoch: 0 },
      });
    });

    it("takes a rise of the spec version at any time, without disturbing its holder", async () => {
      await raiseSpecVersion(tables, partition);
      const held = await claimed(1_000);
      expect(held.head.specVersion).toBe(1);
      await raiseSpecVersion(tables, partition);
      await release(tables, held, closing({ dueMs: 1_000 }));
      expect(await readHead(tables, partition)).toMatchObject({ specVersion: 2, releasedEpoch: 1 });
    });

    it("keeps intents that cannot be read, and says so", async () => {
      const held = await claimed(1_000);
      const body = Buffer.of(99, 1, 2);
      await release(
        tables,
        held,
        closing({ dueMs: 1_000, intents: new Map([["uid-web:1", body]]) }),
      );
      const next = await claimed(16_000);
      expect(next.head).toMatchObject({ intents: [], unreadable: [{ id: "uid-web:1" }] });
      expect(Buffer.compare(Buffer.from(next.head.unreadable[0]?.body ?? []), body)).toBe(0);
    });

    it("keeps settled scales apart from open intents until a page counts them", async () => {
      const scale: UncountedScale = {
        id: "uid-web:1",
        uid: autoscalerUid("uid-web"),
        from: 2,
        to: 5,
        outcome: "unknown",
        decidedMs: 1_000,
        settledMs: 1_700,
        recommendation: 6,
      };
      const { recommendation: _none, ...bare } = {
        ...scale,
        id: "uid-db:1",
        uid: autoscalerUid("uid-db"),
        outcome: "refused" as const,
      };
      const open = intent({ id: "uid-api:1" });
      await storeIntents(
        tables,
        await claimed(1_000),
        intentBodies({ intents: [open], uncounted: [scale, bare], unreadable: [] }),
        1_500,
      );
      const { head } = await claimed(40_000);
      expect(head.intents).toEqual([open]);
      expect(head.uncounted).toEqual(
        expect.toSatisfy((all: readonly UncountedScale[]) => all.length === 2),
      );
      expect(head.uncounted.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual([
        bare,
        scale,
      ]);
    });

    it("says of a settled scale whose body is damaged that it cannot be read", async () => {
      const damaged = new Map([["uid-web:1", Buffer.of(2, 0x5b, 0x31)]]);
      await storeIntents(tables, await claimed(1_000), damaged, 1_500);
      expect((await claimed(40_000)).head).toMatchObject({
        intents: [],
        uncounted: [],
        unreadable: [{ id: "uid-web:1" }],
      });
    });

    it("holds as many intents as it ever may, in one item and one update", async () => {
      const bodies = fullHead();
      expect(bodies.size).toBeGreaterThan(800);
      const held = await storeIntents(tables, await claimed(1_000), bodies, 1_500);
      await release(tables, held, closing({ dueMs: 1_000, intents: bodies }));
      expect((await readHead(tables, partition))?.intents).toHaveLength(bodies.size);
    });
  });
};
