/**
 * The four settings of the HPA controller, per cluster (hpa.md 2.1). The names follow the flags of the kube-controller-manager.
 */
export interface ControllerSettings {
  /** Half-width of the band in which nothing changes, as a share; a double, default 0.1. */
  readonly tolerance: number;
  readonly downscaleStabilizationMs: number;
  readonly cpuInitializationPeriodMs: number;
  readonly initialReadinessDelayMs: number;
}

export const DEFAULT_SETTINGS: ControllerSettings = {
  tolerance: 0.1,
  downscaleStabilizationMs: 300_000,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
};
