import { isTidemarkError } from "../../lib/rules/model/errors.ts";
import type { TableIds } from "../../lib/rules/model/records.ts";
import type { Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Stage } from "./stage.ts";
import type { Happening } from "./timetable.ts";
import { noteAdopted, type Stack } from "./watch/restored.ts";

/**
 * Both tables are restored to an earlier instant, and the stack is deployed with them. Offsets from
 * the start.
 */
export interface PlannedRestore {
  /** The instant to which they are restored. */
  readonly thenMs: number;
  /** When the deployment is done, so that functions work on the restored tables. */
  readonly atMs: number;
  /** Until when the former tables have functions too: two stacks with copies of one table. */
  readonly formerUntilMs: number;
  /**
   * Whether people froze the former stack before, as the runbook says; the restored tables do not
   * know of it.
   */
  readonly freezeMs: number | undefined;
  /** The tables have the names of the former ones, so that warm functions go on with them. */
  readonly sameName: boolean;
  readonly adoptMs: number;
  /**
   * Loads just before the deployment and just after the adoption, so that there is something to
   * scale on both sides.
   */
  readonly loads: readonly {
    readonly atMs: number;
    readonly share: number;
    readonly load: number;
  }[];
}

export const FORMER_IDS: TableIds = { state: "state-1", history: "history-1" };
export const RESTORED_IDS: TableIds = { state: "state-2", history: "history-2" };

const LOADS = 24;

export const planRestore = (random: Random): PlannedRestore => {
  const thenMs = random.int(40_000, 100_000);
  const atMs = thenMs + random.int(2_000, 60_000);
  const isCopy = random.chance(1 / 2);
  const adoptMs = atMs + (random.chance(1 / 2) ? 0 : random.int(0, 20_000));
  return {
    thenMs,
    atMs,
    formerUntilMs: isCopy ? atMs + random.int(30_000, 120_000) : atMs,
    freezeMs: !isCopy && random.chance(1 / 2) ? thenMs + random.int(1, 2_000) : undefined,
    sameName: !isCopy && random.chance(1 / 2),
    adoptMs,
    loads: Array.from({ length: LOADS }, (_, at) => ({
      atMs:
        at % 2 === 0
          ? random.int(Math.max(thenMs, atMs - 20_000), atMs)
          : adoptMs + random.int(0, 10_000),
      share: random.real(),
      load: random.int(5, 110),
    })),
  };
};

/** Loads of the plan, at their instants. */
export const playLoads = (stage: Stage, { loads }: PlannedRestore, startMs: number): void => {
  const all = [...stage.clusters.values()].flatMap((site) =>
    [...site.workloads.values()].map((workload) => ({ site, workload })),
  );
  for (const { atMs, share, load } of loads) {
    stage.scheduler.at(startMs + atMs, () => {
      const { site, workload } = all[Math.floor(share * all.length)] ?? {};
      if (!site || !workload) return;
      stage.story.tell(site.name, `"${workload.target.name}" has a load of ${load}`);
      workload.load = load;
      site.changed(workload);
    });
  }
};

type Edit = Extract<Happening, { kind: "edit" }>;

/**
 * What a person does with the restored stack: adopts its tables, does again what was edited since,
 * and thaws.
 */
export const adoptRestored = (
  stage: Stage,
  restored: Stack,
  { restorer, plan }: { readonly restorer: Person; readonly plan: PlannedRestore },
): void => {
  const { timetable, story } = stage;
  restorer.does("adopt the tables", async (service) => {
    await service.adopt().catch((error: unknown) => {
      // An attempt whose answer was lost has adopted them.
      if (!isTidemarkError(error, "service.not-restored")) throw error;
    });
    noteAdopted(restored);
  });
  const isLost = (happening: Happening): happening is Edit =>
    happening.kind === "edit" && happening.atMs >= plan.thenMs && happening.atMs < plan.atMs;
  for (const { workload, edit } of timetable.happenings.filter(isLost)) {
    const autoscaler = timetable.autoscalers[workload];
    if (autoscaler) restorer.edit(autoscaler, edit);
  }
  restorer.does("thaw", (service) => {
    story.tell("restorer", "lets the restored stack go on");
    restored.mayScale = true;
    return service.thaw();
  });
};
