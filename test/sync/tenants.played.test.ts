import { beforeAll, describe, expect, it } from "vitest";
import { SLOW_PAGE_MS } from "../../lib/stack/cluster/request-limits.ts";
import { ATTACKS, type Attack, CPU, LINK_ATTACKS, othersOf, TENANT } from "./tenants-attacks.ts";
import { type Machine, playVirtual, type VirtualSync } from "./tenants-virtual.ts";

/** TENANTS_OTHERS=999 plays all of them, which takes three times as long. */
const OTHERS = othersOf(Number(process.env["TENANTS_OTHERS"] ?? 199)).map((app) => ({
  ...app,
  metrics: [CPU],
}));
const ALL_OTHERS = 999;

const USUAL: Machine = { bytesPerSecond: 100e6, cpu: 1 };
/** The memory of the function gives it so much of a processor. */
const SMALL: Machine = { bytesPerSecond: 100e6, cpu: 0.29 };
const LINK_OF_8: Machine = { bytesPerSecond: 8e6, cpu: 1 };
const LINK_OF_4: Machine = { bytesPerSecond: 4e6, cpu: 0.29 };

/**
 * How much later the last of the others may be scaled: a tenth of the time of 999. What a tenant
 * costs does not grow with the others, and so it is compared with that time where they are fewer.
 */
const LATER_SHARE = (0.1 * ALL_OTHERS) / OTHERS.length;

const MACHINES = [
  ["a link of 100 MB/s and a whole processor", USUAL, ATTACKS],
  [
    "0.29 of a processor",
    SMALL,
    ATTACKS.filter(({ name }) => /^40 pods|^500 |^1,000 |^1 MB|^20 /.test(name)),
  ],
  ["a link of 8 MB/s", LINK_OF_8, LINK_ATTACKS],
  ["a link of 4 MB/s and 0.29 of a processor", LINK_OF_4, LINK_ATTACKS],
] as const;

const play = (machine: Machine, attack?: Attack): Promise<readonly VirtualSync[]> =>
  playVirtual({ others: OTHERS, attack }, { machine, syncs: 2 });

describe.each(MACHINES)("the other tenants of a cluster, with %s", (_name, machine, attacks) => {
  let alone: readonly VirtualSync[];
  beforeAll(async () => {
    alone = await play(machine);
  });

  it("are all decided and scaled where they are alone", () => {
    expect(alone.map(({ decisions, scaled }) => [decisions.size, scaled.size])).toEqual(
      alone.map(() => [OTHERS.length, OTHERS.length]),
    );
  });

  it.each(attacks.map((attack) => [attack.name, attack] as const))(
    "are decided byte for byte as without it from the second sync of an environment on, and the last is scaled a tenth later at most, beside %s",
    async (_attack, attack) => {
      const second = (await play(machine, attack))[1];
      const before = alone[1];
      expect(second?.scaled.size).toBe(OTHERS.length);
      const differing = [...(second?.decisions ?? [])].filter(
        ([name, decision]) => decision !== before?.decisions.get(name),
      );
      expect(differing.slice(0, 1)).toEqual([]);
      expect(second?.decisions.size).toBe(OTHERS.length);
      expect(second?.lastMs).toBeLessThan((1 + LATER_SHARE) * (before?.lastMs ?? 0));
      // What is over its share holds alone, and is named.
      const over = new Set(second?.overShare.map(({ namespace }) => String(namespace)));
      expect([...over].filter((namespace) => namespace !== TENANT)).toEqual([]);
      if (attack.isOver) expect(over).toContain(TENANT);
    },
  );
});

describe.each(MACHINES.filter(([, { bytesPerSecond }]) => bytesPerSecond < USUAL.bytesPerSecond))(
  "the other tenants of a cluster in the first sync of an environment, with %s",
  (_name, machine, attacks) => {
    const playFirst = async (attack?: Attack): Promise<VirtualSync | undefined> =>
      (await playVirtual({ others: OTHERS, attack }, { machine, syncs: 1 }))[0];

    it.each(attacks.map((attack) => [attack.name, attack] as const))(
      "are all scaled, and decided byte for byte as without it, one slow page later at most, beside %s",
      async (_attack, attack) => {
        const [beside, alone] = [await playFirst(attack), await playFirst()];
        expect(beside?.scaled.size).toBe(OTHERS.length);
        expect([...(beside?.decisions ?? [])].toSorted()).toEqual(
          [...(alone?.decisions ?? [])].toSorted(),
        );
        expect(beside?.lastMs).toBeLessThan((alone?.lastMs ?? 0) + 1.2 * SLOW_PAGE_MS);
      },
    );
  },
);
