import type { GaugeWrite } from "../../../rules/model/decision.ts";
import type { MetricFamily } from "../../../stack/report/open-metrics.ts";
import { percentOf, type Shares } from "../../../stack/plan/decided-share.ts";
import type { AutoscalerState } from "../../views/autoscaler.ts";
import type { AutoscalerRow } from "../../views/row.ts";

export interface LabelledSample extends Pick<MetricFamily, "name" | "type" | "help"> {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const WPA_PREFIX = "wpa_controller_";
/** Series that count increments. Their value is the sum of the events. */
const INCREMENT = /_total$/;
const DECIDED: ReadonlySet<AutoscalerState> = new Set(["active", "held", "limited", "shadow"]);

/** What the series of one autoscaler follow from. */
export interface SeriesSource {
  readonly cluster: string;
  readonly row: AutoscalerRow;
  /**
   * True where the condition `ScalingActive` is false: with zero replicas scaling is off without a
   * failure.
   */
  readonly isSwitchedOff: boolean;
  /** Present where it has the series of the watermark rules. */
  readonly bands?: Bands;
}

/**
 * The gauges that its newest evaluation wrote, and the replicas that were added and removed so far.
 */
export interface Bands {
  readonly gauges: readonly GaugeWrite[];
  readonly added: number;
  readonly removed: number;
}

/**
 * Every series of one autoscaler, from its newest evaluation. A series that this evaluation did not
 * write, or removed, is absent (watermark.md 2.15).
 */
export const seriesOf = (
  known: SeriesSource,
  labels: readonly string[] = [],
): readonly LabelledSample[] => {
  const { bands } = known;
  if (!bands) return genericSeries(known);
  return [...genericSeries(known), ...watermarkSeries(known, bands), labelsInfo(known, labels)];
};

const WINDOW_LABELS = { quarter: "15m", hour: "1h", day: "24h" } as const;
const DECIDED_HELP = "Share of the due syncs of a cluster that decided";

/**
 * What a cluster was owed and got. It goes on while no sync of the cluster comes, so that an alert
 * on it does not end by itself.
 */
export const decidedSeries = (cluster: string, shares: Shares): readonly LabelledSample[] =>
  (["quarter", "hour", "day"] as const).flatMap((time) => {
    const percent = percentOf(shares[time]);
    return percent === undefined
      ? []
      : [
          {
            name: "tidemark_due_syncs_decided_ratio",
            type: "gauge",
            help: DECIDED_HELP,
            labels: { cluster, window: WINDOW_LABELS[time] },
            value: percent / 100,
          },
        ];
  });

const genericSeries = ({
  cluster,
  row,
  isSwitchedOff,
}: SeriesSource): readonly LabelledSample[] => {
  const { namespace, name: own, target } = row;
  const labels = {
    cluster,
    namespace,
    name: own,
    resource_kind: target?.kind ?? "",
    resource_name: target?.name ?? "",
  };
  const gauge = (
    name: string,
    help: string,
    value: number | undefined,
  ): readonly LabelledSample[] =>
    value === undefined ? [] : [{ name: `tidemark_${name}`, type: "gauge", help, labels, value }];
  return [
    ...gauge("current_replicas", CURRENT_HELP, row.currentReplicas),
    ...gauge("desired_replicas", DESIRED_HELP, row.desiredReplicas),
    ...gauge("scaling_active", ACTIVE_HELP, DECIDED.has(row.state) && !isSwitchedOff ? 1 : 0),
  ];
};

/**
 * The series of the watermark controller with its names and labels. `cluster` is added, because its
 * own process serves one cluster.
 */
const watermarkSeries = (
  known: SeriesSource,
  { gauges, added, removed }: Bands,
): readonly LabelledSample[] => {
  const labels = baseLabels(known);
  const counter = (name: string, value: number): LabelledSample => ({
    name: WPA_PREFIX + name,
    type: "counter",
    help: wpaHelp(name),
    labels,
    value,
  });
  return [
    ...lastWrites(gauges).map((write) => gaugeSample(known, write)),
    counter("upscale_replicas", added),
    counter("downscale_replicas", removed),
  ];
};

const baseLabels = ({
  cluster,
  row: { namespace, name, target },
}: SeriesSource): Readonly<Record<string, string>> => ({
  cluster,
  wpa_name: name,
  wpa_namespace: namespace,
  resource_namespace: namespace,
  resource_name: target?.name ?? "",
  resource_kind: target?.kind ?? "",
  target_name: target?.name ?? "",
  namespace,
});

/** Always 1; other series are joined on its labels (watermark.md 2.15). */
const labelsInfo = (
  { cluster, row: { namespace, name, labels: own = {} } }: SeriesSource,
  names: readonly string[],
): LabelledSample => {
  const labels = {
    cluster,
    wpa_name: name,
    wpa_namespace: namespace,
    resource_namespace: namespace,
    namespace,
  };
  const chosen = chosenLabels(own, names, labels);
  return {
    name: `${WPA_PREFIX}labels_info`,
    type: "gauge",
    help: wpaHelp("labels_info"),
    labels: { ...labels, ...chosen },
    value: 1,
  };
};

/** A monitor has the name of its autoscaler, and its series name no workload. */
const monitorLabels = ({
  cluster,
  row: { namespace, name },
}: SeriesSource): Readonly<Record<string, string>> => ({
  cluster,
  wpa_name: name,
  wpa_namespace: namespace,
  lifecycle_status: "blocked",
  monitor_name: name,
  monitor_namespace: namespace,
});

type Written = GaugeWrite & { readonly value: number };

const gaugeSample = (known: SeriesSource, { name, labels, value }: Written): LabelledSample => ({
  name: WPA_PREFIX + name,
  type: "gauge",
  help: wpaHelp(name),
  labels: {
    ...(name === "lifecycle_control_status" ? monitorLabels(known) : baseLabels(known)),
    ...labels,
  },
  value,
});

/** The gauges after all writes of a sync, in order. The last write of a series counts. */
const lastWrites = (gauges: readonly GaugeWrite[]): readonly Written[] => {
  const last = new Map(
    gauges.map((write) => [
      `${write.name} ${JSON.stringify(Object.entries(write.labels).toSorted())}`,
      write,
    ]),
  );
  return [...last.values()].flatMap((write) =>
    write.value === null || INCREMENT.test(write.name) ? [] : [{ ...write, value: write.value }],
  );
};

/**
 * The help text of each series. Names and meanings of the watermark controller's series are kept
 * (watermark.md 2.15).
 */
const WPA_HELP: Readonly<Record<string, string>> = {
  value: "Value compared with the watermarks, in thousandths",
  high_watermark: "High watermark, in thousandths",
  high_watermak: "High watermark, in thousandths, under its old name",
  low_watermark: "Low watermark, in thousandths",
  low_watermak: "Low watermark, in thousandths, under its old name",
  replicas_scaling_proposal: "Replicas that the metric asks for, before limits and bounds",
  replicas_scaling_effective:
    "Replicas that were written or kept; in a dry run, those that would have been written",
  min_replicas: "Least replicas allowed",
  max_replicas: "Most replicas allowed",
  restricted_scaling:
    "1 while the limit that the label names cuts a step; within_bounds: while every value is between its widened watermarks",
  transition_countdown: "Seconds until the forbidden window of the direction ends",
  upscale_replicas: "Replicas added",
  downscale_replicas: "Replicas removed",
  dry_run: "1 in a dry run",
  scaling_active: "1 while the condition ScalingActive is true",
  conditions: "1 while the condition that the label names is true",
  labels_info: "Always 1: the chosen labels of the autoscaler, to join on",
  lifecycle_control_status: "1 while the monitor blocks every scale",
};

export const wpaHelp = (name: string): string =>
  WPA_HELP[name] ?? `Series "${name}" of the watermark rules`;

const CURRENT_HELP = "Replicas in the newest sync";
const DESIRED_HELP = "Replicas that the newest sync wanted";
const ACTIVE_HELP =
  "1 while the rules of the autoscaler decide its count: it was evaluated, and its metrics could be read";

/** Splits label names at blanks or commas. */
export const labelNames = (text: string | undefined): readonly string[] =>
  (text ?? "").split(/[\s,]+/).filter((name) => name !== "");

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * The chosen labels of an autoscaler, to join other series on (watermark.md 2.15). A label that it
 * does not have is empty. Names that a series cannot have, or already has, are left out.
 */
const chosenLabels = (
  labels: Readonly<Record<string, string>>,
  names: readonly string[],
  taken: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names
      .filter((name) => LABEL_NAME.test(name) && !(name in taken))
      .map((name) => [
        name,
        typeof labels[name] === "string" && Object.hasOwn(labels, name) ? labels[name] : "",
      ]),
  );
