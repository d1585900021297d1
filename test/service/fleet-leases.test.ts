import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import {
  AFTER_MS,
  type Fate,
  isSafe,
  type Mistake,
  newLeases,
  type Played,
  TERM,
} from "./world/leases.ts";

/** Long after this the lease of the holder has ended. */
const of = (region: string, untilMs: number) => ({ region, term: TERM, untilMs });
const OLD = -AFTER_MS;
const BEGINS: Readonly<Record<string, readonly (ReturnType<typeof of> | undefined)[]>> = {
  "both have ended": [of("A", OLD), of("A", OLD)],
  "both are renewed": [of("A", 2 * MINUTE_MS), of("A", 2 * MINUTE_MS)],
  "the standby has claimed its own": [of("B", MINUTE_MS), of("A", OLD)],
  "the standby has claimed that of the witness": [of("A", OLD), of("B", MINUTE_MS)],
  "the standby has claimed both": [of("B", MINUTE_MS), of("B", MINUTE_MS)],
  "the witness has none": [of("A", OLD), undefined],
};
/** Requests that fail, or steps of the clock, in one run. With one of each it is 236,000 runs. */
const ACCIDENTS_MAX = 1;
const FATES: readonly Fate[] = ["answered", "lost", "cut"];

/** One request goes on, in some way, or the clock does. */
const step = (
  { world, waiting }: ReturnType<typeof newLeases>,
  mayFail: boolean,
  choose: (ways: number) => number,
): "accident" | "answer" => {
  const fates = mayFail ? FATES : FATES.slice(0, 1);
  const way = choose(waiting.length * fates.length + (mayFail ? 1 : 0));
  const fate = fates[way % fates.length] ?? "answered";
  const [request] = waiting.splice(Math.floor(way / fates.length), 1);
  request?.run(fate);
  if (!request) world.nowMs += 9 * MINUTE_MS;
  return request && fate === "answered" ? "answer" : "accident";
};

/** One run: each choice is a number below the number of ways to go on. */
const play = async (begin: string, choose: (ways: number) => number, mistake?: Mistake) => {
  const leases = newLeases(mistake);
  const { world, played } = leases;
  await leases.begin(BEGINS[begin] ?? []);
  let accidents = 0;
  const calls = [leases.renew, leases.claim].map((call) => call());
  let isOver = false;
  const ended = Promise.all(calls).finally(() => {
    isOver = true;
  });
  for (;;) {
    await new Promise(setImmediate);
    if (isOver) break;
    if (step(leases, accidents < ACCIDENTS_MAX, choose) === "accident") accidents++;
  }
  await ended;
  // Both call once more, without any fault.
  world.isFree = true;
  world.nowMs += MINUTE_MS;
  await leases.renew();
  await leases.claim();
  return played;
};

/** Every order of requests, with every accident at every place. It ends with the first unsafe run. */
const every = async (begin: string, mistake?: Mistake) => {
  const found = { unsafe: undefined as Played | undefined, runs: 0, claims: 0, coverage: 0 };
  const choices: { at: number; readonly ways: number }[] = [];
  do {
    let depth = 0;
    const played = await play(
      begin,
      (ways) => {
        choices[depth] ??= { at: 0, ways };
        return choices[depth++]?.at ?? 0;
      },
      mistake,
    );
    found.runs++;
    found.claims += played.claims.length;
    found.coverage += played.coverage.length;
    if (!isSafe(played)) return { ...found, unsafe: played };
    while (choices.length > 0 && isLast(choices.at(-1))) choices.pop();
    const last = choices.at(-1);
    if (last) last.at++;
  } while (choices.length > 0);
  return found;
};

const isLast = ({ at, ways } = { at: 0, ways: 0 }): boolean => at + 1 >= ways;

describe("the leases of the fleet", () => {
  it.each(Object.keys(BEGINS))(
    "let no two stacks plan in any order of their requests, where %s",
    async (begin) => {
      const { unsafe, runs, claims, coverage } = await every(begin);
      expect(unsafe).toBeUndefined();
      expect(runs).toBeGreaterThan(100);
      // In some orders the standby has both, and in some the holder goes on; but it has lost both.
      expect(claims).toBeGreaterThan(0);
      if (begin === "the standby has claimed both") expect(coverage).toBe(0);
      else expect(coverage).toBeGreaterThan(0);
    },
  );

  const isFound = async (mistake: Mistake): Promise<boolean> => {
    for (const begin of Object.keys(BEGINS))
      if ((await every(begin, mistake)).unsafe !== undefined) return true;
    return false;
  };

  it("are found unsafe, where a lease is written without its condition", async () => {
    expect(await isFound("a lease is written without its condition")).toBe(true);
  });

  it("are found unsafe, where the holder plans without a renewal", async () => {
    expect(await isFound("the holder plans without a renewal")).toBe(true);
  });

  it("are found unsafe, where one lease is enough for the standby", async () => {
    expect(await isFound("one lease is enough for the standby")).toBe(true);
  });

  it("are taken back by the holder where a standby has claimed one alone, so that either keeps it planning", async () => {
    const leases = newLeases();
    await leases.begin(BEGINS["the standby has claimed its own"] ?? []);
    leases.world.isFree = true;
    await leases.renew();
    await leases.claim();
    const untilMs = 3 * MINUTE_MS;
    expect(await leases.read()).toMatchObject([of("A", untilMs), of("A", untilMs)]);
    expect(leases.played).toEqual({ coverage: [untilMs], claims: [] });
  });
});
