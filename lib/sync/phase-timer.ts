/** Milliseconds of each phase by name, on the injected clock. A phase that comes again adds to its sum. */
export interface PhaseTimer {
  /** Ends a phase now. */
  readonly mark: (name: string) => void;
  readonly phase: <Result>(name: string, running: Promise<Result>) => Promise<Result>;
  readonly phasesMs: Readonly<Record<string, number>>;
}

export const phaseTimer = (clock: () => number): PhaseTimer => {
  const phasesMs: Record<string, number> = {};
  let lastMs = clock();
  const mark = (name: string): void => {
    const nowMs = clock();
    phasesMs[name] = (phasesMs[name] ?? 0) + nowMs - lastMs;
    lastMs = nowMs;
  };
  return {
    phasesMs,
    mark,
    phase: async (name, running) => {
      const result = await running;
      mark(name);
      return result;
    },
  };
};
