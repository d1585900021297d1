import { type Outcome, type PlayOptions, play } from "./play.ts";

/** How one seed ended: with its first violation, or without. */
export interface SeedOutcome
  extends Pick<Outcome, "violation" | "played" | "effects" | "story" | "coverage"> {
  readonly seed: number;
}

/**
 * Plays a seed with its faults and once more without, and compares where both came to rest. The
 * same seed gives the same outcome on every machine.
 */
export const playSeed = async (
  seed: number,
  options: Omit<PlayOptions, "faults">,
): Promise<SeedOutcome> => {
  const { violation, replicas, ...rest } = await play(seed, { ...options, faults: true });
  if (violation) return { seed, violation, ...rest };
  const calm = await play(seed, { told: false, faults: false });
  if (calm.violation)
    throw new TypeError(
      `the run of seed ${seed} without faults breaks: ${calm.violation.invariant}: ${calm.violation.message}`,
    );
  const different = [...replicas].filter(([name, count]) => calm.replicas.get(name) !== count);
  const words = different
    .map(
      ([name, count]) => `${name} has ${count} and had ${calm.replicas.get(name)} without faults`,
    )
    .join(", ");
  const moved =
    different.length > 0
      ? {
          invariant: "after faults stop, replicas equal those of the run without faults" as const,
          message: words,
        }
      : undefined;
  return { seed, violation: moved, ...rest };
};
