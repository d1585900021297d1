import { startMemory } from "../contracts/engines.ts";
import { othersOf, ATTACKS as TENANTS } from "../sync/tenants-attacks.ts";
import { type Played, play } from "../sync/tenants-played.ts";
import { tenantsServer } from "../sync/tenants-server.ts";
import type { Attack } from "./attack.ts";
import { checkoutOf } from "./checkout.ts";

const OTHERS = othersOf(200);

/**
 * Point 1.1: one sync of 200 autoscalers over real HTTPS, alone and beside one tenant. Whether they
 * are scaled in time is measured by `npm run bench -- tenants`.
 */
export const ATTACKS: readonly Attack[] = TENANTS.map((tenant) => ({
  name: `a tenant with ${tenant.name}`,
  play: async (folder) => {
    const code = await checkoutOf(folder);
    const engine = await startMemory();
    const played = async (attack?: typeof tenant): Promise<Played> => {
      const server = await tenantsServer(OTHERS.length, attack);
      try {
        return await play(engine, server, { others: OTHERS, tenant: server.tenant }, code);
      } finally {
        server.close();
      }
    };
    // The first sync of a process loads code.
    await played();
    const [alone, beside] = [await played(), await played(tenant)];
    await engine.close();
    const differing = [...alone.decisions].filter(
      ([name, decision]) => beside.decisions.get(name) !== decision,
    ).length;
    return {
      held: differing === 0 && beside.scaled.size === OTHERS.length,
      isUnknown: alone.scaled.size < OTHERS.length,
      saw: `${beside.scaled.size} of ${OTHERS.length} others scaled (alone ${alone.scaled.size}), ${differing} decided otherwise or not at all`,
    };
  },
}));
