import Table from "cli-table3";
import { startMemory } from "../contracts/engines.ts";
import { ATTACKS, type Attack, othersOf } from "../sync/tenants-attacks.ts";
import { type Played, play } from "../sync/tenants-played.ts";
import { tenantsServer } from "../sync/tenants-server.ts";

const OTHERS = othersOf(999);

/** When 999 autoscalers are scaled beside one tenant that asks for too much, against the same without the tenant right before it; and whether each decision is the same byte for byte. */
export const run = async (): Promise<void> => {
  const engine = await startMemory();
  const played = async (attack?: Attack): Promise<Played> => {
    const server = await tenantsServer(OTHERS.length, attack);
    try {
      return await play(engine, server, { others: OTHERS, tenant: server.tenant });
    } finally {
      server.close();
    }
  };
  // The first sync of a process loads code.
  await played();
  const head = ["one tenant with", "decisions that differ", "scaled of 999", "last scaled, ms", "alone, ms", "ratio", "whole sync, ms"];
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: ["left", ...head.slice(1).map(() => "right" as const)] });
  for (const attack of ATTACKS) {
    const [alone, beside] = [await played(), await played(attack)];
    const differing = [...alone.decisions].filter(([name, decision]) => beside.decisions.get(name) !== decision).length;
    const ratio = (beside.scaledMs / alone.scaledMs).toFixed(2);
    const { startMs, endMs } = beside.report;
    table.push([attack.name, differing, beside.scaled.size, beside.scaledMs.toFixed(0), alone.scaledMs.toFixed(0), ratio, endMs - startMs]);
  }
  process.stdout.write(`${table.toString()}\n`);
  await engine.close();
};
