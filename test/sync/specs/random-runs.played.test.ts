import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterClient, SpecListing } from "../../../lib/stack/cluster/cluster-client.ts";
import type { AutoscalerRecord } from "../../../lib/rules/model/records.ts";
import { PURE_PART, type PurePart } from "../../../lib/stack/sync/pure-part.ts";
import { STORED_EVERY_MS } from "../../../lib/stack/sync/specs/finding.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { type Engine, startMemory } from "../../contracts/engines.ts";
import { demandRules } from "../demand-rules.ts";
import { type SpecsWorld, specsWorld } from "./cluster-specs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const NAMES = ["a", "b", "c"] as const;

/** What happens before a sync, and what the sync meets. */
interface Step {
  readonly name: (typeof NAMES)[number];
  readonly happens: "edit" | "delete" | "make again" | "nothing";
  readonly max: number;
  readonly demand: number;
  readonly list: "answers" | "fails" | "is old";
  readonly environment: "warm" | "other" | "cold";
  /** Edits come faster than they are stored, and slower. */
  readonly passesMs: number;
}

const steps = fc.array(
  fc.record<Step>({
    name: fc.constantFrom(...NAMES),
    happens: fc.constantFrom("edit", "delete", "make again", "nothing"),
    max: fc.integer({ min: 1, max: 12 }),
    demand: fc.integer({ min: 1, max: 15 }),
    list: fc.constantFrom("answers", "answers", "answers", "fails", "is old"),
    environment: fc.constantFrom("warm", "warm", "other", "cold"),
    passesMs: fc.constantFrom(0, 0, STORED_EVERY_MS),
  }),
  { minLength: 10, maxLength: 25 },
);

/** A mistake in reading the answer of a LIST. */
type Mistake = (listing: SpecListing, last: SpecListing | undefined) => SpecListing;
const NO_MISTAKE: Mistake = (listing) => listing;

const specOf = (name: string, max: number): object => ({
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
  minReplicas: 1,
  maxReplicas: max,
  metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 50 }],
});

/** The demand, within the bounds of the spec. */
const boundedRules = (world: SpecsWorld): PurePart => {
  const rules = { ...demandRules(world.cluster), specOf: PURE_PART.specOf };
  return {
    ...rules,
    decide: (input) => {
      const decision = rules.decide(input);
      if (decision.kind === "hold") return decision;
      const to = Math.min(decision.to, input.spec.maxReplicas);
      return to === decision.from
        ? { ...decision, kind: "hold", failed: false }
        : { ...decision, to };
    },
  };
};

interface Shown {
  readonly uid: string;
  readonly generation: number;
  readonly max: number;
}

type Objects = SpecsWorld["cluster"]["objects"];
type Raw = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
  readonly spec: { readonly maxReplicas: number };
};

const shownIn = (objects: Objects): ReadonlyMap<string, Shown> =>
  new Map(
    [...objects.values()].map((object) => {
      const { metadata, spec } = object as unknown as Raw;
      return [
        metadata.name,
        { uid: metadata.uid, generation: metadata.generation, max: spec.maxReplicas },
      ];
    }),
  );

/** The client with a mistake in it. */
const mistaken = (client: ClusterClient, mistake: Mistake): ClusterClient => {
  let last: readonly SpecListing[] = [];
  return {
    ...client,
    listSpecs: async (request) => {
      const answer = await client.listSpecs({
        ...request,
        knownVersion: mistake === NO_MISTAKE ? request.knownVersion : () => undefined,
      });
      const listings = answer.listings.map((listing, at) => mistake(listing, last[at]));
      if (answer.listings.every(({ outcome }) => outcome.kind === "listed")) last = answer.listings;
      return { ...answer, listings };
    },
  };
};

const happen = (world: SpecsWorld, { name, happens, max, demand }: Step): void => {
  const isThere = world.cluster.objects.has(`PodAutoscaler/shop/${name}`);
  const workload = world.cluster.workloads.get(name);
  if (workload) workload.demand = demand;
  if (happens === "edit" && isThere) world.apply(name, { spec: specOf(name, max) });
  if (happens === "delete" || happens === "make again") world.remove(name);
  if (happens === "make again") world.apply(name, { spec: specOf(name, max) });
};

interface Run {
  readonly world: SpecsWorld;
  readonly environment: (of: Step["environment"]) => SyncPorts;
}

const newRun = async (mistake: Mistake): Promise<Run> => {
  const world = await specsWorld(engine, NAMES, ["PodAutoscaler"]);
  const client = mistaken(world.cluster.client, mistake);
  const newPorts = (): SyncPorts =>
    world.cold({ rules: boundedRules(world), connect: () => Promise.resolve(client) });
  const kept = { warm: newPorts(), other: newPorts() };
  for (const name of NAMES) world.apply(name, { spec: specOf(name, 5) });
  return { world, environment: (of) => (of === "cold" ? newPorts() : kept[of]) };
};

/**
 * Throws for a scale that the answer of this sync did not allow, or the spec that is stored when it
 * is made.
 */
