import { describe, expect, it } from "vitest";
import { withReplays } from "../../lib/command/replay/replay-threads.ts";
import { type ReplayJob, replay } from "../../lib/replay/replay.ts";
import { DAY_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { hpa, loadOf, policyOf, START_MS, tracedOf } from "../replay/world.ts";

const DAYS = 12;
const STEPS = Object.fromEntries(
  Array.from({ length: DAYS * 4 }, (_, at) => [at * 360, 100 + ((at * 37) % 5) * 150]),
);

const jobOf = (averageUtilization: number, days: number): ReplayJob => {
  const load = loadOf(STEPS, (days * DAY_MS) / MINUTE_MS);
  const target = { type: "Utilization", averageUtilization };
  const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
  const policy = policyOf(hpa({ metrics }), tracedOf(load));
  const [{ spec }] = policy.specs;
  return {
    policy,
    workload: {
      pods: {
        target: spec.target,
        container: "app",
        ...{ requests: { cpu: 1_000n }, limits: { cpu: 2_000n }, startMs: 30_000 },
      },
      initialReplicas: 2,
      target: [{ load, perPod: averageUtilization }],
    },
    span: { fromMs: START_MS, untilMs: load.endMs, periodMs: 60_000 },
  };
};

const played = async (autoscalers: number, jobs: readonly ReplayJob[]) => {
  const shares: number[] = [];
  return withReplays(autoscalers, async (replayAll) => {
    const running = replayAll(jobs, (share) => shares.push(share));
    const atOnce = shares.length;
    return { minutes: await running, shares, atOnce };
  });
};

describe("withReplays()", () => {
  it("replays several long jobs in threads, with the minutes of this thread and the share of all", async () => {
    const jobs = [jobOf(50, DAYS), jobOf(80, DAYS)];
    const { minutes, shares, atOnce } = await played(1, jobs);
    expect(minutes).toEqual(jobs.map((job) => replay(job.policy, job.workload, job.span)));
    // This thread was not kept from its work while the others replayed.
    expect(atOnce).toBe(0);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(shares.at(-1)).toBe(1);
    // Twice for ten of twelve days of each job, and at its end.
    expect(shares).toHaveLength(6);
  });

  it("replays the long job of one of several autoscalers in a thread", async () => {
    expect((await played(3, [jobOf(50, DAYS)])).atOnce).toBe(0);
  });

  it.each([
    ["one job", 1, [jobOf(50, DAYS)], 3],
    ["short jobs", 1, [jobOf(50, 1), jobOf(80, 1)], 2],
  ])(
    "replays %s where it is, because a thread would not be sooner",
    async (_, autoscalers, jobs, heard) => {
      const { shares, atOnce } = await played(autoscalers, jobs);
      expect([atOnce > 0, shares.length, shares.at(-1)]).toEqual([true, heard, 1]);
    },
  );
});
