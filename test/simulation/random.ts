import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/**
 * Draws of one stream of a seed. Streams are independent: what people do is the same whether faults
 * are drawn or not.
 */
export interface Random {
  /** Uniform in [0, 1). */
  readonly real: () => number;
  /** Whole, both ends included. */
  readonly int: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <Item>(items: readonly Item[]) => Item;
}

export type Stream =
  | "settings"
  | "timetable"
  | "faults"
  | "jitter"
  | "damages"
  | "objects"
  | "rivals"
  | "bounds"
  | "takeovers"
  | "sources"
  | "accidents"
  | "swaps"
  | "clocks"
  | "forecasts"
  | "late answers"
  | "looks";

const STREAMS: Readonly<Record<Stream, number>> = {
  settings: 1,
  timetable: 2,
  faults: 3,
  jitter: 4,
  damages: 5,
  objects: 6,
  rivals: 7,
  bounds: 8,
  takeovers: 9,
  sources: 10,
  accidents: 11,
  swaps: 12,
  clocks: 13,
  forecasts: 14,
  "late answers": 15,
  looks: 16,
};
const SPREAD = 0x9e3779b1;
const TWO_32 = 2 ** 32;

export const randomOf = (seed: number, stream: Stream): Random => {
  const generator = xoroshiro128plus(
    (Math.imul(seed + 1, SPREAD) ^ Math.imul(STREAMS[stream], 0x85ebca6b)) | 0,
  );
  for (let warm = 0; warm < 8; warm++) generator.next();
  const real = (): number => (generator.next() >>> 0) / TWO_32;
  const int = (from: number, to: number): number => from + Math.floor(real() * (to - from + 1));
  return {
    real,
    int,
    chance: (probability) => real() < probability,
    pick: (items) => {
      const item = items[int(0, items.length - 1)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
  };
};
