import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type AutoscalerUid, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import type { Observed, ObservedCluster } from "../../lib/stack/cluster/cluster-client.ts";
import { inRounds } from "../../lib/stack/sync/observe/rounds.ts";
import { observationOf, scaleRead } from "../observation.ts";

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterAll(() => {
  vi.useRealTimers();
});

const wait = (ms: number, seen: Observed): Promise<Observed> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(seen), ms);
  });

/** The clock goes on, a millisecond at a time, until the work is done. */
const played = async <Result>(work: Promise<Result>): Promise<Result> => {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) await vi.advanceTimersByTimeAsync(1);
  return done;
};

const OBSERVED: Observed = { observation: observationOf({ scale: scaleRead(1) }), rivals: [] };
const TENANT = "tenant";

interface Later {
  readonly flow: string;
  readonly afterMs: number;
}

/** When each autoscaler is handed out, in milliseconds from the beginning; and in how many rounds. */
const handedOut = async (answers: Readonly<Record<string, Later>>, until: string) => {
  const uids = Object.keys(answers).map(autoscalerUid);
  const first: ObservedCluster = {
    observations: new Map(uids.map((uid) => [uid, OBSERVED])),
    calls: 0,
    bytes: 0,
  };
  const fromMs = performance.now();
  const of = (uid: AutoscalerUid): Later => answers[uid] ?? { flow: "", afterMs: 0 };
  let part = inRounds(first, (uid, seen) => wait(of(uid).afterMs, seen), {
    callsBeside: () => 0,
    flowOf: (uid) => namespace(of(uid).flow),
  });
  for (let rounds = 0; ; rounds++) {
    if (part.observations.has(autoscalerUid(until)))
      return { atMs: performance.now() - fromMs, rounds };
    if (!part.later) throw new Error(`"${until}" was never handed out`);
    part = await part.later();
  }
};

const trickle = (count: number, everyMs: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `${TENANT}-${at}`,
      { flow: TENANT, afterMs: (at + 1) * everyMs },
    ]),
  );

describe("a round of a sync", () => {
  const web = { flow: "shop", afterMs: 700 };

  it("is held open for no other namespace by one whose answers come one by one", async () => {
    const { atMs } = await played(handedOut({ web, ...trickle(200, 15) }, "web"));
    // It was 1,400 ms: the end of the third round, each of which is twice as long as the one before.
    expect(atMs).toBeGreaterThanOrEqual(699);
    expect(atMs).toBeLessThan(1_000);
  });

  it("takes together what one namespace is answered one by one", async () => {
    const { rounds } = await played(handedOut(trickle(80, 10), `${TENANT}-79`));
    expect(rounds).toBeLessThan(8);
  });
});
