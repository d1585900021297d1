import { frontsOf, type HasAmounts, roomOf } from "./fronts.ts";
import type { Random } from "./latin-hypercube.ts";

/** A point of the unit cube with what it comes to. */
export interface Individual extends HasAmounts {
  readonly genes: readonly number[];
}

interface Ranked<Of extends Individual> {
  readonly individual: Of;
  readonly front: number;
  readonly room: number;
}

/** Deb et al. (2002), NSGA-II: how far children lie from parents; larger is nearer. */
const CROSSOVER_INDEX = 15;
const MUTATION_INDEX = 20;
const CROSSOVER_SHARE = 0.9;
/** Of two genes of the parents that differ so little, none is crossed. */
const SAME = 1e-12;

const ranked = <Of extends Individual>(individuals: readonly Of[]): readonly Ranked<Of>[] =>
  frontsOf(individuals).flatMap((front, at) => {
    const rooms = roomOf(front);
    return front.map((individual, place) => ({
      individual,
      front: at,
      room: rooms[place] ?? 0,
    }));
  });

/** The nearest front first; in a front who has most room. */
const better = <Of extends Individual>(one: Ranked<Of>, other: Ranked<Of>): number =>
  one.front - other.front || other.room - one.room;

/** The best of them: whole fronts, and of the last one those with the most room. */
export const survivors = <Of extends Individual>(
  individuals: readonly Of[],
  size: number,
): readonly Of[] =>
  ranked(individuals)
    .toSorted(better)
    .slice(0, size)
    .map(({ individual }) => individual);

/** As many children, each of two parents that won against another one by chance. */
export const offspring = (
  parents: readonly Individual[],
  size: number,
  random: Random,
): readonly (readonly number[])[] => {
  const all = ranked(parents);
  const pick = (): Ranked<Individual> | undefined => all[Math.floor(random() * all.length)];
  const winner = (): readonly number[] => {
    const [one, other] = [pick(), pick()];
    const best = one && other && better(other, one) < 0 ? other : one;
    return best?.individual.genes ?? [];
  };
  const children: (readonly number[])[] = [];
  while (children.length < size && all.length > 0) {
    const pair = crossed(winner(), winner(), random);
    for (const child of pair) if (children.length < size) children.push(mutated(child, random));
  }
  return children;
};

/** Simulated binary crossover. */
const crossed = (
  one: readonly number[],
  other: readonly number[],
  random: Random,
): readonly [readonly number[], readonly number[]] => {
  if (random() > CROSSOVER_SHARE) return [one, other];
  const pairs = one.map((gene, at): readonly [number, number] => {
    const beside = other[at] ?? gene;
    const draw = random();
    if (random() > 0.5 || Math.abs(gene - beside) < SAME) return [gene, beside];
    const spread =
      draw <= 0.5
        ? (2 * draw) ** (1 / (CROSSOVER_INDEX + 1))
        : (1 / (2 * (1 - draw))) ** (1 / (CROSSOVER_INDEX + 1));
    return [
      ((1 + spread) * gene + (1 - spread) * beside) / 2,
      ((1 - spread) * gene + (1 + spread) * beside) / 2,
    ];
  });
  return [pairs.map(([first]) => inside(first)), pairs.map(([, second]) => inside(second))];
};

/** Polynomial mutation: one gene of a child on average. */
const mutated = (genes: readonly number[], random: Random): readonly number[] =>
  genes.map((gene) => {
    if (random() >= 1 / genes.length) return gene;
    const draw = random();
    const by =
      draw < 0.5
        ? (2 * draw) ** (1 / (MUTATION_INDEX + 1)) - 1
        : 1 - (2 * (1 - draw)) ** (1 / (MUTATION_INDEX + 1));
    return inside(gene + by);
  });

const inside = (gene: number): number => Math.min(1, Math.max(0, gene));
