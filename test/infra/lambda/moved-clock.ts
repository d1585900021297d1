/**
 * The clock of a process that a test moves ahead, so that hours are played in seconds. Both clocks
 * of the process move together, as when time passes; timers do not. `STAND_IN_AHEAD_MS` is where it
 * begins.
 */
let aheadMs = Number(process.env["STAND_IN_AHEAD_MS"] ?? 0);
const RealDate = Date;
const realSteadyMs = performance.now.bind(performance);
globalThis.Date = class extends RealDate {
  constructor(...given: readonly []) {
    super(...(given.length === 0 ? ([RealDate.now() + aheadMs] as unknown as readonly []) : given));
  }
  static override now(): number {
    return RealDate.now() + aheadMs;
  }
} as DateConstructor;
performance.now = () => realSteadyMs() + aheadMs;

export const moveClock = (toAheadMs: number): void => {
  aheadMs = toAheadMs;
};
