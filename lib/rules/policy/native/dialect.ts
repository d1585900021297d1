import type { NativeSpec } from "../../model/spec-native.ts";
import { MINUTE_MS } from "../../model/time-text.ts";
import type { Dialect } from "../dialect.ts";
import { registeredQueryOf, sourceOf } from "../../sources/sources.ts";
import { nativeLevels } from "../shared/levels.ts";
import { questionsOf } from "../shared/questions.ts";
import { joinedStates } from "../shared/window-states.ts";
import { behindNative, decideNative, NATIVE_WINDOWS } from "./decide.ts";
import { answeredSlowly, dueQuestionOf } from "./metrics/kept-answers.ts";
import { NATIVE_EXPLANATIONS } from "./explanations.ts";
import { afterNativeWrite, withNativeScale, withOutsideNativeChange } from "./steps/after-write.ts";

/** No sample of a metric that is there and fresh is so old. */
const OLD_MS = MINUTE_MS;

/** `tidemark.dev/v1 PodAutoscaler` with `rules: native` (docs/pod-autoscaler.md). */
export const NATIVE: Dialect<NativeSpec> = {
  name: "native",
  keeps: () => ({ recommendations: true, scaleEvents: true, ownZero: false }),
  reversals: ({ flapBudget }) => flapBudget?.reversals ?? 0,
  timesBy: (type) => NATIVE_WINDOWS.some(({ timesBy }) => timesBy?.(type)),
  repeatsHolds: ({ idle, metrics }) =>
    idle === undefined && metrics.every(({ maxAgeMs = OLD_MS }) => maxAgeMs >= OLD_MS),
  levels: nativeLevels,
  // The average of a whole value uses no pods (hpa.md 3.7).
  questions: ({ metrics }, namespace, scale) =>
    questionsOf(
      metrics.map(({ source, measure }) => ({
        source,
        needsPods: sourceOf(source).samplesOf === "pods" || measure === "Total",
      })),
      namespace,
      scale,
    ),
  registered: ({ metrics }, known) =>
    metrics.flatMap((metric) => dueQuestionOf(metric, known) ?? []),
  asksSources: ({ metrics }) =>
    metrics.flatMap(({ name, source, everyMs }, at) => {
      const query = registeredQueryOf(source);
      return query ? [{ metric: name, at, query, ...(everyMs !== undefined && { everyMs }) }] : [];
    }),
  slowMetrics: ({ spec, observation, windows, nowMs }) =>
    answeredSlowly(spec.metrics, observation.answers, { kept: windows.memory.answers, nowMs }),
  asksMonitor: () => false,
  recommenderQuestion: () => undefined,
  decide: decideNative,
  behind: behindNative,
  afterWrite: afterNativeWrite,
  withScale: withNativeScale,
  withOutsideChange: withOutsideNativeChange,
  // Another count is a decision that this one did not see: it holds, and the next sync decides on
  // it.
  whyNotAgain: (from, { specReplicas }) =>
    specReplicas === from
      ? undefined
      : `the count is ${specReplicas} by now, it was decided on ${from}`,
  windows: (spec, windows, moment) =>
    joinedStates(NATIVE_WINDOWS.map(({ states }) => states(spec, windows, moment))),
  explains: NATIVE_EXPLANATIONS,
};
