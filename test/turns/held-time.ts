/** Time that passes only where a test says so. */
export const heldTime = () => {
  let nowMs = 0;
  const due = new Map<() => void, number>();
  return {
    elapsed: () => nowMs,
    after: (ms: number, happen: () => void) => {
      due.set(happen, nowMs + ms);
      return () => void due.delete(happen);
    },
    /** Calls back what is due then, the earliest first. */
    pass: (ms: number) => {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...due].toSorted(([, one], [, other]) => one - other);
        if (next === undefined || next[1] > untilMs) break;
        nowMs = next[1];
        due.delete(next[0]);
        next[0]();
      }
      nowMs = untilMs;
    },
  };
};
