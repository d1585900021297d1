import { type Build, THIS_BUILD } from "./beside/build.ts";
import { drawSkew, SKEW_MAX_MS } from "./clock-errors.ts";
import type { Machine } from "./machine.ts";
import type { Network, Process } from "./process.ts";
import type { Random } from "./random.ts";

export interface Environments {
  /** A process that is free, warm or new. */
  readonly take: () => Process;
  readonly all: readonly Process[];
}

/**
 * Chance that work goes to a new environment though a warm one is free, and that a clock is set
 * anew before it works.
 */
const NEW_CHANCE = 0.05;
/** Share of the environments that work by an older build, where there is one. */
const OLDER = 1 / 2;
/** What is wrong beyond bounds is put right when the faults end. */
const putRight = (process: Process): void => {
  if (Math.abs(process.skewMs) > SKEW_MAX_MS) process.skewMs = 0;
};

/**
 * The places where syncs run: each with a memory and a clock of its own, kept warm between
 * invocations, as many as the platform likes.
 */
export const environments = (
  network: Network,
  faults: { readonly random: Random; readonly rate: () => number; readonly extreme: number },
  options: {
    readonly parallel: number;
    readonly warmMax: number;
    readonly beside?: Build;
    readonly machine?: Machine | undefined;
    readonly warm?: readonly Process[];
  },
): Environments => {
  const { random, rate, extreme } = faults;
  let made = 0;
  const all: Process[] = [...(options.warm ?? [])];
  const skew = (): number => (rate() === 0 ? 0 : drawSkew(random, extreme));
  /** The update is over when the faults end. */
  const isOver = ({ build }: Process): boolean => build !== THIS_BUILD && rate() === 0;
  const isFree = (process: Process): boolean =>
    process.alive && process.busy < options.parallel && !isOver(process);
  const newProcess = (): Process => {
    const { beside } = options;
    const build = beside && rate() > 0 && random.chance(OLDER) ? beside : THIS_BUILD;
    const name = `${build === THIS_BUILD ? "env" : "older"}-${++made}`;
    const process = {
      name,
      skewMs: skew(),
      pausedUntilMs: 0,
      alive: true,
      build,
      cache: build.warmCache(),
      busy: 0,
      endsMs: Number.POSITIVE_INFINITY,
      onEnd: new Set<() => void>(),
    };
    all.push(process);
    options.machine?.began(process);
    return process;
  };
  const endSurplus = (warm: readonly Process[]): void => {
    // After the faults environments live on, as the platform keeps them for hours: what one counts
    // in minutes comes to its end.
    if (warm.length <= options.warmMax || rate() === 0) return;
    const surplus = warm.find(({ busy }) => busy === 0);
    if (surplus) network.end(surplus, "no longer needed");
  };
  return {
    all,
    take: () => {
      endSurplus(all.filter(isFree));
      const free = all.filter(isFree);
      const process =
        free.length === 0 || random.chance(NEW_CHANCE) ? newProcess() : random.pick(free);
      if (random.chance(rate())) process.skewMs = skew();
      if (rate() === 0) putRight(process);
      return process;
    },
  };
};
