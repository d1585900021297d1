import { asList } from "../../../lib/rules/model/json.ts";
import { readWorkloadScale } from "../../../lib/stack/cluster/scale.ts";
import { type Decoded, decodeAnswer } from "../../../lib/stack/cluster/wire/answer.ts";
import { RECORDED, recordedAnswer } from "./recorded.ts";
import { readPods } from "../read/answers.ts";

/** Numbers that look random and are the same for the same seed. */
export const dice = (seed: number): ((sides: number) => number) => {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
};

const ANSWERS = RECORDED.map((recorded) => ({
  kind: recorded.kind,
  bytes: recordedAnswer(recorded, "pb"),
}));

type Roll = ReturnType<typeof dice>;

/**
 * A varint that is as large as one may be, one that never ends, and tags of groups that begin and
 * end.
 */
const EVIL = [
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  Array(12).fill(0xff),
  [0x0b],
  [0x0c],
  [0x00],
  [0x7f],
  [0x80, 0x80, 0x80, 0x80, 0x08],
  [0x0a, 0x00],
].map((bytes) => Buffer.from(bytes));

const MUTATIONS: readonly ((bytes: Buffer, roll: Roll) => Buffer)[] = [
  (bytes, roll) => bytes.subarray(0, roll(bytes.length)),
  (bytes, roll) => {
    const copy = Buffer.from(bytes);
    copy[roll(copy.length)] = roll(256);
    return copy;
  },
  (bytes, roll) => {
    const at = roll(bytes.length);
    return Buffer.concat([
      bytes.subarray(0, at),
      EVIL[roll(EVIL.length)] ?? Buffer.alloc(0),
      bytes.subarray(at),
    ]);
  },
  (bytes, roll) => {
    const at = roll(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + roll(20))]);
  },
  (bytes, roll) => {
    const [from, to] = [roll(bytes.length), roll(bytes.length)];
    return Buffer.concat([
      bytes.subarray(0, to),
      bytes.subarray(from, from + roll(200)),
      bytes.subarray(to),
    ]);
  },
  (bytes, roll) => {
    const other = ANSWERS[roll(ANSWERS.length)]?.bytes ?? bytes;
    return Buffer.concat([
      bytes.subarray(0, roll(bytes.length)),
      other.subarray(roll(other.length)),
    ]);
  },
];

const MUTATIONS_MAX = 4;

export interface Mutated {
  readonly decoded: Decoded;
  readonly ms: number;
}

/**
 * One recorded answer, damaged in up to four places, and read as far as an observation would read
 * it. Whatever the bytes are, it ends in a value.
 */
export const readMutated = async (seed: number): Promise<Mutated> => {
  const roll = dice(seed);
  roll(2);
  const { kind, bytes } = ANSWERS[roll(ANSWERS.length)] ?? {
    kind: undefined,
    bytes: Buffer.alloc(0),
  };
  if (!kind) throw new RangeError("there are no recorded answers");
  let damaged = bytes;
  for (let count = 1 + roll(MUTATIONS_MAX); count > 0 && damaged.length > 0; count--)
    damaged = MUTATIONS[roll(MUTATIONS.length)]?.(damaged, roll) ?? damaged;
  const startedMs = performance.now();
  const decoded = await decodeAnswer(damaged, kind);
  if (decoded.kind === "object") {
    const items = asList(decoded.object["items"]);
    if (kind.kind === "PodList") readPods(items);
    else items.map(readWorkloadScale);
  }
  return { decoded, ms: performance.now() - startedMs };
};
