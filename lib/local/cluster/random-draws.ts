import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** The characters of names that Kubernetes generates: no vowels, so that no words occur. */
const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const HEX_DIGITS = "0123456789abcdef";

/** Whole numbers that depend only on the seed and on their purpose, not on the order of drawing or on the clock. */
export const drawer = (seed: number, ...purpose: readonly (string | number)[]): ((min: number, max: number) => number) => {
  const generator = xoroshiro128plus(fnv1a(`${seed}/${purpose.join("/")}`));
  return (min, max) => uniformInt(generator, min, max);
};

export const drawName = (length: number, seed: number, ...purpose: readonly (string | number)[]): string =>
  drawText(NAME_LETTERS, length, drawer(seed, ...purpose));

/** Text of the shape of a version 4 UUID. */
export const drawUid = (seed: number, ...purpose: readonly (string | number)[]): string => {
  const draw = drawer(seed, "uid", ...purpose);
  const hex = (length: number) => drawText(HEX_DIGITS, length, draw);
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${drawText("89ab", 1, draw)}${hex(3)}-${hex(12)}`;
};

const drawText = (letters: string, length: number, draw: (min: number, max: number) => number): string =>
  Array.from({ length }, () => letters.charAt(draw(0, letters.length - 1))).join("");

/** The 32-bit FNV-1a hash. */
const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash | 0;
};
