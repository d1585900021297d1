import type { SimulatedCluster } from "./cluster.ts";
import type { Random } from "./random.ts";
import { FAULTS_MS, type Timetable } from "./timetable.ts";

/** What the API server at an address answers to the question which cluster it is. */
export type IdentityAnswer = "its own" | "forbidden" | "missing" | "restarting";

/**
 * For a while the address of a cluster leads to another one, where workloads have the same names;
 * or the own one does not say which it is, as while it restarts, or after an edit of its rights.
 * Offsets from the start.
 */
export interface PlannedSwap {
  readonly cluster: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly leadsElsewhere: boolean;
  readonly answers: IdentityAnswer;
}

const SEEDS = 20;
const SWAPPED = 17;
const SWAPS_MAX = 6;
const SHORTEST_MS = 200;
const LONGEST_MS = 70_000;

/** By the seed, so that nothing else that is drawn depends on it. */
export const hasSwaps = (seed: number): boolean => seed % SEEDS === SWAPPED;

export const planSwaps = (random: Random, { clusters }: Timetable): readonly PlannedSwap[] =>
  Array.from({ length: random.int(2, SWAPS_MAX) }, () => {
    const fromMs = random.int(15_000, FAULTS_MS - LONGEST_MS);
    const leadsElsewhere = random.chance(3 / 4);
    return {
      cluster: random.pick(clusters).name,
      fromMs,
      untilMs: fromMs + random.int(SHORTEST_MS, LONGEST_MS),
      leadsElsewhere,
      answers: random.pick(
        leadsElsewhere
          ? (["its own", "forbidden", "missing", "restarting"] as const)
          : (["forbidden", "missing", "restarting"] as const),
      ),
    };
  });

/** Which API server answers at the address of another one, and what it says of itself. */
export interface Behind {
  readonly site: SimulatedCluster;
  readonly answers: IdentityAnswer;
}

interface Places {
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
  readonly elsewhere: ReadonlyMap<string, SimulatedCluster>;
}

/** Who answers at the address of a cluster at an instant, an offset from the start. */
export const behindAt = (
  swaps: readonly PlannedSwap[],
  { clusters, elsewhere }: Places,
  site: SimulatedCluster,
  atMs: number,
): Behind => {
  const swap = swaps.find(
    ({ cluster, fromMs, untilMs }) => cluster === site.name && fromMs <= atMs && atMs < untilMs,
  );
  if (!swap) return { site, answers: "its own" };
  const other = [clusters, elsewhere].map((all) => all.get(site.name)).find((one) => one !== site);
  return { site: swap.leadsElsewhere && other ? other : site, answers: swap.answers };
};
