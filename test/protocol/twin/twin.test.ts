import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LABELS, mayFollow } from "./flow.ts";
import * as steps from "./steps.ts";

const MODEL = readFileSync("test/protocol/exactly-once.pml", "utf8");
const WORKER = MODEL.slice(MODEL.indexOf("proctype Worker("), MODEL.indexOf("\ninit {"));

const HEAD: steps.Head = {
  epoch: 5,
  writes: 9,
  headNow: 100,
  headGeneration: 0,
  dueDone: 90,
  entries: new Map(),
};
const stateWith = (
  head: Partial<steps.Head> = {},
  rest: Partial<steps.Before> = {},
): steps.Before => ({
  head: { ...HEAD, ...head },
  pageEpoch: () => 4,
  event: () => undefined,
  effects: () => 0,
  isDamaged: () => false,
  ...rest,
});
const entries = (...of: readonly (readonly [string, steps.Entry])[]): steps.Entries => new Map(of);
const HOLDER = { epoch: 5, writes: 9 };
const CLOSING = { ...HOLDER, entries: entries(), now: 101, due: 91, generation: 0, pages: [4] };

describe("the model's steps in TypeScript", () => {
  it("have the labels of the worker", () => {
    const labels = [...WORKER.matchAll(/^\s*(\w+):(?!:)/gm)].map(([, label]) => label);
    expect(labels.length).toBeGreaterThan(10);
    expect(LABELS.toSorted()).toEqual(labels.toSorted());
  });

  it("have the names of what changes the shared state", () => {
    const inlines = [...MODEL.matchAll(/^inline (store\w+|insert\w+|take\w+)\(/gm)].map(
      ([, name]) => name,
    );
    const own = Object.keys(steps).filter((name) => /^(store|insert|take)/.test(name));
    expect(own.toSorted()).toEqual(inlines.toSorted());
  });

  it.each([
    ["an earlier epoch", { epoch: 4 }],
    ["a write number that is not the last", { writes: 8 }],
  ])("refuse a holder with %s", (_words, wrong) => {
    expect(
      steps.storeEntries(stateWith(), { ...HOLDER, ...wrong, entries: entries(), now: 101 }),
    ).toEqual({ kind: "refused" });
    expect(steps.storeRelease(stateWith(), { ...CLOSING, ...wrong })).toEqual({ kind: "refused" });
  });

  it("refuse the claim of a due time that is done", () => {
    expect(steps.claim(stateWith(), { due: 90 })).toEqual({ kind: "refused" });
    expect(steps.claim(stateWith(), { due: 91 })).toMatchObject({
      kind: "executed",
      after: { epoch: 6, writes: 10 },
    });
  });

  it("store an intent beside no other of its autoscaler, under the own epoch, and without an event", () => {
    const store = (from: steps.Before, ...of: readonly (readonly [string, steps.Entry])[]) =>
      steps.storeEntries(from, { ...HOLDER, entries: entries(...of), now: 101 });
    expect(store(stateWith(), ["web:5", "open"])).toMatchObject({
      kind: "executed",
      after: { writes: 10, headNow: 101 },
    });
    expect(store(stateWith(), ["web:4", "open"])).toMatchObject({ kind: "broken", promise: 4 });
    expect(store(stateWith({}, { event: () => "applied" }), ["web:5", "open"])).toMatchObject({
      kind: "broken",
      promise: 5,
    });
    const open = stateWith({ entries: entries(["web:4", "open"]) });
    expect(store(open, ["web:4", "open"], ["web:5", "open"])).toMatchObject({
      kind: "broken",
      promise: 4,
    });
    expect(store(open)).toMatchObject({ kind: "broken", promise: 7 });
    expect(store(open, ["web:4", "uncounted"])).toMatchObject({ kind: "broken", promise: 7 });
  });

  it("release what has its event, on pages that are there, and bring nothing back", () => {
    const open = { entries: entries(["web:5", "open"]) };
    expect(steps.storeRelease(stateWith(open, { event: () => "applied" }), CLOSING)).toMatchObject({
      kind: "executed",
      after: { dueDone: 91 },
    });
    expect(steps.storeRelease(stateWith(open), CLOSING)).toMatchObject({
      kind: "broken",
      promise: 7,
    });
    expect(steps.storeRelease(stateWith(), { ...CLOSING, entries: open.entries })).toMatchObject({
      kind: "broken",
      promise: 7,
    });
    expect(steps.storeRelease(stateWith(), { ...CLOSING, pages: [3] })).toMatchObject({
      kind: "broken",
      promise: 9,
    });
    expect(steps.storeRelease(stateWith(), { ...CLOSING, now: 99 })).toMatchObject({
      kind: "broken",
      promise: 10,
    });
    expect(steps.storeRelease(stateWith(), { ...CLOSING, due: 90 })).toMatchObject({
      kind: "broken",
      promise: 11,
    });
  });

  it("write a page as it was read, or a new one over that of an earlier epoch", () => {
    const write = (found: number | undefined, read?: number) =>
      steps.storePage(stateWith({}, { pageEpoch: () => found }), {
        epoch: 5,
        generation: 0,
        index: 0,
        ...(read !== undefined && { read }),
      }).kind;
    expect([write(4, 4), write(5, 4), write(undefined), write(4), write(6)]).toEqual([
      "executed",
      "refused",
      "executed",
      "executed",
      "refused",
    ]);
  });

  it("tell no PUT as refused that took effect, and let none take effect that nothing counts", () => {
    const open = { entries: entries(["web:5", "open"]) };
    expect(
      steps.insertEvent(stateWith(open, { effects: () => 1 }), { id: "web:5", told: "refused" }),
    ).toMatchObject({ kind: "broken", promise: 8 });
    expect(steps.insertEvent(stateWith(), { id: "web:5", told: "applied" })).toMatchObject({
      kind: "broken",
      promise: 7,
    });
    expect(steps.takeEffect(stateWith(open), { id: "web:5" }).kind).toBe("executed");
    expect(steps.takeEffect(stateWith(), { id: "web:5" })).toMatchObject({
      kind: "broken",
      promise: 1,
    });
    expect(steps.takeEffect(stateWith(open, { effects: () => 1 }), { id: "web:5" })).toMatchObject({
      kind: "broken",
      promise: 3,
    });
  });

  it("come in the order of the labels", () => {
    const way = [
      "claim",
      "load",
      "observe",
      "intend",
      "act",
      "look",
      "act",
      "settle",
      "closing",
      "unchanged",
    ] as const;
    for (const [at, label] of way.entries())
      expect(mayFollow(way[at - 1] ?? "next", label), label).toBe(true);
    for (const [from, to] of [
      ["claim", "observe"],
      ["observe", "act"],
      ["act", "act"],
      ["settle", "act"],
      ["closing", "intend"],
      ["unchanged", "intend"],
      ["dead", "unchanged"],
    ] as const) {
      expect(mayFollow(from, to), `${from} to ${to}`).toBe(false);
    }
    expect(mayFollow("intend", "dead")).toBe(true);
  });
});
