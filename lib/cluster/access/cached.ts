/** A value that is made once and kept until its time; simultaneous callers share one making, and a failure is not kept. */
export interface Cached<Value> {
  readonly get: () => Promise<Value>;
  /** The value turned out to be bad. Several callers find that out at the same time; one made since then is kept. */
  readonly forget: () => void;
}

/** A value younger than this was made after the one that a caller complains about, or would be no better if made again. */
const TOO_YOUNG_TO_FORGET_MS = 1_000;

/** `ttlMs` counts from the clock before `make` began, so that a slow answer does not outlive its credentials. */
export const cached = <Value>(
  make: (nowMs: number) => Promise<Value>,
  options: { readonly ttlMs: number | ((value: Value) => number); readonly clock: () => number },
): Cached<Value> => {
  let kept: { readonly value: Promise<Value>; readonly sinceMs: number; untilMs: number } | undefined;
  const begin = (nowMs: number): Promise<Value> => {
    const value = make(nowMs);
    const entry = { value, sinceMs: nowMs, untilMs: Number.POSITIVE_INFINITY };
    kept = entry;
    value.then(
      (made) => {
        entry.untilMs = nowMs + (typeof options.ttlMs === "number" ? options.ttlMs : options.ttlMs(made));
      },
      () => {
        if (kept === entry) kept = undefined;
      },
    );
    return value;
  };
  return {
    get: () => {
      const nowMs = options.clock();
      return kept && nowMs < kept.untilMs ? kept.value : begin(nowMs);
    },
    forget: () => {
      if (kept && options.clock() - kept.sinceMs >= TOO_YOUNG_TO_FORGET_MS) kept = undefined;
    },
  };
};
