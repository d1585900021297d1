/** The help text of each series. Names and meanings of the watermark controller's series are kept (watermark.md 2.15). */
const WPA_HELP: Readonly<Record<string, string>> = {
  value: "Value compared with the watermarks, in thousandths",
  high_watermark: "High watermark, in thousandths",
  high_watermak: "High watermark, in thousandths, under its old name",
  low_watermark: "Low watermark, in thousandths",
  low_watermak: "Low watermark, in thousandths, under its old name",
  replicas_scaling_proposal: "Replicas that the metric asks for, before limits and bounds",
  replicas_scaling_effective: "Replicas that were written or kept; in a dry run, those that would have been written",
  min_replicas: "Least replicas allowed",
  max_replicas: "Most replicas allowed",
  restricted_scaling: "1 while the limit that the label names cuts a step; within_bounds: while every value is between its widened watermarks",
  transition_countdown: "Seconds until the forbidden window of the direction ends",
  upscale_replicas: "Replicas added",
  downscale_replicas: "Replicas removed",
  dry_run: "1 in a dry run",
  scaling_active: "1 while the condition ScalingActive is true",
  conditions: "1 while the condition that the label names is true",
  labels_info: "Always 1: the chosen labels of the autoscaler, to join on",
  lifecycle_control_status: "1 while the monitor blocks every scale",
};

export const wpaHelp = (name: string): string => WPA_HELP[name] ?? `Series "${name}" of the watermark rules`;

export const CURRENT_HELP = "Replicas in the newest sync";
export const DESIRED_HELP = "Replicas that the newest sync wanted";
export const ACTIVE_HELP = "1 while the rules of the autoscaler decide its count: it was evaluated, and its metrics could be read";
