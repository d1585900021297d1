import type { SpecKindName } from "../../lib/rules/model/spec.ts";
import type { Random } from "./random.ts";

/** What a person does to a whole cluster or to the fleet. Offsets from the start. */
export type PlannedOrder = { readonly atMs: number; readonly by?: "operator" | "deputy" } & Order;

export type Order =
  | { readonly verb: "freeze" | "thaw" }
  /**
   * Bounds or a hold of an autoscaler, of a namespace, of a cluster or of the fleet, that end by
   * themselves, or when a person clears them before.
   */
  | {
      readonly verb: "override";
      readonly place: OverriddenPlace;
      readonly set: PlannedSet;
      readonly forMs: number;
      readonly inMs?: number;
    }
  /** Another end for what is active or ahead. */
  | { readonly verb: "extend overrides"; readonly forMs: number }
  | { readonly verb: "clear overrides" }
  | { readonly verb: "pause cluster" | "resume cluster"; readonly cluster: string }
  | { readonly verb: "divide"; readonly cluster: string; readonly partitions: Partitions }
  /** What a person does about stored items that cannot be read. */
  | { readonly verb: "reset windows"; readonly partition: string; readonly page: number }
  | { readonly verb: "reset intent"; readonly partition: string; readonly id: string }
  /** The kinds of autoscalers that the syncs read from the cluster from now on. */
  | { readonly verb: "specs"; readonly cluster: string; readonly kinds: readonly SpecKindName[] }
  /**
   * All autoscalers are deleted and the cluster is removed; it is added again elsewhere, with the
   * same manifests.
   */
  | { readonly verb: "remove" | "add elsewhere"; readonly cluster: string };

interface OverriddenPlace {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly force?: boolean;
}

type PlannedSet =
  | { readonly hold: true }
  | { readonly min?: number; readonly max?: number; readonly minFactor?: number };

type Partitions = readonly { readonly name: string; readonly namespaces?: readonly string[] }[];

export const REST: Partitions[number] = { name: "default" };
/**
 * As the cluster was divided at first, and as it may be meanwhile: as a whole, the other way round,
 * or with a partition of another name.
 */
export const DIVIDED: Partitions = [REST, { name: "pay", namespaces: ["pay"] }];
const MEANWHILE: readonly Partitions[] = [
  [REST],
  [REST, { name: "pay", namespaces: ["shop"] }],
  [REST, { name: "other", namespaces: ["pay"] }],
];

/**
 * The orders of a seed: each kind of them in some seeds, and everything is as it was before the
 * faults end.
 */
export const plannedOrders = (random: Random, faultsMs: number): readonly PlannedOrder[] => {
  const orders = [
    ...(random.chance(1 / 3)
      ? forAWhile(random, faultsMs, { verb: "freeze" }, { verb: "thaw" })
      : []),
    ...(random.chance(1 / 3) ? pausedCluster(random, faultsMs) : []),
    ...(random.chance(1 / 3) ? dividedAnew(random, faultsMs) : []),
    ...(random.chance(1 / 3) ? movedElsewhere(random) : []),
    // Drawn last, so that what else a seed has stays as it was.
    ...(random.chance(1 / 3) ? overridden(random, faultsMs) : []),
  ];
  return orders.sort((one, other) => one.atMs - other.atMs);
};

export const forAWhile = (
  random: Random,
  faultsMs: number,
  begin: Order,
  end: Order,
): readonly PlannedOrder[] => {
  const atMs = random.int(20_000, faultsMs - 120_000);
  return [
    { atMs, ...begin },
    { atMs: atMs + random.int(15_000, 70_000), ...end },
  ];
};

const pausedCluster = (random: Random, faultsMs: number): readonly PlannedOrder[] => {
  const cluster = random.pick(["eu-1", "eu-2", "us-1"]);
  return forAWhile(
    random,
    faultsMs,
    { verb: "pause cluster", cluster },
    { verb: "resume cluster", cluster },
  );
};

/**
 * One at a time, so that it is plain which one holds. Some end by themselves before they are
 * cleared.
 */
const overridden = (random: Random, faultsMs: number): readonly PlannedOrder[] => {
  const count = random.int(2, 6);
  const set = random.pick<PlannedSet>([
    { hold: true },
    { min: count },
    { max: count },
    { min: count, max: count },
  ]);
  const cluster = random.pick(["", "eu-1", "eu-2", "us-1"]);
  const forMs = random.int(10_000, 60_000);
  const namespace =
    cluster !== "" && random.chance(1 / 2)
      ? cluster === "us-1"
        ? random.pick(["shop", "pay"])
        : "shop"
      : undefined;
  const place = {
    ...(cluster !== "" && { cluster }),
    ...(namespace !== undefined && { namespace }),
  };
  const order = { verb: "override", place, set, forMs } as const;
  const [begin, end] = forAWhile(random, faultsMs, order, { verb: "clear overrides" });
  if (!begin || !end || random.chance(1 / 2))
    return [begin, end].filter((one) => one !== undefined);
  // Before the end, or when it has passed: then the extension is refused.
  const extendMs = begin.atMs + random.int(1, Math.max(2, end.atMs - begin.atMs - 1));
  return [
    begin,
    { atMs: extendMs, verb: "extend overrides", forMs: random.int(5_000, 60_000) },
    end,
  ];
};

/** A removal waits for the deadlines of open intents, so it begins early enough. */
const movedElsewhere = (random: Random): readonly PlannedOrder[] => {
  const cluster = random.pick(["eu-1", "eu-2", "us-1"]);
  const atMs = random.int(20_000, 110_000);
  return [
    { atMs, verb: "remove", cluster },
    { atMs: atMs + random.int(1, 40_000), verb: "add elsewhere", cluster },
  ];
};

/** Divides a cluster anew, and back again before the faults end. */
const dividedAnew = (random: Random, faultsMs: number): readonly PlannedOrder[] => {
  const atMs = random.int(30_000, faultsMs / 3);
  return [
    { atMs, verb: "divide", cluster: "us-1", partitions: random.pick(MEANWHILE) },
    {
      atMs: atMs + random.int(20_000, faultsMs / 4),
      verb: "divide",
      cluster: "us-1",
      partitions: DIVIDED,
    },
  ];
};
