import type { GaugeWrite } from "../../model/decision.ts";
import type { ScaleTotals } from "../../model/records.ts";
import { askDialect } from "../../policy/dialects.ts";
import type { MetricFamily } from "../../report/open-metrics.ts";
import { ACTIVE_HELP, CURRENT_HELP, DESIRED_HELP, wpaHelp } from "../../report/series-words.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import { autoscalerView } from "../views/autoscaler-of.ts";
import type { AutoscalerState, AutoscalerView } from "../views/autoscaler-view.ts";
import { chosenLabels } from "./labels-info.ts";

/** One sample with its family. */
export interface LabelledSample extends Pick<MetricFamily, "name" | "type" | "help"> {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const WPA_PREFIX = "wpa_controller_";
/** Series that count increments. Their value is the sum of the events. */
const INCREMENT = /_total$/;
const DECIDED: ReadonlySet<AutoscalerState> = new Set(["active", "held", "limited", "shadow"]);

/** Every series of one autoscaler, from its newest evaluation. A series that this evaluation did not write, or removed, is absent (watermark.md 2.15). */
export const seriesOf = (known: AutoscalerSnapshot, labels: readonly string[] = []): readonly LabelledSample[] => {
  const view = autoscalerView(known);
  if (!hasBand(known)) return genericSeries(view);
  const { gauges = [], totals } = known.evaluated?.evaluation ?? {};
  return [...genericSeries(view), ...watermarkSeries(view, gauges, totals), labelsInfo(known, view, labels)];
};

/** True for autoscalers with watermark series. */
const hasBand = ({ evaluated, spec }: AutoscalerSnapshot): boolean =>
  evaluated?.evaluation.gauges !== undefined || (spec.kind === "spec" && askDialect(spec.spec, ({ explains }) => explains.publishesBands));

const genericSeries = (view: AutoscalerView): readonly LabelledSample[] => {
  const labels = {
    cluster: view.cluster,
    namespace: view.namespace,
    name: view.name,
    resource_kind: view.target?.kind ?? "",
    resource_name: view.target?.name ?? "",
  };
  const gauge = (name: string, help: string, value: number | undefined): readonly LabelledSample[] =>
    value === undefined ? [] : [{ name: `tidemark_${name}`, type: "gauge", help, labels, value }];
  // With zero replicas scaling is off without a failure; the condition tells.
  const switchedOff = view.conditions.some(({ type, status }) => type === "ScalingActive" && status === "False");
  return [
    ...gauge("current_replicas", CURRENT_HELP, view.currentReplicas),
    ...gauge("desired_replicas", DESIRED_HELP, view.desiredReplicas),
    ...gauge("scaling_active", ACTIVE_HELP, DECIDED.has(view.state) && !switchedOff ? 1 : 0),
  ];
};

/** The series of the watermark controller with its names and labels. `cluster` is added, because its own process serves one cluster. */
const watermarkSeries = (view: AutoscalerView, gauges: readonly GaugeWrite[], totals: ScaleTotals | undefined): readonly LabelledSample[] => {
  const labels = baseLabels(view);
  const counter = (name: string, value: number): LabelledSample => ({ name: WPA_PREFIX + name, type: "counter", help: wpaHelp(name), labels, value });
  return [
    ...lastWrites(gauges).map((write) => gaugeSample(view, write)),
    counter("upscale_replicas", totals?.added ?? 0),
    counter("downscale_replicas", totals?.removed ?? 0),
  ];
};

const baseLabels = ({ cluster, namespace, name, target }: AutoscalerView): Readonly<Record<string, string>> => ({
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
const labelsInfo = ({ record }: AutoscalerSnapshot, { cluster, namespace, name }: AutoscalerView, names: readonly string[]): LabelledSample => {
  const labels = { cluster, wpa_name: name, wpa_namespace: namespace, resource_namespace: namespace, namespace };
  const chosen = chosenLabels(record, names, labels);
  return { name: `${WPA_PREFIX}labels_info`, type: "gauge", help: wpaHelp("labels_info"), labels: { ...labels, ...chosen }, value: 1 };
};

/** A monitor has the name of its autoscaler, and its series name no workload. */
const monitorLabels = ({ cluster, namespace, name }: AutoscalerView): Readonly<Record<string, string>> => ({
  cluster,
  wpa_name: name,
  wpa_namespace: namespace,
  lifecycle_status: "blocked",
  monitor_name: name,
  monitor_namespace: namespace,
});

type Written = GaugeWrite & { readonly value: number };

const gaugeSample = (view: AutoscalerView, { name, labels, value }: Written): LabelledSample => ({
  name: WPA_PREFIX + name,
  type: "gauge",
  help: wpaHelp(name),
  labels: { ...(name === "lifecycle_control_status" ? monitorLabels(view) : baseLabels(view)), ...labels },
  value,
});

/** The gauges after all writes of a sync, in order. The last write of a series counts. */
const lastWrites = (gauges: readonly GaugeWrite[]): readonly Written[] => {
  const last = new Map(gauges.map((write) => [`${write.name} ${JSON.stringify(Object.entries(write.labels).toSorted())}`, write]));
  return [...last.values()].flatMap((write) => (write.value === null || INCREMENT.test(write.name) ? [] : [{ ...write, value: write.value }]));
};
