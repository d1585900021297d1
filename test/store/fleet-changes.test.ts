import type { BatchGetItemCommandInput, BatchGetItemCommandOutput } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChangeRecord, ScopeChangeRecord } from "../../lib/rules/model/changes.ts";
import { autoscalerName, autoscalerUid, clusterName } from "../../lib/rules/model/ids.ts";
import {
  changeBaseOf,
  deletedPlaces,
  insertChange,
} from "../../lib/stack/store/history/changes.ts";
import { changesOfFleet } from "../../lib/stack/store/history/fleet-changes.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { insertScopeChange } from "../../lib/stack/store/history/scope-changes.ts";
import { REQUESTS_AT_ONCE } from "../../lib/stack/store/table/wait-for-all.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around, withFaults } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { runs } from "../runs.ts";
import { testTables } from "../sync/world.ts";
import { REF } from "./records.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

type Change = ChangeRecord | ScopeChangeRecord;

const THROTTLED_EVERY = 5;
let fleets = 0;

/** Tables that throttle now and then, and how many requests were under way at most. */
const newTables = () => {
  let [calls, underWay] = [0, 0];
  const seen = { most: 0 };
  const throttling = withFaults(engine.client, (command) =>
    command !== "BatchExecuteStatementCommand" && ++calls % THROTTLED_EVERY === 0
      ? "throttled"
      : undefined,
  );
  const client = around(throttling, async (_command, send) => {
    seen.most = Math.max(seen.most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    return send().finally(() => underWay--);
  });
  return { tables: testTables(client, engine.tables, () => NOON), seen };
};

interface Rollout {
  readonly agoMs: number;
  readonly edits: number;
  readonly spacingMs: number;
}

/** Long enough that an edit of one field is stored as its difference. */
const manifest = (max: number): string =>
  JSON.stringify({ max, note: Array.from({ length: 200 }, (_, at) => at * at) });

/** The same edits in each of three clusters: the first is whole, the others are differences. */
const stored = async (
  { tables }: Pick<ReturnType<typeof newTables>, "tables">,
  rollouts: readonly Rollout[],
) => {
  const fleet = ++fleets;
  const insert = insertByStatement(tables);
  const clusters = ["a", "b", "c"].map((name) => clusterName(`changed-${fleet}-${name}`));
  const all: Change[] = [];
  for (const cluster of clusters) {
    const added: ScopeChangeRecord = {
      ...{ id: `added-${cluster}`, scope: "cluster", name: cluster, version: 1 },
      ...{ atMs: NOON - 1_000, by: "ada", verb: "add", after: "{}" },
    };
    await insertScopeChange(insert, added);
    all.push(added);
    for (const [at, { agoMs, edits, spacingMs }] of rollouts.entries()) {
      const ref = { ...REF, cluster, name: autoscalerName(`web-${at}`) };
      const uid = autoscalerUid(`uid-${cluster}-${at}`);
      const wholeChange = { generation: 1, atMs: NOON };
      for (let generation = 1; generation <= edits; generation++) {
        const change: ChangeRecord = {
          ...{ ...ref, id: `${uid}:${generation}`, by: "ada", verb: "apply" },
          atMs: NOON - agoMs + generation * spacingMs,
          after: manifest(generation),
        };
        const base = await changeBaseOf(tables, ref, { uid, wholeChange });
        await insertChange({ tables, insert }, change, base);
        all.push(change);
      }
    }
  }
  return { clusters, all };
};

const placedBefore = (one: Change, other: Change): number =>
  one.atMs - other.atMs || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

const rollout = fc.record({
  agoMs: fc.integer({ min: 1_000, max: 1_000_000 }),
  edits: fc.constantFrom(1, 2, 30),
  spacingMs: fc.constantFrom(0, 1),
});

describe("the changes of a fleet", () => {
  it("are each there once, whole and in order, wherever a page ends and whatever is at one instant", async () => {
    const property = fc.asyncProperty(
      fc.array(rollout, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(7, 50, 1_000),
      async (rollouts, pageMax) => {
        const { tables, seen } = newTables();
        const { clusters, all } = await stored({ tables }, rollouts);
        const scopes = clusters.map((name) => ({ scope: "cluster" as const, name }));
        const listed: Change[] = [];
        let after: Change | undefined;
        for (let isFull = true; isFull; ) {
          isFull = false;
          let room = pageMax;
          const search = { clusters, scopes, sinceMs: 0, after };
          for await (const change of changesOfFleet(tables, search)) {
            listed.push(change);
            after = change;
            isFull = --room === 0;
            if (isFull) break;
          }
        }
        expect(listed).toEqual(all.toSorted(placedBefore));
        expect(seen.most).toBeLessThanOrEqual(REQUESTS_AT_ONCE);
      },
    );
    await fc.assert(property, runs(8));
  }, 120_000);
});

describe("what changes are based on", () => {
  it("is read for half of the units, and strongly where it is too new for that", async () => {
    const { tables } = newTables();
    const { clusters, all } = await stored({ tables }, [{ agoMs: 9_000, edits: 3, spacingMs: 1 }]);
    const reads: (readonly [isStrong: boolean, keys: number])[] = [];
    const behind = around(engine.client, async (command, send, input) => {
      if (command !== "BatchGetItemCommand") return send();
      const { RequestItems = {} } = input as BatchGetItemCommandInput;
      const [[name, { Keys = [], ConsistentRead = false }] = ["", {}]] =
        Object.entries(RequestItems);
      reads.push([ConsistentRead, Keys.length]);
      const { Responses = {}, ...answer } = (await send()) as BatchGetItemCommandOutput;
      // A replica that has not got the first base yet.
      const items = Responses[name]?.slice(ConsistentRead ? 0 : 1) ?? [];
      return { ...answer, Responses: { [name]: items } };
    });
    const search = { clusters, scopes: [], sinceMs: 0 };
    const listed = await Array.fromAsync(changesOfFleet({ ...tables, client: behind }, search));
    expect(listed).toEqual(all.filter((one) => !("scope" in one)).toSorted(placedBefore));
    // One base of each cluster.
    expect(reads).toEqual([
      [false, 3],
      [true, 1],
    ]);
  });
});

describe("the places of deleted autoscalers", () => {
  it("are found by their name alone, each once, and only where one was deleted", async () => {
    const { tables } = newTables();
    const context = { tables, insert: insertByStatement(tables) };
    const name = autoscalerName("gone");
    const [one, other] = [clusterName("place-1"), clusterName("place-2")];
    const change = { ...REF, name, by: "ada" };
    const edits = [
      { ...change, cluster: one, id: "uid-1:2", atMs: NOON, verb: "delete" },
      { ...change, cluster: one, id: "uid-2:2", atMs: NOON + 1, verb: "delete" },
      { ...change, cluster: other, id: "uid-3:2", atMs: NOON, verb: "delete" },
      { ...change, cluster: clusterName("place-3"), id: "uid-4:2", atMs: NOON, verb: "apply" },
    ] as const;
    for (const edit of edits) await insertChange(context, edit);
    expect(await deletedPlaces(tables, name)).toEqual(
      [one, other].map((cluster) => ({ cluster, namespace: REF.namespace, name })),
    );
    expect(await deletedPlaces(tables, autoscalerName("never"))).toEqual([]);
  });
});
