import type { ForecastAdvice } from "./forecast.ts";
import type { ScheduleEntry } from "./schedule.ts";

/** Fields that only a `tidemark.dev/v1` manifest has, with any rules. */
export interface CommonSpec {
  /** The owner, for people. */
  readonly owner?: string;
  /** Everything is decided and reported; nothing is written to the cluster. */
  readonly dryRun?: boolean;
  /** Before this instant the autoscaler is decided, but held. */
  readonly pausedUntilMs?: number;
  /** Other bounds, and pauses, at certain times. Absent without entries. */
  readonly schedule?: readonly ScheduleEntry[];
  /** Forecasts raise the minimum. Absent: they do nothing. */
  readonly advice?: ForecastAdvice;
}

/** The workload whose scale subresource is written. */
export interface TargetRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/**
 * The group of an apiVersion: "apps/v1" → "apps", "v1" → "" (the core group); undefined for more
 * than one slash.
 */
export const groupOf = (apiVersion = ""): string | undefined => {
  const slash = apiVersion.indexOf("/");
  return slash === apiVersion.lastIndexOf("/")
    ? apiVersion.slice(0, Math.max(0, slash))
    : undefined;
};

/**
 * The releases of the HPA controller that the rules imitate. Each decides otherwise than the one
 * before in what docs/spec/hpa.md 0.2 says; the first is the one that is recorded there.
 */
export const HPA_VERSIONS = ["1.37", "1.38"] as const;
export type HpaVersion = (typeof HPA_VERSIONS)[number];

/** Whether what 1.38 mended decides (hpa.md 0.2). */
export const isMended = ({ hpaVersion }: Pick<ControllerSettings, "hpaVersion">): boolean =>
  hpaVersion === "1.38";

/**
 * The settings of the HPA controller, per cluster (hpa.md 2.1). The names follow the flags of the
 * kube-controller-manager.
 */
export interface ControllerSettings {
  /** Half-width of the band in which nothing changes, as a share; a double, default 0.1. */
  readonly tolerance: number;
  readonly downscaleStabilizationMs: number;
  readonly cpuInitializationPeriodMs: number;
  readonly initialReadinessDelayMs: number;
  /** Absent: 1.37. */
  readonly hpaVersion?: HpaVersion;
}

export const DEFAULT_SETTINGS: ControllerSettings = {
  tolerance: 0.1,
  downscaleStabilizationMs: 300_000,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
};