const mayScale = (
  [key, replicas]: readonly [string, number],
  object: Shown | undefined,
  record: AutoscalerRecord | undefined,
): void => {
  if (!object) throw new Error(`"${key}" was scaled without its object`);
  if (replicas > object.max)
    throw new Error(`"${key}" was scaled to ${replicas}, and its object says ${object.max}`);
  if (record?.origin?.uid !== object.uid)
    throw new Error(`"${key}" was scaled, and what is stored is of another object`);
  if (object.generation < record.origin.generation)
    throw new Error(
      `"${key}" was scaled by generation ${object.generation} after ${record.origin.generation}`,
    );
  const { spec } = JSON.parse(record.manifest) as Raw;
  if (replicas > spec.maxReplicas)
    throw new Error(
      `"${key}" was scaled to ${replicas}, and the stored spec says ${spec.maxReplicas}`,
    );
};

/** One sync, and what must never happen in it. */
const syncOnce = async (run: Run, step: Step): Promise<void> => {
  const { world } = run;
  const shown = step.list === "fails" ? new Map<string, Shown>() : shownIn(world.cluster.objects);
  const [records, puts] = [await world.records(), world.cluster.puts.length];
  await world.next(run.environment(step.environment));
  const after = await world.records();
  // Nothing ends on a LIST that failed.
  if (step.list === "fails")
    expect(after.map(({ uid }) => uid)).toEqual(records.map(({ uid }) => uid));
  for (const { key, replicas } of world.cluster.puts.slice(puts).filter(({ effect }) => effect)) {
    mayScale(
      [key, replicas],
      shown.get(key),
      after.find(({ name }) => name === key),
    );
  }
};

/**
 * An object that was made anew is stored a minute after the last change of the one before it, and
 * its last edit a minute later.
 */
const MINUTES_TO_COPY = 2;

/** Plays the steps, and throws at the first thing that must never happen. */
const played = async (all: readonly Step[], mistake: Mistake): Promise<void> => {
  const run = await newRun(mistake);
  const { objects, specFailures } = run.world.cluster;
  let [before, older] = [new Map(objects), new Map(objects)];
  for (const step of all) {
    run.world.nowMs += step.passesMs;
    happen(run.world, step);
    const now = new Map(objects);
    if (step.list === "fails")
      specFailures.set("PodAutoscaler", {
        code: 500,
        reason: "Broken",
        message: "the LIST failed",
      });
    if (step.list === "is old") replace(objects, older);
    await syncOnce(run, step);
    specFailures.clear();
    replace(objects, now);
    [older, before] = [before, now];
  }
  for (let minutes = 0; minutes < MINUTES_TO_COPY; minutes++) {
    run.world.nowMs += STORED_EVERY_MS;
    await run.world.next(run.environment("warm"));
    await run.world.next(run.environment("other"));
  }
  const copies = (await run.world.records()).map(({ name, origin }) => [
    name,
    origin?.uid,
    origin?.generation,
    origin?.goneMs,
  ]);
  expect(copies).toEqual(
    [...shownIn(objects)]
      .map(([name, { uid, generation }]) => [name, uid, generation, undefined])
      .toSorted(),
  );
};

const replace = (objects: Objects, by: Objects): void => {
  objects.clear();
  for (const [key, object] of by) objects.set(key, object);
};

const everyRun = (mistake: Mistake, numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(steps, (all) => played(all, mistake)),
    { seed: 14, numRuns, endOnFailure: true },
  );

const withObjects = (
  listing: SpecListing,
  change: (
    object: Extract<SpecListing["outcome"], { kind: "listed" }>["objects"][number],
  ) => object,
): SpecListing =>
  listing.outcome.kind === "failed"
    ? listing
    : {
        ...listing,
        outcome: {
          ...listing.outcome,
          objects: listing.outcome.objects.map((object) => ({ ...object, ...change(object) })),
        },
      };

const newestGenerations = (): Mistake => {
  const newest = new Map<string, number>();
  return (listing) =>
    withObjects(listing, ({ uid, generation }) => {
      newest.set(uid, Math.max(generation, newest.get(uid) ?? 0));
      return { generation: newest.get(uid) };
    });
};

const MISTAKES: Readonly<Record<string, () => Mistake>> = {
  "a LIST that failed is taken for an empty one": () => (listing) =>
    listing.outcome.kind === "failed"
      ? { ...listing, outcome: { kind: "listed", objects: [] } }
      : listing,
  "a LIST that failed is taken for the one before": () => (listing, last) =>
    listing.outcome.kind === "failed" && last ? last : listing,
  "an older generation counts": newestGenerations,
  "another object of the same name is taken for the one before": () => (listing) =>
    withObjects(listing, ({ name }) => ({ uid: `object-of-${name}` })),
};

describe("objects that are edited, deleted and made anew while LISTs fail or are old", () => {
  it("always act by what the cluster has shown in the same sync, end only by two answers, and are copied in the end", async () => {
    await everyRun(NO_MISTAKE, 60);
  });

  it.each(Object.entries(MISTAKES))(
    "are always found to go wrong where %s",
    async (_words, mistake) => {
      await expect(everyRun(mistake(), 60)).rejects.toThrow();
    },
  );
});
