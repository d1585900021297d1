import { editedManifest } from "./manifests/edited.ts";
import type { Random } from "./random.ts";
import type { Happening, PlannedAutoscaler, PlannedEdit } from "./timetable.ts";

/** Chance that a seed has a second editor. */
const DEPUTY_CHANCE = 1 / 3;
/** Edits beside each one of the owner, and how far from it. */
const BESIDE_MAX = 3;
const NEAR_MS = 400;
const FAR_MS = 5_000;
/**
 * The last of them is asked for so long before the faults end: the owner's last words come after
 * it.
 */
const LAST_BEFORE_MS = 60_000;

/** A second person edits the same autoscalers as the owner, most often at the same moment. */
export const deputyEdits = (
  random: Random,
  owned: readonly Happening[],
  seed: { readonly autoscalers: readonly PlannedAutoscaler[]; readonly faultsMs: number },
): readonly Happening[] => {
  if (!random.chance(DEPUTY_CHANCE)) return [];
  return owned.flatMap(({ atMs, workload }) =>
    Array.from({ length: random.int(1, BESIDE_MAX) }, (): Happening => {
      const offMs = random.chance(2 / 3)
        ? random.int(-NEAR_MS, NEAR_MS)
        : random.int(-FAR_MS, FAR_MS);
      const when = Math.max(0, Math.min(seed.faultsMs - LAST_BEFORE_MS, atMs + offMs));
      return {
        atMs: when,
        workload,
        kind: "edit",
        by: "deputy",
        edit: someEdit(random, seed.autoscalers[workload]),
      };
    }),
  );
};

const someEdit = (random: Random, planned: PlannedAutoscaler | undefined): PlannedEdit => {
  const { manifest = {}, shape = "legacy" } = planned ?? {};
  switch (random.pick(["apply", "pause", "resume", "delete"] as const)) {
    case "apply":
      return { verb: "apply", manifest: editedManifest(random, shape, manifest) };
    case "pause":
      return { verb: "pause", forMs: 3_600_000 };
    case "resume":
      return { verb: "resume" };
    case "delete":
      // A new autoscaler does not wake what another has put to rest (hpa.md 2.4 step 4).
      return shape === "zero" ? { verb: "resume" } : { verb: "delete" };
  }
};
