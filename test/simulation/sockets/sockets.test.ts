import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { repeat } from "../../../lib/stack/store/table/repeat.ts";
import { THIS_BUILD } from "../beside/build.ts";
import type { Fate, Fault } from "../fates.ts";
import { play } from "../play.ts";
import { newNetwork, type Process } from "../process.ts";
import { newScheduler } from "../scheduler.ts";
import { isOverSockets } from "../stage.ts";
import { tablesOf } from "../tables.ts";
import { warmClient } from "./sdk-client.ts";
import { clientOverSockets } from "./socket-tables.ts";

const SEED = 19;
const PATIENCE_MS = 60_000;
const NONE = { kind: "none" } as const;

const newProcess = (): Process => ({
  name: "env-1",
  skewMs: 0,
  pausedUntilMs: 0,
  alive: true,
  build: THIS_BUILD,
  cache: THIS_BUILD.warmCache(),
  busy: 0,
  endsMs: Number.POSITIVE_INFINITY,
  onEnd: new Set(),
});

/**
 * One read over a connection of which each request has the next fate: how it ends, and when by
 * virtual time.
 */
const readUnder = async (...fates: readonly Partial<Fate>[]) => {
  await warmClient();
  const scheduler = newScheduler(0);
  let at = 0;
  const next = (): Fate => ({
    fault: "none",
    outMs: 2,
    backMs: 2,
    lateness: 0,
    before: NONE,
    after: NONE,
    ...fates[at++],
  });
  const story = { tell: () => undefined, lines: [] };
  const network = newNetwork(scheduler, { next }, { story, note: () => undefined });
  const execute = (): object => ({
    Item: { pk: { S: "fleet" }, body: { B: new Uint8Array([1, 2, 255]) } },
  });
  const world = {
    execute,
    nowMs: scheduler.nowMs,
    random: () => 0,
    token: () => "token",
    by: undefined,
  };
  const tables = tablesOf(network, newProcess(), world, clientOverSockets);
  const read = new GetItemCommand({
    TableName: "state",
    Key: { pk: { S: "fleet" }, sk: { S: "fleet" } },
  });
  let ended: { readonly outcome: unknown; readonly atMs: number } | undefined;
  const end = (outcome: unknown): void => {
    ended = { outcome, atMs: scheduler.nowMs() };
  };
  repeat(tables, "read", () => tables.client.send(read)).then(({ Item }) => end(Item), end);
  await scheduler.run(60_000, () => ended !== undefined);
  return { ...ended, requests: at };
};

const ITEM = { pk: { S: "fleet" }, body: { B: new Uint8Array([1, 2, 255]) } };

describe("the tables over connections in memory", () => {
  it("give the items that the engine has, bytes among them", async () => {
    expect(await readUnder()).toMatchObject({ outcome: ITEM, atMs: 4, requests: 1 });
  });

  it.each<readonly [string, Fault, number]>([
    ["no byte of the answer comes", "lost answer", 0],
    ["half of the answer comes and no more", "lost answer", 0.3],
    ["the request is lost", "lost request", 0],
  ])("are asked again after the limit of the client where %s", async (_words, fault, lateness) => {
    const { outcome, atMs, requests } = await readUnder({ fault, lateness });
    expect([outcome, requests]).toEqual([ITEM, 2]);
    expect(atMs).toBeGreaterThan(2_000);
  });

  it.each<readonly [string, Fault, number]>([
    ["half of the answer comes and then a reset", "lost answer", 0.6],
    ["the connection is reset instead of an answer", "lost answer", 0.9],
    ["the server fails", "failed after", 0],
    ["the server throttles", "throttled", 0],
  ])("are asked again at once where %s", async (_words, fault, lateness) => {
    const { outcome, atMs = 0, requests } = await readUnder({ fault, lateness });
    expect([outcome, requests]).toEqual([ITEM, 2]);
    expect(atMs).toBeLessThan(2_000);
  });

  it("give the answer that waited while the process stood still", async () => {
    const { outcome, atMs, requests } = await readUnder({ after: { kind: "pause", ms: 10_000 } });
    expect([outcome, requests]).toEqual([ITEM, 1]);
    expect(atMs).toBeGreaterThanOrEqual(10_000);
  });

  it("are asked again where the connection went dead while the process stood still", async () => {
    const { outcome, atMs, requests } = await readUnder({
      before: { kind: "pause", ms: 10_000 },
      fault: "lost answer",
    });
    expect([outcome, requests]).toEqual([ITEM, 2]);
    expect(atMs).toBeGreaterThan(10_000);
  });
});

it("a seed whose tables are reached over connections gives the same story twice", {
  timeout: PATIENCE_MS,
}, async () => {
  expect(isOverSockets(SEED)).toBe(true);
  const [one, other] = [
    await play(SEED, { faults: true, told: true }),
    await play(SEED, { faults: true, told: true }),
  ];
  expect(one.story.length).toBeGreaterThan(100);
  expect(other).toEqual(one);
});
