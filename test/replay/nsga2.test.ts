import fc from "fast-check";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { describe, expect, it } from "vitest";
import { dominates, frontsOf, roomOf } from "../../lib/replay/tune/fronts.ts";
import { latinHypercube } from "../../lib/replay/tune/latin-hypercube.ts";
import { type Individual, offspring, survivors } from "../../lib/replay/tune/nsga2.ts";
import { runs } from "../runs.ts";

const randomBy = (seed: number) => {
  const generator = xoroshiro128plus(seed);
  return () => uniformFloat64(generator);
};

/** ZDT1 of Zitzler, Deb and Thiele (2000): its front is f2 = 1 - √f1, where all other genes are 0. */
const zdt1 = (genes: readonly number[]): Individual => {
  const [first = 0, ...others] = genes;
  const g = 1 + (9 * others.reduce((sum, gene) => sum + gene, 0)) / others.length;
  return { genes, amounts: [first, g * (1 - Math.sqrt(first / g))] };
};

const searched = (seed: number, generations: number): readonly Individual[] => {
  const random = randomBy(seed);
  let population: readonly Individual[] = latinHypercube(40, 8, random).map(zdt1);
  for (let generation = 0; generation < generations; generation++)
    population = survivors(
      [...population, ...offspring(population, 40, random).map(zdt1)],
      population.length,
    );
  return population;
};

/** How far a point is above the known front. */
const above = ({ amounts: [first = 0, second = 0] }: Individual): number =>
  second - (1 - Math.sqrt(first));

describe("the search with NSGA-II", () => {
  it("comes to the known front of ZDT1, and spreads over the whole of it", () => {
    const found = searched(7, 200);
    expect(Math.max(...found.map(above))).toBeLessThan(0.05);
    const firsts = found.map(({ amounts: [first = 0] }) => first).toSorted((a, b) => a - b);
    expect(firsts[0]).toBeLessThan(0.02);
    expect(firsts.at(-1)).toBeGreaterThan(0.9);
    const gaps = firsts.slice(1).map((first, at) => first - (firsts[at] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(0.15);
  });

  it("finds the same for the same seed, and something else for another one", () => {
    expect(searched(7, 5)).toEqual(searched(7, 5));
    expect(searched(8, 5)).not.toEqual(searched(7, 5));
  });

  it("always keeps what nothing dominates, as long as there is room", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ max: 9, min: 0 }), fc.integer({ max: 9, min: 0 })), {
          minLength: 1,
          maxLength: 30,
        }),
        (pairs) => {
          const all = pairs.map((amounts) => ({ genes: [], amounts }));
          const [front = []] = frontsOf(all);
          const kept = survivors(all, front.length);
          expect(new Set(kept)).toEqual(new Set(front));
          for (const point of front)
            expect(all.some(({ amounts }) => dominates(amounts, point.amounts))).toBe(false);
        },
      ),
      runs(100),
    );
  });

  it("always has children inside the cube", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = randomBy(seed);
        const parents = latinHypercube(6, 3, random).map(zdt1);
        for (const child of offspring(parents, 20, random))
          for (const gene of child) {
            expect(gene).toBeGreaterThanOrEqual(0);
            expect(gene).toBeLessThanOrEqual(1);
          }
      }),
      runs(50),
    );
  });
});

describe("latinHypercube()", () => {
  it("always puts one point into each part of each side", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 40 }), (seed, points) => {
        const cube = latinHypercube(points, 4, randomBy(seed));
        for (let side = 0; side < 4; side++) {
          const parts = cube.map((point) => Math.floor((point[side] ?? 0) * points));
          expect(parts.toSorted((a, b) => a - b)).toEqual(cube.map((_, at) => at));
        }
      }),
      runs(50),
    );
  });
});

describe("roomOf()", () => {
  it("leaves infinite room to the ends, and to the others what lies between their neighbours", () => {
    const front = [
      [0, 10],
      [1, 4],
      [9, 1],
      [10, 0],
    ].map((amounts) => ({ amounts }));
    expect(roomOf(front)).toEqual([Number.POSITIVE_INFINITY, 1.8, 1.3, Number.POSITIVE_INFINITY]);
  });
});
