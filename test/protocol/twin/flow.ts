/**
 * The way of one sync through the labels of `Worker` in exactly-once.pml, for one workload: which
 * label may come after which. A label that leads to itself may be sent again: its answer was lost.
 * A worker may die at each: `dead` follows all but the ends.
 */
const FOLLOWS = {
  next: ["claim", "finished"],
  claim: ["claim", "load", "next"],
  load: ["load", "observe"],
  observe: ["observe", "settleLate", "countLate", "decide", "holding"],
  settleLate: ["settleLate", "holding"],
  countLate: ["holding"],
  decide: ["otherWave", "closing"],
  otherWave: ["otherWave", "intend"],
  intend: ["intend", "act"],
  act: ["look", "settle", "notSent", "holding"],
  look: ["act", "settle", "holding"],
  notSent: ["settle", "holding"],
  settle: ["settle", "nextWave"],
  nextWave: ["nextWave", "closing"],
  holding: ["holding", "closing"],
  closing: ["closing", "unchanged"],
  unchanged: ["unchanged", "next"],
  dead: ["next"],
  finished: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Label = keyof typeof FOLLOWS;
export const LABELS = Object.keys(FOLLOWS) as readonly Label[];

/**
 * Labels that a trace does not show: what a worker decides by itself, an update or a page that is
 * not needed, a PUT that is not sent. `next` and `finished` are ends of an invocation.
 */
const UNSEEN: ReadonlySet<Label> = new Set([
  "countLate",
  "decide",
  "otherWave",
  "act",
  "notSent",
  "nextWave",
  "holding",
  "closing",
]);

const reached = (from: Label): ReadonlySet<Label> => {
  const found = new Set<Label>();
  const go = (label: Label): void => {
    for (const next of FOLLOWS[label] as readonly Label[]) {
      if (found.has(next)) continue;
      found.add(next);
      if (UNSEEN.has(next)) go(next);
    }
  };
  go(from);
  return found;
};

const REACHED = new Map(LABELS.map((label) => [label, reached(label)]));

/** True where the model allows a label as the next that is seen. */
export const mayFollow = (from: Label, to: Label): boolean =>
  to === "dead" ? from !== "next" : (REACHED.get(from)?.has(to) ?? false);
