import type { Because, GaugeWrite, MetricOutcome } from "../../../model/decision.ts";
import type { ScaleRead } from "../../../model/observation.ts";
import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { Condition, Status } from "../../../model/windows.ts";
import type { RulesInput } from "../../dialect.ts";
import { type ConditionReport, startedWith, type StepState } from "../../shared/steps.ts";
import { type Deviations, SAFE, type LastWord } from "./bounds.ts";
import { type Combined, NO_COUNT, proposalSources } from "./combine.ts";
import { type Gate, OPEN } from "./gates.ts";
import type { StepNote } from "./sentences.ts";

/** What these rules look at; they have no settings of the cluster. */
export interface WatermarkInput
  extends Pick<RulesInput<WatermarkSpec>, "spec" | "observation" | "windows" | "nowMs"> {
  readonly namespace: string;
  readonly name: string;
}

/** One sync on its way through the steps; each step returns the next state of it. */
export interface WatermarkSync extends StepState<WatermarkInput, Ending> {
  /**
   * What gives the proposals, and where the rules are safer than the original. Only the recorded
   * decisions of the original's functions change them.
   */
  readonly sources: typeof proposalSources;
  readonly deviations: Deviations;
  /** The condition that was set last, which the status names (watermark.md 2.3). */
  readonly lastCondition?: Pick<Condition, "type" | "status">;
  /** In the order of the writes. */
  readonly gauges: readonly GaugeWrite[];
  readonly metrics: readonly MetricOutcome[];
  readonly scale: ScaleRead;
  readonly combined: Combined;
  /** The count that the metrics ask for, and what velocity and bounds make of it. */
  readonly wanted: number;
  readonly normalised: number;
  readonly gate: Gate;
}

/** Why the remaining steps are left out: something stopped the rules, or a count was chosen. */
export type Ending =
  | {
      readonly kind: "stopped";
      readonly because: Because;
      readonly failed: boolean;
      readonly dueAgainSeconds: number | null;
      /** The count, where it was read. */
      readonly from?: number;
      readonly status?: Status;
    }
  | {
      readonly kind: "chosen";
      readonly verdict: LastWord;
      readonly currentMetrics: Status["currentMetrics"];
    };

export type WatermarkStep = (sync: WatermarkSync) => WatermarkSync;

const UNREAD: ScaleRead = {
  kind: "read",
  specReplicas: 0,
  statusReplicas: 0,
  selector: "",
  uid: "",
  resourceVersion: "",
};

export const started = (
  input: WatermarkInput,
  sources = proposalSources,
  deviations = SAFE,
): WatermarkSync => ({
  ...startedWith(input),
  sources,
  deviations,
  gauges: [],
  metrics: [],
  scale: UNREAD,
  combined: NO_COUNT,
  wanted: 0,
  normalised: 0,
  gate: OPEN,
});

/** Conditions that have a series of their own (watermark.md 2.3). */
const CONDITION_SERIES: Readonly<Record<string, string>> = {
  AbleToScale: "able_to_scale",
  ScalingLimited: "scaling_limited",
  ScalingBlocked: "scaling_blocked",
};

/** The sync with what its functions said. */
export const noted = (sync: WatermarkSync, ...notes: readonly StepNote[]): WatermarkSync => {
  let { conditions, lastCondition, events, metrics } = sync;
  const gauges = [...sync.gauges];
  for (const note of notes) {
    if (note.kind === "gauge") gauges.push(note.write);
    else if (note.kind === "event") events = [...events, note.event];
    else if (note.kind === "metric") metrics = [...metrics, note.outcome];
    else {
      conditions = newestFirst(conditions, note.report, sync.input.nowMs);
      lastCondition = note.report;
      gauges.push(...conditionSeries(note.report));
    }
  }
  return { ...sync, conditions, ...(lastCondition && { lastCondition }), events, gauges, metrics };
};

const conditionSeries = ({ type, status }: ConditionReport): readonly GaugeWrite[] => {
  const condition = CONDITION_SERIES[type];
  return condition === undefined
    ? []
    : [{ name: "conditions", labels: { condition }, value: status === "True" ? 1 : 0 }];
};

/**
 * Newest transition first (watermark.md 2.3). The original's clock moves on inside a sync, so of
 * the transitions of one sync the last is the newest; a condition that kept its status keeps its
 * place among its equals.
 */
export const newestFirst = (
  conditions: readonly Condition[],
  report: ConditionReport,
  nowMs: number,
): readonly Condition[] => {
  const before = conditions.find(({ type }) => type === report.type);
  const kept = before?.status === report.status;
  const condition: Condition = { ...report, transitionMs: kept ? before.transitionMs : nowMs };
  const all = kept
    ? conditions.map((known) => (known === before ? condition : known))
    : [condition, ...conditions.filter((known) => known !== before)];
  return all.toSorted((one, other) => other.transitionMs - one.transitionMs);
};
