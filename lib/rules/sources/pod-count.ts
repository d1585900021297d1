import { amount, flag, group, type ReadOf, words } from "../fields/field-types.ts";
import { invalidField, type Problem } from "../fields/problem.ts";
import { asList, asObject, type Json } from "../model/json.ts";
import { valuesIn } from "../model/observation.ts";
import { milliOf } from "../model/quantity.ts";
import { queryKey } from "../model/query.ts";
import { canonicalSelector } from "../model/selector.ts";
import { parseSelector } from "../model/selector-text.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import { failure, type MetricSource, NOT_ASKED } from "./source.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly PodCount: {
      readonly selector: string;
      readonly ready: boolean;
      readonly whenEmptyMilli?: bigint;
    };
  }
}

/** A LIST of the pods of the namespace with these labels. */
export interface PodCountQuery {
  readonly for: "podCount";
  readonly selector: string;
  readonly ready: boolean;
}

const SELECTOR_CHARACTERS_MAX = 1_024;
/** Of some 2,500 pods. With more of them the metric is missing. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

const FIELDS = {
  selector: words(
    "Labels of the pods, as kubectl get pods -l takes them: app=backend,tier in (a,b). At most 1,024 characters.",
    { required: true, mostCharacters: SELECTOR_CHARACTERS_MAX },
  ),
  ready: flag("True: only pods that are ready count.", { default: false }),
  whenEmpty: amount(
    "The value where no pod has the labels. Without it the metric is then missing.",
  ),
};

/** Only the reader of selectors says where one cannot be read. */
const problems = (
  { selector = "" }: { readonly selector?: string | undefined },
  path: string,
): readonly Problem[] => {
  const reading = parseSelector(selector);
  return reading.kind === "selector"
    ? []
    : [
        invalidField(
          `${path}.selector`,
          `cannot be read: ${reading.message}`,
          "write it as kubectl get pods -l takes it, such as app=backend",
        ),
      ];
};

const ENDED: ReadonlySet<unknown> = new Set(["Succeeded", "Failed"]);
const ONE = 1_000n;

const isReady = (status: Json): boolean =>
  asList(status["conditions"])
    .map(asObject)
    .some(({ type, status: is }) => type === "Ready" && is === "True");

/** The selector in one spelling, so that two autoscalers share a question. */
const canonical = (selector: string): string => {
  const reading = parseSelector(selector);
  return reading.kind === "selector" ? canonicalSelector(reading.selector) : selector;
};

const questionOf = ({ selector, ready }: Pick<PodCountQuery, "selector" | "ready">) =>
  ({ for: "podCount", selector: canonical(selector), ready }) as const;

/**
 * How many pods of the namespace with these labels have not ended. It can follow the count of
 * another workload, and needs nothing but the pods.
 */
export const POD_COUNT: MetricSource<
  ReadOf<typeof FIELDS>,
  NativeSourceOf<"PodCount">,
  PodCountQuery,
  readonly bigint[]
> = {
  type: "PodCount",
  field: group("The number of pods of the namespace with certain labels.", FIELDS),
  problems,
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: ({ selector = "", ready = false, whenEmpty }) => ({
    type: "PodCount",
    selector,
    ready,
    ...(whenEmpty && { whenEmptyMilli: milliOf(whenEmpty) }),
  }),
  namedBy: [],
  nameOf: ({ selector, ready }) => `count of ${ready ? "ready pods" : "pods"} with ${selector}`,
  queryOf: questionOf,
  asking: {
    way: "each",
    request: ({ selector }, namespace) => ({
      group: "",
      versions: ["v1"],
      namespace,
      path: ["pods"],
      parameters: { labelSelector: selector },
      resource: "pods",
      maxBytes: ANSWER_BYTES_MAX,
    }),
    amountOf: (pod, { ready }) => {
      const status = asObject(pod["status"]);
      return ENDED.has(status["phase"]) || (ready && !isReady(status)) ? 0n : ONE;
    },
    read: (_pod, milli) => ({ milli, timestampMs: 0 }),
  },
  samples: (spec, { answers }) => {
    const answer = valuesIn(answers, queryKey(questionOf(spec)));
    const unable = (cause: string) =>
      failure(`unable to count the pods with ${spec.selector}: ${cause}`);
    if (answer === undefined) return unable(NOT_ASKED);
    if (answer.kind === "failed") return unable(answer.failure.message);
    if (answer.items.length > 0) return [answer.items.reduce((sum, { milli }) => sum + milli, 0n)];
    // On doubt, a missing metric: a label that was mistyped would shrink the workload.
    return spec.whenEmptyMilli === undefined
      ? unable("no pod has these labels; whenEmpty says what that means, where it has a meaning")
      : [spec.whenEmptyMilli];
  },
  statusOf: ({ selector }, current) => ({ type: "PodCount", podCount: { selector, current } }),
};
