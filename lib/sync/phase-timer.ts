import type { RealTime } from "../report/sync-report.ts";

/** Milliseconds of each phase by name, on the injected clock. A phase that comes again adds to its sum. */
export interface PhaseTimer {
  /** Ends a phase now. */
  readonly mark: (name: string) => void;
  readonly phase: <Result>(name: string, running: Promise<Result>) => Promise<Result>;
  readonly phasesMs: Readonly<Record<string, number>>;
  /** The same on the real clock, since it was begun; absent without a real clock. */
  readonly real: () => RealTime | undefined;
}

/** `realClock`: where `clock` is virtual. */
export const phaseTimer = (clock: () => number, realClock?: () => number): PhaseTimer => {
  const virtual = stopwatch(clock);
  const real = realClock && stopwatch(realClock);
  const mark = (name: string): void => {
    virtual.mark(name);
    real?.mark(name);
  };
  return {
    phasesMs: virtual.phasesMs,
    real: () => real && { tookMs: real.tookMs(), phasesMs: real.phasesMs },
    mark,
    phase: async (name, running) => {
      const result = await running;
      mark(name);
      return result;
    },
  };
};

const stopwatch = (clock: () => number) => {
  const phasesMs: Record<string, number> = {};
  const beganMs = clock();
  let lastMs = beganMs;
  const mark = (name: string): void => {
    const nowMs = clock();
    phasesMs[name] = (phasesMs[name] ?? 0) + nowMs - lastMs;
    lastMs = nowMs;
  };
  return { phasesMs, mark, tookMs: () => clock() - beganMs };
};
