import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, it } from "vitest";
import type { Decision } from "../../lib/rules/model/decision.ts";
import { type DecideInput, decide } from "../../lib/rules/policy/decide.ts";
import { afterWrite } from "../../lib/rules/policy/dialects.ts";
import { MAX_I32 } from "../../lib/rules/policy/shared/arithmetic.ts";
import {
  averageReplicas,
  type PerPodInput,
  utilizationReplicas,
} from "../../lib/rules/policy/shared/metrics/per-pod.ts";
import {
  perReplicaReplicas,
  totalReplicas,
} from "../../lib/rules/policy/shared/metrics/replicas.ts";
import type { PodSample } from "../../lib/rules/sources/source.ts";
import { throughStore } from "../conformance/hpa/through-store.ts";
import { NOON } from "../noon.ts";
import { readyPods } from "../observation.ts";
import { anyDecideInput, windows } from "./arbitraries.ts";
import { RUNS } from "../runs.ts";

const currentOf = ({ observation: { scale } }: DecideInput): number =>
  scale.kind === "read" ? scale.specReplicas : 0;

describe("any decision of the hpa dialect", () => {
  it("never leaves [min, max] once inside", () => {
    const stays = (input: DecideInput): boolean => {
      const { minReplicas, maxReplicas } = input.spec;
      const decision = decide(input);
      if (
        currentOf(input) < minReplicas ||
        currentOf(input) > maxReplicas ||
        decision.kind === "hold"
      )
        return true;
      return decision.to >= minReplicas && decision.to <= maxReplicas;
    };
    fc.assert(fc.property(anyDecideInput, stays), RUNS);
  });

  it("is always the same for equal inputs, and changes none of them", () => {
    const repeats = (input: DecideInput): boolean => {
      const before = structuredClone(input.windows);
      return (
        isDeepStrictEqual(decide(input), decide(input)) && isDeepStrictEqual(input.windows, before)
      );
    };
    fc.assert(fc.property(anyDecideInput, repeats), RUNS);
  });

  it("never holds a NaN, before the write or after it", () => {
    const clean = (input: DecideInput): boolean => {
      const decision = decide(input);
      return !holdsNaN(decision) && !holdsNaN(windowsAfter(input, decision));
    };
    fc.assert(fc.property(anyDecideInput, clean), RUNS);
  });

  it("never shrinks a workload inside its bounds while one of its metrics failed", () => {
    const keeps = (input: DecideInput): boolean => {
      const decision = decide(input);
      const failed = decision.metrics.some(({ kind }) => kind === "failed");
      // What was recommended before may still take effect; the failed sync itself proposes nothing
      // smaller.
      const proposed = decision.steps.find(({ step }) => step === "propose");
      return !failed || proposed === undefined || proposed.after >= proposed.before;
    };
    fc.assert(fc.property(anyDecideInput, keeps), RUNS);
  });

  it("always leaves windows that the store gives back as they were", () => {
    const survives = (input: DecideInput): boolean => {
      const after = windowsAfter(input, decide(input));
      return isDeepStrictEqual(throughStore(after), after);
    };
    fc.assert(fc.property(anyDecideInput, survives), RUNS);
  });
});

it("windows always come back from the store as they went in", () => {
  fc.assert(
    fc.property(windows, (given) => isDeepStrictEqual(throughStore(given), given)),
    RUNS,
  );
});

const windowsAfter = (input: DecideInput, decision: Decision) =>
  decision.kind === "scale"
    ? afterWrite({ spec: input.spec, decision, outcome: { kind: "applied" }, atMs: NOON + 40 })
        .windows
    : decision.windows;

const holdsNaN = (value: unknown): boolean => {
  if (typeof value === "number") return Number.isNaN(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsNaN);
};

const amount = fc.bigInt({ min: 0n, max: 10_000n });
const tolerance = fc.record({
  down: fc.constantFrom(0, 0.05, 0.1),
  up: fc.constantFrom(0, 0.1, 0.3),
});
const sample = (milli: bigint): PodSample => ({ milli, timestampMs: NOON, windowMs: 30_000 });
const REQUEST = 1000n;

