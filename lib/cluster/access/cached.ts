/** A value that is made once and kept until it expires. Concurrent callers share one call of `make`. A failure is not kept. */
export interface Cached<Value> {
  readonly get: () => Promise<Value>;
  /** Drops a value that the server refused. Several callers may do so at the same time: a value that was made since stays. */
  readonly forget: () => void;
}

/** A value younger than this stays: it was made after the refused one, or making it again would give the same. */
const TOO_YOUNG_TO_FORGET_MS = 1_000;

/** `ttlMs` counts from before `make` began, so that a slow answer does not outlive its credentials. */
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
