import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { ATTACKS, type Attack, othersOf, TENANT } from "./tenants-attacks.ts";
import { type Played, play } from "./tenants-played.ts";
import { tenantsServer } from "./tenants-server.ts";

const OTHERS = othersOf(200);
/**
 * What the others wait for at most, on a machine that does other things as well. A sync that waits
 * for the tenant takes six seconds; `npm run bench -- tenants` has the figures.
 */
const SLACK_MS = 4_000;

let engine: Engine;
let alone: Played;
const played = async (attack?: Attack): Promise<Played> => {
  const server = await tenantsServer(OTHERS.length, attack);
  try {
    return await play(engine, server, { others: OTHERS, tenant: server.tenant });
  } finally {
    server.close();
  }
};
beforeAll(async () => {
  engine = await startMemory();
  // The first sync of a process loads code.
  await played();
  alone = await played();
}, 60_000);
afterAll(() => engine.close());

describe("the other tenants of a cluster", () => {
  it("are all decided and scaled where they are alone", () => {
    expect(alone.scaled.size).toBe(OTHERS.length);
    expect(alone.decisions.size).toBe(OTHERS.length);
  });

  it.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
    "are decided byte for byte as without it, and scaled in time, beside %s",
    async (_name, attack) => {
      const beside = await played(attack);
      expect(
        [...beside.decisions].filter(([name, decision]) => decision !== alone.decisions.get(name)),
      ).toEqual([]);
      expect(beside.decisions.size).toBe(OTHERS.length);
      expect(beside.scaled.size).toBe(OTHERS.length);
      expect(beside.scaledMs).toBeLessThan(1.1 * alone.scaledMs + SLACK_MS);
      // What is over its share holds alone, and is named.
      const over = new Set(beside.report.overShare.map(({ namespace }) => namespace));
      expect([...over].filter((namespace) => namespace !== TENANT)).toEqual([]);
      if (attack.isOver) expect(over).toContain(TENANT);
    },
    60_000,
  );
});
