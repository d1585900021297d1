import { type AttributeValue, DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { moveByItself } from "../../../lib/answers/service/clusters/move-fleet.ts";
import { openService } from "../../../lib/answers/service/open.ts";
import { rememberTables } from "../../../lib/answers/service/clusters/fleet.ts";
import type { ServiceContext } from "../../../lib/answers/service/context.ts";
import { present } from "../../../lib/rules/model/json.ts";
import { MINUTE_MS, SECOND_MS } from "../../../lib/rules/model/time-text.ts";
import { messageOf, type SyncMessage } from "../../../lib/stack/plan/message.ts";
import { type Waker, wakerOf } from "../../../lib/stack/plan/wake.ts";
import { planSyncs } from "../../../lib/stack/plan/schedule.ts";
import type { PlanReport, TakeReport } from "../../../lib/stack/report/function-lines.ts";
import type { SyncReport } from "../../../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import type { Witness } from "../../../lib/stack/store/records/fleet-leases.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import { warmCache } from "../../../lib/stack/sync/load/warm-cache.ts";
import { sync } from "../../../lib/stack/sync/sync.ts";
import type { TableClient } from "../../contracts/faults.ts";
import { memoryTables } from "../../contracts/memory-engine.ts";
import { type Damaged, newDamaged } from "./damaged.ts";

type Item = Record<string, AttributeValue>;
const NAMES = ["eu-1", "eu-2"] as const;
type Name = (typeof NAMES)[number];

const keyOf = (item: Item): Item => ({ pk: item["pk"] ?? { S: "" }, sk: item["sk"] ?? { S: "" } });

/** One written item, as it was after the write. */
interface Written {
  readonly region: Name;
  readonly table: string;
  readonly key: Item;
  readonly item: Item | undefined;
}

export interface Region {
  readonly name: string;
  readonly tables: Tables;
  /** False: nothing of the region answers, and nothing in it runs. */
  isUp: boolean;
  /** Writes that began in it, since the start. */
  readonly writes: () => number;
  readonly service: () => ReturnType<typeof openService>;
  /** A call of its scheduler; undefined where it is down. */
  readonly plan: () => Promise<PlanReport | undefined>;
  /** A call of the schedule that looks at the leases; undefined where there is none. */
  readonly look: () => Promise<TakeReport | undefined>;
  readonly waker: () => Waker;
  /** Syncs every message that is due. */
  readonly work: () => Promise<readonly SyncReport[]>;
  readonly syncOf: (message: Partial<SyncMessage>) => Promise<SyncReport>;
  readonly queue: SyncMessage[];
}

/**
 * Two stacks on the replicas of one pair of tables, and one cluster that both reach. As in a global
 * table a write is conditional in its own region only, comes to the other one later, and of two
 * writes of one item the later one stays. With `afterMs` both keep leases, the witness of which is in
 * a third region, and take the fleet by themselves so long after their end.
 */
export const newRegions = async (rateWindowMs: number, afterMs?: number) => {
  const setting = { afterMs };
  const log: Written[] = [];
  /** The number of the write that a region has of an item. */
  const newest = new Map<string, number>();
  const textOf = (region: Name, table: string, key: Item): string =>
    JSON.stringify([region, table, key]);
  let isDelivering = false;
  const engineOf = (region: Name) =>
    memoryTables((table, before, after) => {
      if (isDelivering) return;
      const key = keyOf(after ?? before ?? {});
      log.push({ region, table, key, item: after });
      newest.set(textOf(region, table, key), log.length);
    });
  const engines: Readonly<Record<Name, ReturnType<typeof memoryTables>>> = {
    "eu-1": engineOf("eu-1"),
    "eu-2": engineOf("eu-2"),
  };
  const clientOf = (name: Name, isUp: () => boolean): TableClient => ({
    send: (async (command: unknown) => {
      await Promise.resolve();
      if (isUp()) return engines[name].execute(command);
      throw Object.assign(new Error("no answer"), { name: "TimeoutError", $metadata: {} });
    }) as never,
  });
  const damaged: Damaged = await newDamaged(
    rateWindowMs,
    clientOf("eu-1", () => true),
  );
  const { world } = damaged;
  const delivered: Record<Name, number> = { "eu-1": 0, "eu-2": 0 };
  let isCut = false;
  const witnessEngine = memoryTables();
  const witnessClient: TableClient = {
    send: (async (command: unknown) => witnessEngine.execute(command)) as never,
  };
  /** From one region to another, nothing arrives: "eu-1 to witness". */
  const links = new Set<string>();
  const over = (from: Name, to: Name | "witness", client: TableClient): TableClient => ({
    send: (async (command: never) => {
      await Promise.resolve();
      const isUp = regions[from].isUp && !links.has(`${from} to ${to}`);
      // As where a request is answered by no server: nothing repeats it before its time is over.
      if (!isUp) throw Object.assign(new Error("no answer"), { name: "cut off" });
      return client.send(command);
    }) as never,
  });

  const newRegion = (name: Name, other: Name): Region => {
    const client = clientOf(name, () => region.isUp);
    const tables: Tables = {
      ...world.tables,
      client,
      // A move of minutes ends where the test says so.
      wait: async (ms) => {
        world.nowMs += ms;
      },
      ids: async () => ({
        ...{ state: `state-${name}`, history: `history-${name}`, region: name },
        replicas: [other],
      }),
    };
    const witness = (): Witness | undefined =>
      setting.afterMs === undefined
        ? undefined
        : {
            ...{ region: "witness", afterMs: setting.afterMs },
            tables: { ...tables, client: over(name, "witness", witnessClient) },
          };
    const context: ServiceContext = {
      ...damaged.context(),
      ...{ tables, insert: insertByStatement(tables), witness },
    };
    const queue: SyncMessage[] = [];
    const ports = damaged.worker({ tables, insert: context.insert, cache: warmCache() });
    const send = async ({ input }: { input: { Entries: { MessageBody: string }[] } }) => {
      queue.push(...input.Entries.map(({ MessageBody }) => messageOf(MessageBody)));
      return {};
    };
    const sending = {
      client: { send: send as never },
      ...{ queueUrl: "q", wait: tables.wait, random: () => 0 },
    };
    const region: Region = {
      ...{ name, tables, isUp: true, queue },
      writes: () => log.filter(({ region: by }) => by === name).length,
      service: () => openService(context),
      waker: () => wakerOf({ tables, queue: sending }),
      look: async () =>
        region.isUp && setting.afterMs !== undefined
          ? moveByItself({ ...context, by: "the standby" })
          : undefined,
      plan: async () => {
        if (!region.isUp) return undefined;
        return planSyncs(
          {
            tables,
            queue: sending,
            elsewhere: () => ({
              ...regions[other].tables,
              client: over(name, other, regions[other].tables.client as TableClient),
            }),
            ...present({ witness: witness() }),
          },
          { scheduledMs: world.nowMs - (world.nowMs % MINUTE_MS) },
        );
      },
      work: async () => {
        if (!region.isUp) return [];
        const due = queue.filter(({ dueMs }) => dueMs <= world.nowMs);
        queue.splice(0, queue.length, ...queue.filter(({ dueMs }) => dueMs > world.nowMs));
        const reports: SyncReport[] = [];
        for (const message of due) reports.push(await sync(ports, message));
        return reports;
      },
      syncOf: (message) =>
        sync(ports, { ...world.partition, dueMs: world.nowMs, periodMs: 15_000, ...message }),
    };
    return region;
  };
  const regions: Readonly<Record<Name, Region>> = {
    "eu-1": newRegion("eu-1", "eu-2"),
    "eu-2": newRegion("eu-2", "eu-1"),
  };

  /** What was written so far comes to each other region that is up. */
  const replicate = async (): Promise<void> => {
    if (isCut) return;
    isDelivering = true;
    for (const target of NAMES)
      for (; regions[target].isUp && delivered[target] < log.length; delivered[target]++)
        deliver(target, delivered[target]);
    isDelivering = false;
  };

  const deliver = (target: Name, index: number): void => {
    const { region, table, key, item } = log[index] as Written;
    const at = textOf(target, table, key);
    if (region === target || (newest.get(at) ?? 0) > index + 1) return;
    newest.set(at, index + 1);
    engines[target].execute(
      item
        ? new PutItemCommand({ TableName: table, Item: item })
        : new DeleteItemCommand({ TableName: table, Key: key }),
    );
  };

  await rememberTables(regions["eu-1"].tables);
  await replicate();

  const reports: { readonly region: string; readonly atMs: number; readonly report: SyncReport }[] =
    [];
  const called: Partial<Record<Name, number>> = {};
  const plans: { readonly region: string; readonly atMs: number; readonly plan: PlanReport }[] = [];
  const looks: { readonly region: string; readonly atMs: number; readonly look: TakeReport }[] = [];
  const lives = async (region: Region): Promise<void> => {
    // A move waits for some time, so that no step need be at the beginning of a minute.
    const minute = Math.floor(world.nowMs / MINUTE_MS);
    if (called[region.name as Name] !== minute) {
      const at = { region: region.name, atMs: world.nowMs };
      const look = await region.look();
      if (look) looks.push({ ...at, look });
      const plan = await region.plan();
      if (plan) plans.push({ ...at, plan });
    }
    called[region.name as Name] = minute;
    for (const report of await region.work())
      reports.push({ region: region.name, atMs: world.nowMs, report });
  };
  /** Both stacks live for so long: a call of each scheduler a minute, messages each five seconds. */
  const live = async (ms: number): Promise<void> => {
    for (const untilMs = world.nowMs + ms; world.nowMs < untilMs; world.nowMs += 5 * SECOND_MS) {
      for (const name of NAMES) await lives(regions[name]);
      await replicate();
    }
  };
  return {
    damaged,
    world,
    one: regions["eu-1"],
    two: regions["eu-2"],
    replicate,
    live,
    ...{ reports, plans, looks, links, setting },
    cut: (value: boolean) => {
      isCut = value;
    },
  };
};
