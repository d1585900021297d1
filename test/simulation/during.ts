/** Those of several states that held at some instant between two, both included. */
export const during = <State extends { readonly atMs: number }>(
  states: readonly State[],
  fromMs: number,
  toMs: number,
): readonly State[] =>
  states
    .slice(
      Math.max(
        0,
        states.findLastIndex(({ atMs }) => atMs < fromMs),
      ),
    )
    .filter(({ atMs }) => atMs <= toMs);
