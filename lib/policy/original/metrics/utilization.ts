import type { Pod } from "../../../model/observation.ts";
import { MAX_I32 } from "../../shared/arithmetic.ts";
import { type Failure, failure, type PodSamples } from "../../../sources/source.ts";
import { requestsOf } from "../../shared/metrics/requests.ts";

/** Half-width of the band around the target, whatever the cluster tolerates (proposals.md §1). */
export const TOLERANCE_TENTHS = 1n;

export interface Utilization {
  /** ⌈Σ pod utilisation ÷ target⌉, whatever the band says. */
  readonly wanted: number;
  /** Mean utilisation in whole percent, cut off. */
  readonly percent: number;
  /** Mean ÷ target, for people; `outside` is decided exactly. */
  readonly ratio: number;
  /** Mean ÷ target is below 0.9 or above 1.1. */
  readonly outside: boolean;
  readonly usageMilli: bigint;
}

/**
 * proposals.md §1: every pod's use ÷ its own request, added up. Sums are fractions of integers, so that three pods at 160 % never want more than 480 % asks for.
 * A pod that runs and reports nothing, or requests nothing, fails the metric: its share of the sum is not known.
 */
export const utilizationOf = (pods: readonly Pod[], samples: PodSamples, targetPercent: number): Utilization | Failure => {
  const running = pods.filter(({ deleting, phase }) => !deleting && phase !== "Pending" && phase !== "Failed" && phase !== "Succeeded");
  if (running.length === 0) return failure("no running pods returned by selector while calculating replica count");
  const requests = requestsOf(running, "cpu", undefined);
  if ("message" in requests) return requests;
  let usageMilli = 0n;
  const usageByRequest = new Map<bigint, bigint>();
  for (const { name } of running) {
    const sample = samples.get(name);
    const request = requests.get(name) ?? 0n;
    if (sample === undefined || request <= 0n) return failure(`no CPU utilization of Pod ${name}`);
    usageMilli += sample.milli;
    usageByRequest.set(request, (usageByRequest.get(request) ?? 0n) + sample.milli);
  }
  return fromSum(sumOfFractions(usageByRequest), { pods: BigInt(running.length), target: BigInt(targetPercent) }, usageMilli);
};

interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const sumOfFractions = (usageByRequest: ReadonlyMap<bigint, bigint>): Fraction => {
  let over = 0n;
  let under = 1n;
  for (const [request, usage] of usageByRequest) {
    over = over * request + usage * under;
    under *= request;
  }
  return { over, under };
};

const fromSum = (
  { over, under }: Fraction,
  { pods, target }: { readonly pods: bigint; readonly target: bigint },
  usageMilli: bigint,
): Utilization => {
  // sum ÷ (target / 100) = hundredfold ÷ scaled
  const hundredfold = over * 100n;
  const scaled = under * target;
  const wanted = Number((hundredfold + scaled - 1n) / scaled);
  const outside = hundredfold * 10n < (10n - TOLERANCE_TENTHS) * scaled * pods || hundredfold * 10n > (10n + TOLERANCE_TENTHS) * scaled * pods;
  return {
    wanted: Math.min(wanted, MAX_I32),
    percent: Number(hundredfold / (under * pods)),
    ratio: Number((hundredfold * 1_000_000n) / (scaled * pods)) / 1_000_000,
    outside,
    usageMilli: usageMilli / pods,
  };
};
