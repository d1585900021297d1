import type { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { beforeEach, describe, expect, it } from "vitest";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { markWoken } from "../../lib/stack/store/head/wake-mark.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { messageOf, type SyncMessage } from "../../lib/stack/plan/message.ts";
import { dueTimes } from "../../lib/stack/plan/due-times.ts";
import { type Waker, wakerOf } from "../../lib/stack/plan/wake.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { around, once, withFaults } from "./faults.ts";

const PERIOD_MS = 60_000;
let clusters = 0;

/** What wakes must do on every engine. */
export const wakesContract = (engine: () => Engine): void => {
  describe("wakes", () => {
    let cluster: Parameters<Waker>[0];
    let startMs: number;
    let nowMs: number;
    let sent: SyncMessage[];
    let requests: number;
    let tables: Tables;

    const queue = {
      client: {
        send: (async ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
          sent.push(...Entries.map(({ MessageBody = "" }) => messageOf(MessageBody)));
          return {};
        }) as never,
      },
      queueUrl: "https://queue",
      wait: async () => {},
      random: () => 0,
    };
    /** Another process. */
    const waker = (parts: Partial<Tables> = {}): Waker =>
      wakerOf({ tables: { ...tables, ...parts }, queue });
    const wakeOf = (reason = "a queue has messages") => ({ cluster: cluster.name, reason });
    const ref = () => ({ cluster: cluster.name, partition: WHOLE_CLUSTER });

    beforeEach(() => {
      cluster = {
        name: clusterName(`woken-${++clusters}`),
        partitions: [{ name: WHOLE_CLUSTER }],
        syncPeriodMs: PERIOD_MS,
      };
      const planned = { fromMs: NOON, untilMs: NOON + PERIOD_MS };
      const [dueMs = 0] = dueTimes(cluster.name, WHOLE_CLUSTER, PERIOD_MS, planned);
      startMs = dueMs + 10_000;
      nowMs = startMs;
      sent = [];
      requests = 0;
      const counted = around(engine().client, (_command, send) => {
        requests++;
        return send();
      });
      tables = testTables(counted, engine().tables, () => nowMs);
    });

    it("send one sync at once, with what it is about", async () => {
      const answer = await waker()(cluster, { ...wakeOf(), names: ["web"] });
      expect(answer).toEqual([{ kind: "sync", partition: WHOLE_CLUSTER, dueMs: startMs }]);
      expect(sent).toEqual([
        {
          ...ref(),
          dueMs: startMs,
          periodMs: PERIOD_MS,
          woken: { reason: "a queue has messages", names: ["web"] },
        },
      ]);
    });

    it("of one instant in ten processes send two syncs, five seconds apart", async () => {
      const kinds = await Promise.all(
        Array.from({ length: 10 }, async () => (await waker()(cluster, wakeOf()))[0]?.kind),
      );
      expect(kinds.filter((kind) => kind === "sync")).toHaveLength(2);
      expect(sent.map(({ dueMs }) => dueMs - startMs)).toEqual([0, 5_000]);
    });

    it("of a thousand a second for twenty seconds send a sync for each five seconds, and ask the tables twice for each", async () => {
      const wake = waker();
      for (let second = 0; second < 20; second++) {
        nowMs = startMs + second * 1_000 + 1;
        await Promise.all(Array.from({ length: 1_000 }, () => wake(cluster, wakeOf())));
      }
      expect(sent.map(({ dueMs }) => dueMs - startMs - 1)).toEqual([
        0, 5_000, 10_000, 15_000, 20_000,
      ]);
      expect(requests).toBeLessThanOrEqual(2 * sent.length);
    });

    it("find the mark of another process, and of a process that died", async () => {
      await waker()(cluster, wakeOf());
      nowMs = startMs + 1_000;
      expect(await waker()(cluster, wakeOf())).toMatchObject([
        { kind: "sync", dueMs: startMs + 5_000 },
      ]);
      expect(await waker()(cluster, wakeOf())).toMatchObject([
        { kind: "joins", dueMs: startMs + 5_000 },
      ]);
      expect(sent).toHaveLength(2);
    });

    it("take a mark whose answer was lost for their own", async () => {
      const client = withFaults(
        tables.client,
        once({ command: "UpdateItemCommand", fault: "lost answer" }),
      );
      expect(await waker({ client })(cluster, wakeOf())).toMatchObject([{ kind: "sync" }]);
      expect(sent).toHaveLength(1);
    });

    it("go on where the mark that they knew is gone", async () => {
      expect(await markWoken(tables, ref(), { dueMs: 2, beforeMs: 1 })).toEqual({ kind: "other" });
      expect(await markWoken(tables, ref(), { dueMs: 2 })).toEqual({ kind: "marked" });
      expect(await markWoken(tables, ref(), { dueMs: 3 })).toEqual({ kind: "other", dueMs: 2 });
      expect(await markWoken(tables, ref(), { dueMs: 3, beforeMs: 2 })).toEqual({ kind: "marked" });
    });

    it("bound what their senders write", async () => {
      await waker()(cluster, wakeOf(`\u001b[2J\u202e${"x".repeat(5_000)}`));
      const { reason = "" } = sent[0]?.woken ?? {};
      expect(reason).toMatch(/^\\u\{1b\}\[2J\\u\{202e\}x+…$/);
      expect(reason.length).toBeLessThanOrEqual(256);
    });
  });
};
