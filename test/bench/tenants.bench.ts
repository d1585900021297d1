import Table from "cli-table3";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { ATTACKS, type Attack, othersOf } from "../sync/tenants-attacks.ts";
import { type Played, play } from "../sync/tenants-played.ts";
import { tenantsServer } from "../sync/tenants-server.ts";

const OTHERS = othersOf(999);
/** Each attack is played so often, each time right after the same without it. The least of each says what it takes: a machine that does other things only adds. */
const ROUNDS = Number(process.env["TENANTS_ROUNDS"] ?? 5);
/** A part of the name of the attacks that are played; all of them where it is not set. */
const ONLY = process.env["TENANTS_ATTACK"] ?? "";
/** How much later the others may be scaled. */
const MOST = 1.1;

/** When 999 autoscalers are scaled beside one tenant that asks for too much, against the same without the tenant; and whether each decision is the same byte for byte. */
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
    "ratio",
    "CPU, ms",
    "alone, ms",
    "ratio",
  ];
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: ["left", ...head.slice(1).map(() => "right" as const)] });
  for (const attack of ATTACKS.filter(({ name }) => name.includes(ONLY))) {
    const pairs: (readonly [Played, Played])[] = [];
    for (let round = 0; round < ROUNDS; round++) pairs.push([await played(engine), await played(engine, attack)]);
    const differing = pairs.map(
      ([alone, beside]) => [...alone.decisions].filter(([name, decision]) => beside.decisions.get(name) !== decision).length,
    );
    const scaled = Math.min(...pairs.map(([, beside]) => beside.scaled.size));
    const [wall, cpu] = [figuresOf(pairs, ({ scaledMs }) => scaledMs), figuresOf(pairs, ({ cpuMs }) => cpuMs)];
    table.push([attack.name, Math.max(...differing), scaled, ...wall, ...cpu]);
    if (Math.max(...differing) > 0 || scaled < OTHERS.length || Number(wall[2]) > MOST) process.exitCode = 1;
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

/** The least beside the tenant, the least alone, and their ratio. */
const figuresOf = (pairs: readonly (readonly [Played, Played])[], figure: (played: Played) => number): readonly string[] => {
  const [alone, beside] = [0, 1].map((of) => Math.min(...pairs.map((pair) => figure(pair[of] as Played)))) as [number, number];
  return [beside.toFixed(0), alone.toFixed(0), (beside / alone).toFixed(2)];
};
