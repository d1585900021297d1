/** What a person set: until the answer to the last attempt, the value before may be true. */
interface Step<Value> {
  readonly value: Value;
  readonly begunMs: number;
  sureMs: number;
}

/** The own list of the simulation of one thing that people set, and no reader is asked for it. */
export interface Told<Value> {
  readonly now: () => Value;
  readonly begin: (value: Value) => void;
  readonly done: () => void;
  /** What it was at some moment between two. */
  readonly between: (fromMs: number, toMs: number) => readonly Value[];
  /** The tables have gone back to an instant at which nothing was under way. */
  readonly goBack: (thenMs: number) => void;
}

export const newTold = <Value>(first: Value, nowMs: () => number): Told<Value> => {
  const steps: Step<Value>[] = [{ value: first, begunMs: 0, sureMs: 0 }];
  const last = (): Step<Value> => {
    const step = steps.at(-1);
    if (!step) throw new RangeError("nothing was told");
    return step;
  };
  return {
    now: () => last().value,
    begin: (value) => steps.push({ value, begunMs: nowMs(), sureMs: Number.POSITIVE_INFINITY }),
    done: () => {
      last().sureMs = Math.min(last().sureMs, nowMs());
    },
    between: (fromMs, toMs) =>
      steps.flatMap(({ value, begunMs }, at) => {
        const next = steps[at + 1];
        return begunMs <= toMs && (next === undefined || next.sureMs >= fromMs) ? [value] : [];
      }),
    goBack: (thenMs) => {
      const then = steps.findLast(({ begunMs }) => begunMs <= thenMs);
      if (then) steps.push({ value: then.value, begunMs: nowMs(), sureMs: nowMs() });
    },
  };
};
