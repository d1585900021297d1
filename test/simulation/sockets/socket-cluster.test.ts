import { describe, expect, it } from "vitest";
import type { Fault } from "../fates.ts";
import { play } from "../play.ts";
import { FLEET, newWorld, TIMEOUT_MS, WEB } from "./socket-world.ts";

const SEED = 10;

describe("scales over connections in memory", () => {
  it("are read and written, of kinds that are built in and of others", async () => {
    const { put, read, effects } = newWorld();
    expect((await read(WEB)).answer).toMatchObject({
      kind: "read",
      specReplicas: 3,
      generation: 1,
      selector: "app=web",
    });
    expect((await read(FLEET)).answer).toMatchObject({
      kind: "read",
      specReplicas: 3,
      uid: "uid-rooms",
    });
    expect((await put()).answer).toEqual({ kind: "applied", resourceVersion: "101" });
    expect((await put({ target: FLEET, targetUid: "uid-rooms" })).answer).toMatchObject({
      kind: "applied",
    });
    expect(effects.map(({ to }) => to)).toEqual([5, 5]);
  });

  it("meet a conflict where the object has moved, or is another", async () => {
    const { put, effects } = newWorld();
    expect((await put({ resourceVersion: "99" })).answer).toMatchObject({
      kind: "conflict",
      failure: { code: 409 },
    });
    expect((await put({ targetUid: "another" })).answer).toMatchObject({ kind: "conflict" });
    expect(effects).toEqual([]);
  });

  it.each<readonly [string, Fault, number, number]>([
    ["no byte of the answer comes", "lost answer", 0, TIMEOUT_MS],
    ["half of the answer comes and no more", "lost answer", 0.3, TIMEOUT_MS],
    ["half of the answer comes and then a reset", "lost answer", 0.6, 100],
    ["the connection is reset instead of an answer", "lost answer", 0.9, 100],
    ["the server fails after it wrote", "failed after", 0, 100],
    ["the write lands late", "late", 0.4, TIMEOUT_MS],
  ])("end unclear where %s, and a PUT is sent once", async (_words, fault, lateness, withinMs) => {
    const { put, effects, kinds, scheduler } = newWorld({ fault, lateness });
    const { answer, tookMs } = await put();
    expect(answer).toMatchObject({ kind: "unclear" });
    expect(tookMs).toBeLessThanOrEqual(withinMs);
    await scheduler.run(scheduler.nowMs() + TIMEOUT_MS, () => false);
    expect(effects).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "put")).toHaveLength(1);
  });

  it.each<readonly [string, Fault]>([
    ["nothing listens", "failed before"],
    ["nothing answers", "lost request"],
  ])("are told as not sent where %s, and nothing is written", async (_words, fault) => {
    const { put, effects } = newWorld({ of: "connect", fault });
    expect((await put()).answer).toMatchObject({ kind: "unsent" });
    expect(effects).toEqual([]);
  });

  it("are read once more where a connection that was kept is reset, and not written once more", async () => {
    const reset = { fault: "lost request", lateness: 0.9 } as const;
    const { put, read, effects } = newWorld({ of: "read" }, { ...reset, of: "read" }, reset);
    await read(WEB);
    expect((await read(WEB)).answer).toMatchObject({ kind: "read" });
    expect((await put()).answer).toMatchObject({
      kind: "unclear",
      failure: { reason: "ConnectionReset" },
    });
    expect(effects).toEqual([]);
  });

  it("open a new connection for a PUT where the old one was idle for so long that it may be dead", async () => {
    const { put, read, kinds, scheduler } = newWorld();
    await read(WEB);
    await scheduler.run(scheduler.nowMs() + 10_000, () => false);
    expect((await put()).answer).toMatchObject({ kind: "applied" });
    expect(kinds.filter((kind) => kind === "connect")).toHaveLength(2);
  });

  it("end unclear where the process stood still past the limit of its PUT, though the write took effect", async () => {
    const { put, effects } = newWorld({ before: { kind: "pause", ms: 10_000 } });
    expect((await put()).answer).toMatchObject({ kind: "unclear" });
    expect(effects.length).toBeLessThanOrEqual(1);
  });
});

it("a seed whose clusters are reached over connections gives the same story twice", {
  timeout: 60_000,
}, async () => {
  const [one, other] = [
    await play(SEED, { faults: true, told: true }),
    await play(SEED, { faults: true, told: true }),
  ];
  expect(Object.keys(one.coverage)).toContain("act | connect | none");
  expect(other).toEqual(one);
});