const perPodInput = (
  used: readonly bigint[],
  listed: number,
  currentReplicas: number,
  band: PerPodInput["tolerance"],
): PerPodInput => ({
  currentReplicas,
  tolerance: band,
  pods: readyPods(listed, REQUEST),
  samples: new Map(used.map((milli, at) => [`web-${at}`, sample(milli)])),
  resource: "cpu",
  readiness: { nowMs: NOON, cpuInitializationPeriodMs: 0, initialReadinessDelayMs: 0 },
});

const replicasOf = (
  outcome: ReturnType<typeof averageReplicas> | ReturnType<typeof totalReplicas>,
): number => {
  if (outcome.kind === "failure") return Number.NaN;
  return outcome.kind === "proposed" ? outcome.proposal.replicas : outcome.replicas;
};

describe("what is assumed for missing pods", () => {
  const drawn = fc.record({
    used: fc.array(amount, { minLength: 1, maxLength: 6 }),
    missing: fc.integer({ min: 1, max: 5 }),
    current: fc.integer({ min: 1, max: 12 }),
    target: fc.integer({ min: 1, max: 200 }),
    tolerance,
  });

  it("never moves a proposal across the current count", () => {
    const stays = ({
      used,
      missing,
      current,
      target,
      tolerance: band,
    }: typeof drawn extends fc.Arbitrary<infer Drawn> ? Drawn : never): boolean => {
      const listed = used.length + missing;
      const outcomes = [
        utilizationReplicas(perPodInput(used, listed, current, band), target, undefined),
        averageReplicas(perPodInput(used, listed, current, band), BigInt(target) * 10n),
      ];
      return outcomes.every((outcome) => {
        if (outcome.kind === "failure") return false;
        const { ratio, replicas } = outcome.proposal;
        return ratio < 1 ? replicas <= current : replicas >= current;
      });
    };
    fc.assert(fc.property(drawn, stays), RUNS);
  });
});

describe("with ready pods = current count and outside overflow", () => {
  const drawn = fc.record({
    used: fc.array(amount, { minLength: 1, maxLength: 8 }),
    more: amount,
    target: fc.integer({ min: 1, max: 200 }),
    tolerance,
  });

  it("raising a metric never lowers the proposal", () => {
    const grows = ({
      used,
      more,
      target,
      tolerance: band,
    }: typeof drawn extends fc.Arbitrary<infer Drawn> ? Drawn : never): boolean => {
      const count = used.length;
      const raised = used.with(0, (used[0] ?? 0n) + more);
      const pods = readyPods(count, REQUEST);
      const sum = (all: readonly bigint[]) => all.reduce((total, milli) => total + milli, 0n);
      const goal = BigInt(target) * 10n;
      const { readiness } = perPodInput(used, count, count, band);
      const proposals = (all: readonly bigint[]): readonly number[] => [
        replicasOf(utilizationReplicas(perPodInput(all, count, count, band), target, undefined)),
        replicasOf(averageReplicas(perPodInput(all, count, count, band), goal)),
        replicasOf(
          totalReplicas(sum(all), goal, {
            currentReplicas: count,
            tolerance: band,
            readiness,
            pods,
          }),
        ),
        replicasOf(
          perReplicaReplicas(
            sum(all),
            goal,
            { statusReplicas: count, tolerance: band, readiness },
            "saturated",
          ),
        ),
        replicasOf(
          perReplicaReplicas(
            sum(all),
            goal,
            { statusReplicas: count, tolerance: band, readiness },
            "wrapping",
          ),
        ),
      ];
      const [low, high] = [proposals(used), proposals(raised)];
      return low.every(
        (replicas, at) => replicas >= 0 && replicas <= MAX_I32 && replicas <= (high[at] ?? -1),
      );
    };
    fc.assert(fc.property(drawn, grows), RUNS);
  });
});
