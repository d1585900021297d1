export type Way = "scaleUp" | "scaleDown";

/** A policy of a direction: so many pods, percent of the count, or a factor of it. */
export interface RatePolicy {
  readonly type: "Pods" | "Percent" | "Factor";
  readonly value: number;
}

/**
 * Why a policy can never limit a count: from either bound it leads to the other one, or beyond it,
 * in one step. Undefined where it can.
 */
export const pastTheBounds = (
  { type, value }: RatePolicy,
  way: Way,
  { minReplicas, maxReplicas }: { readonly minReplicas: number; readonly maxReplicas: number },
): string | undefined => {
  const room = maxReplicas - minReplicas;
  if (type === "Pods")
    return value >= room ? `it allows ${value} pods, and the bounds are ${room} apart` : undefined;
  const percentPasses =
    way === "scaleDown"
      ? maxReplicas * (1 - value / 100) <= minReplicas
      : minReplicas * (1 + value / 100) >= maxReplicas;
  const passes = type === "Factor" ? value * minReplicas >= maxReplicas : percentPasses;
  return passes ? "it leads beyond the other bound" : undefined;
};

const DEFAULT_PERIOD_SECONDS = 15;

/** True of a policy that Kubernetes writes where a manifest has none: it may not have been meant. */
export const isDefaultPolicy = ({
  type,
  value,
  periodSeconds,
}: RatePolicy & { readonly periodSeconds: number }): boolean =>
  periodSeconds === DEFAULT_PERIOD_SECONDS &&
  type !== "Factor" &&
  value === (type === "Percent" ? 100 : 4);
