import type { Questions, RecommenderQuestion } from "../../model/query.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { Windows } from "../../model/windows.ts";
import { externalQuery } from "../../sources/external.ts";
import { RESOURCE_QUERY } from "../../sources/resource.ts";
import type { Dialect, RulesInput, SyncView } from "../dialect.ts";
import { type Explanations, LARGEST_WINS } from "../explanations.ts";
import { watermarkLevels } from "../shared/levels.ts";
import { lastingOf } from "../shared/steps.ts";
import type { SeenBehind } from "../shared/metrics/details.ts";
import { marksText } from "../shared/metrics/measurement.ts";
import {
  forbiddenStates,
  type Moment,
  timerState,
  type WindowStates,
} from "../shared/window-states.ts";
import { decideWatermark } from "./decide.ts";
import { readyPods, type MeasuredSpec, targetPods } from "./metrics/measure.ts";
import { recommenderRequest } from "./metrics/recommender.ts";
import {
  afterWatermarkWrite,
  withOutsideWatermarkChange,
  withWatermarkScale,
} from "./steps/after-write.ts";
import { proposalSources } from "./steps/combine.ts";
import { ABOVE, BELOW, forbiddenOf } from "./steps/gates.ts";

/** Every source counts ready pods (watermark.md 2.4); usage comes from metrics.k8s.io. */
const watermarkQuestions = ({ metrics, recommender, counts }: WatermarkSpec): Questions => ({
  pods: counts === "ready" && (metrics.length > 0 || recommender !== undefined),
  metrics: metrics
    .map((metric) => (metric.source === "Resource" ? RESOURCE_QUERY : externalQuery(metric)))
    .filter((query) => query !== undefined),
});

/**
 * The question, or `undefined` where the original would not get as far: no scale, no recommender, a
 * missing mark, or no ready pod (watermark.md 2.16).
 */
const recommenderQuestion = (
  spec: WatermarkSpec,
  { namespace, observation, nowMs }: SyncView,
): RecommenderQuestion | undefined => {
  const { recommender } = spec;
  const { scale } = observation;
  if (scale.kind === "failed" || spec.invalid !== undefined) return undefined;
  if (recommender?.highMilli === undefined || recommender.lowMilli === undefined) return undefined;
  const ready = readyPods({ spec, namespace, scale, observation, nowMs });
  if (ready.kind === "failed") return undefined;
  return {
    recommender,
    request: recommenderRequest(spec, recommender, {
      namespace,
      current: scale.specReplicas,
      ready: ready.value,
    }),
  };
};

/** Both forbidden windows, and the breaches that must last (watermark.md 2.9). */
const watermarkWindows = (
  spec: WatermarkSpec,
  { status }: Windows,
  { nowMs }: Moment,
): WindowStates => {
  const { upscaleDelayAboveWatermarkSeconds: up, downscaleDelayBelowWatermarkSeconds: down } = spec;
  return {
    recommendations: [],
    stabilization: [],
    rates: [],
    forbidden: forbiddenStates(forbiddenOf(spec, status.lastScaleMs, nowMs)),
    timers: [
      ...timerState("Scale up delay", up, lastingOf(status.conditions, ABOVE, up)),
      ...timerState("Scale down delay", down, lastingOf(status.conditions, BELOW, down)),
    ],
  };
};

/** What is behind each metric; a recommender gives a count and no value. */
const behindWatermark = ({
  spec,
  namespace,
  observation,
  nowMs,
}: RulesInput<WatermarkSpec>): SeenBehind => {
  const { scale } = observation;
  if (scale.kind === "failed") return { metrics: [] };
  const subject: MeasuredSpec = { spec, namespace, scale, observation, nowMs };
  const pods = targetPods(subject);
  return {
    metrics: proposalSources(subject).map(({ propose }) => {
      const proposed = propose();
      return proposed.kind === "counted" ? proposed.value : undefined;
    }),
    ...(pods.kind === "counted" && !observation.podsUnread ? { pods: pods.value } : {}),
  };
};

const WATERMARK_EXPLANATIONS: Explanations<WatermarkSpec> = {
  ...LARGEST_WINS,
  publishesBands: true,
  targets: ({ metrics }) =>
    metrics.map(({ source, name, ...marks }) => ({ type: source, name, target: marksText(marks) })),
  besides: ({ counts, tolerateZero }, { value }) =>
    value === "0" && counts === "ready" && !tolerateZero
      ? "a value of 0 only counts with tolerateZero: true"
      : undefined,
};

/**
 * `datadoghq.com/v1alpha1 WatermarkPodAutoscaler` (watermark.md), and the multi-threshold document
 * on External metrics only (proposals.md §5).
 */
export const WATERMARK: Dialect<WatermarkSpec> = {
  name: "watermark",
  keeps: () => ({ recommendations: false, scaleEvents: false, ownZero: false }),
  levels: watermarkLevels,
  questions: watermarkQuestions,
  asksMonitor: ({ lifecycleControl }) => lifecycleControl.kind === "on",
  recommenderQuestion,
  decide: decideWatermark,
  behind: behindWatermark,
  afterWrite: (_spec, report) => afterWatermarkWrite(report),
  withScale: (_spec, windows, change) => withWatermarkScale(windows, change),
  withOutsideChange: (_spec, windows, change) => withOutsideWatermarkChange(windows, change),
  whyNotAgain: () => "the count is decided anew by the next sync",
  windows: watermarkWindows,
  explains: WATERMARK_EXPLANATIONS,
};
