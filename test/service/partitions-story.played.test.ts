import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { NewCluster } from "../../lib/answers/service/service.ts";
import { around, type TableClient } from "../contracts/faults.ts";
import type { PutFault } from "../sync/memory-cluster.ts";
import { workloadOf } from "../sync/world.ts";
import { CART, INFRA, type Moving, newMoving, SHOP } from "./world/moving.ts";

const NAMESPACES = [SHOP, CART, INFRA];
const NAMES = NAMESPACES.flatMap((inside) => [`${inside}-1`, `${inside}-2`]);

const stepArbitrary = fc.record({
  /** The partition of each namespace, or none of its own: "default" holds all others. */
  places: fc.array(fc.constantFrom("a", "b", "default"), {
    minLength: NAMESPACES.length,
    maxLength: NAMESPACES.length,
  }),
  /** Call to the tables at which the mover dies; 60 is hardly reached. */
  dieAt: fc.integer({ min: 1, max: 60 }),
  after: fc.boolean(),
  /** Seconds that the mover stands still before that call, longer than its leases or not. */
  stallMs: fc.constantFrom(0, 0, 40_000),
  scaled: fc.constantFrom(...NAMES),
  demand: fc.integer({ min: 1, max: 9 }),
  fault: fc.option(fc.constantFrom<PutFault>("lost answer", "lost request", "server error"), {
    freq: 2,
  }),
});
type Step = typeof stepArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

class Died extends Error {}

/** The tables of a mover that stands still once while syncs go on, or dies. */
const troubled = (moving: Moving, { dieAt, after, stallMs }: Step): TableClient => {
  let calls = 0;
  return around(moving.world.tables.client, async (_command, send) => {
    const nth = ++calls;
    if (nth < dieAt) return send();
    if (stallMs > 0) {
      if (nth > dieAt) return send();
      moving.world.nowMs += stallMs;
      await moving.syncAll();
      return send();
    }
    if (nth === dieAt && after) await send();
    throw new Died();
  });
};

const wantedOf = (moving: Moving, { places }: Step): NewCluster => ({
  name: moving.world.record.name,
  connection: { kind: "kubeconfig", path: "none" },
  partitions: [
    ...["a", "b"].flatMap((name) => {
      const namespaces = NAMESPACES.filter((_, at) => places[at] === name);
      return namespaces.length > 0 ? [{ name, namespaces }] : [];
    }),
    { name: "default" },
  ],
});

const play = async (moving: Moving, step: Step): Promise<void> => {
  workloadOf(moving.world, step.scaled).demand = step.demand;
  if (step.fault) moving.world.cluster.faults.push(step.fault);
  await moving.syncAll();
  moving.world.cluster.faults.length = 0;
  try {
    await openService(moving.context(troubled(moving, step))).replaceCluster(
      wantedOf(moving, step),
    );
  } catch (error) {
    if (!(error instanceof Died)) throw error;
  }
  await moving.syncAll();
};

/** By uid, the events that windows count. */
const counted = async (moving: Moving) =>
  Object.fromEntries(
    [...(await moving.windows())].map(([uid, { memory }]) => [
      uid,
      [...memory.scaleUps, ...memory.scaleDowns].map(({ eventId }) => eventId).sort(),
    ]),
  );

describe("a cluster that is divided anew again and again", () => {
  it("always counts every scale that took effect once, where its autoscaler is, whatever dies or stands still", async () => {
    let scales = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 2, maxLength: 8 }), async (steps) => {
        const moving = await newMoving();
        await moving.syncAll();
        for (const step of steps) await play(moving, step);
        for (let at = 0; at < 6; at++) await moving.syncAll();
        const events = (await moving.world.events()).filter(({ outcome }) => outcome !== "refused");
        const byUid = Map.groupBy(events, ({ uid }) => uid as string);
        const told = Object.fromEntries(
          NAMES.map((name) => [
            `uid-${name}`,
            (byUid.get(`uid-${name}`) ?? []).map(({ id }) => id).sort(),
          ]),
        );
        expect(await counted(moving)).toEqual(told);
        for (const name of NAMES) {
          const effects = moving.world.cluster.puts.filter(
            ({ key, effect }) => key === name && effect,
          ).length;
          expect(
            told[`uid-${name}`]?.length,
            `${name}: every effect has its event`,
          ).toBeGreaterThanOrEqual(effects);
          scales += effects;
        }
      }),
      { numRuns: 80 },
    );
    expect(scales).toBeGreaterThan(60);
  });
});
