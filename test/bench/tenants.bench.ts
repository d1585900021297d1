import Table from "cli-table3";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { ATTACKS, type Attack, othersOf } from "../sync/tenants-attacks.ts";
import { type Played, play } from "../sync/tenants-played.ts";
import { tenantsServer } from "../sync/tenants-server.ts";

const OTHERS = othersOf(999);
/**
 * Each attack is played so often, each time right beside the same without it, and each of the two
 * goes first in every other round. What counts is the median of the ratios of these pairs: other
 * work on the machine slows both of a pair alike. The quarter and three quarters of the ratios say
 * how much the pairs differ: where they are far apart, more rounds are needed.
 */
const ROUNDS = Number(process.env["TENANTS_ROUNDS"] ?? 5);
/** A part of the name of the attacks that are played; all of them where it is not set. */
const ONLY = process.env["TENANTS_ATTACK"] ?? "";
/** How much later the others may be scaled. */
const MOST = 1.1;

/**
 * When 999 autoscalers are scaled beside one tenant that asks for too much, against the same
 * without the tenant; and whether each decision is the same byte for byte.
 */
export const run = async (): Promise<void> => {
  const engine = await startMemory();
  // The first sync of a process loads code.
  await played(engine);
  const head = [
    "one tenant with",
    "decisions that differ",
    "scaled of 999",
    "last scaled, ms",
    "alone, ms",
    "ratio (quarters)",
    "CPU, ms",
    "alone, ms",
    "ratio (quarters)",
  ];
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: ["left", ...head.slice(1).map(() => "right" as const)],
  });
  for (const attack of ATTACKS.filter(({ name }) => name.includes(ONLY))) {
    const pairs: (readonly [Played, Played])[] = [];
    for (let round = 0; round < ROUNDS; round++)
      pairs.push(await pairOf(engine, attack, round % 2 === 0));
    const differing = pairs.map(
      ([alone, beside]) =>
        [...alone.decisions].filter(([name, decision]) => beside.decisions.get(name) !== decision)
          .length,
    );
    const scaled = Math.min(...pairs.map(([, beside]) => beside.scaled.size));
    const [wall, cpu] = [
      figuresOf(pairs, ({ scaledMs }) => scaledMs),
      figuresOf(pairs, ({ cpuMs }) => cpuMs),
    ];
    table.push([attack.name, Math.max(...differing), scaled, ...wall.cells, ...cpu.cells]);
    if (Math.max(...differing) > 0 || scaled < OTHERS.length || wall.ratio > MOST)
      process.exitCode = 1;
  }
  process.stdout.write(`${table.toString()}\n`);
  await engine.close();
};

const played = async (engine: Engine, attack?: Attack): Promise<Played> => {
  const server = await tenantsServer(OTHERS.length, attack);
  try {
    return await play(engine, server, { others: OTHERS, tenant: server.tenant });
  } finally {
    server.close();
  }
};

/** The same without the tenant and beside it. */
const pairOf = async (
  engine: Engine,
  attack: Attack,
  aloneFirst: boolean,
): Promise<readonly [Played, Played]> => {
  if (aloneFirst) return [await played(engine), await played(engine, attack)];
  const beside = await played(engine, attack);
  return [await played(engine), beside];
};

/** The number at this part of a sorted list. */
const quantile = (numbers: readonly number[], part: number): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor((numbers.length - 1) * part)] ??
  Number.NaN;

/** The medians beside the tenant and alone, and the median of the ratios of the pairs. */
const figuresOf = (
  pairs: readonly (readonly [Played, Played])[],
  figure: (played: Played) => number,
): { readonly cells: readonly string[]; readonly ratio: number } => {
  const median = (of: 0 | 1): string =>
    quantile(
      pairs.map((pair) => figure(pair[of])),
      1 / 2,
    ).toFixed(0);
  const ratios = pairs.map(([alone, beside]) => figure(beside) / figure(alone));
  const [low, ratio, high] = [1 / 4, 1 / 2, 3 / 4].map((part) => quantile(ratios, part)) as [
    number,
    number,
    number,
  ];
  return {
    cells: [median(1), median(0), `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`],
    ratio,
  };
};
