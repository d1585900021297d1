/** Milliseconds of each phase by name, on the injected clock. */
export interface PhaseTimer {
  readonly phase: <Result>(name: string, running: Promise<Result>) => Promise<Result>;
  readonly phasesMs: Readonly<Record<string, number>>;
}

export const phaseTimer = (clock: () => number): PhaseTimer => {
  const phasesMs: Record<string, number> = {};
  let lastMs = clock();
  return {
    phasesMs,
    phase: async (name, running) => {
      const result = await running;
      const nowMs = clock();
      phasesMs[name] = nowMs - lastMs;
      lastMs = nowMs;
      return result;
    },
  };
};
