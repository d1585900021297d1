import { readRecommenderAnswer } from "../../../lib/stack/cluster/recommender.ts";
import {
  type LabelIndex,
  labelIndex,
  canonicalSelector,
} from "../../../lib/rules/model/selector.ts";
import type {
  Answer,
  ApiFailure,
  MetricValue,
  MonitorReading,
  Observation,
  PodMetrics,
  QuestionKey,
  RecommenderReply,
  MeasuredSamples,
  ScaleReading,
} from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { RESOURCE_QUERY } from "../../../lib/rules/sources/resource.ts";
import { readExternalValues, readPodMetrics } from "../../answers.ts";
import { scaleRead } from "../../observation.ts";
import { readPods } from "../../cluster/read/answers.ts";

/** Inputs of a step of a watermark sequence, as the vectors' README lays them out. */
export interface Step {
  readonly now: string;
  readonly autoscaler?: Manifest;
  readonly scale?: RawScale;
  readonly pods?: readonly Repeated[];
  readonly answers?: Readonly<Record<string, RawAnswer>>;
  readonly monitor?: { readonly state?: string } | null;
  readonly expect: Expected;
}

export interface Manifest {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface Expected {
  readonly written: number | null;
  readonly refused?: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string;
  readonly requeueAfterSeconds: number | null;
  readonly conditions: readonly ExpectedCondition[];
  readonly events: readonly {
    readonly type: string;
    readonly reason: string;
    readonly message?: string;
  }[];
  readonly gauges: Readonly<Record<string, number | string>>;
  readonly recommenderRequest?: unknown;
}

export interface ExpectedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

interface ErrorStatus {
  readonly code: number;
  readonly message: string;
}

export interface RawScale {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: string;
  readonly updateError?: ErrorStatus;
  readonly error?: ErrorStatus;
}

interface RawAnswer {
  readonly items?: readonly Repeated[];
  readonly timestamp?: string;
  readonly window?: string;
  readonly error?: ErrorStatus;
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
}

interface Repeated {
  readonly repeat?: number;
  readonly metadata?: { readonly name: string };
}

const failure = ({ code, message }: ErrorStatus): ApiFailure => ({ code, reason: "", message });

const expanded = (items: readonly Repeated[]): readonly unknown[] =>
  items.flatMap(({ repeat, ...item }) =>
    repeat === undefined
      ? [item]
      : Array.from({ length: repeat }, (_, index) => ({
          ...item,
          metadata: { ...item.metadata, name: `${item.metadata?.name}-${index}` },
        })),
  );

/** What the cluster of the vectors serves; a reason of its own for all other kinds. */
const SERVED = new Set([
  "apps/v1/Deployment",
  "apps/v1/StatefulSet",
  "apps/v1/ReplicaSet",
  "argoproj.io/v1alpha1/Rollout",
]);

export const observationOf = (
  state: { readonly scale: RawScale; readonly pods: readonly Repeated[] },
  step: Step,
  target: { readonly apiVersion: string; readonly kind: string },
): Observation => ({
  scale: scaleOf(state.scale, target),
  pods: labelIndex(readPods(expanded(state.pods))),
  ...seenOf(step.answers ?? {}),
  others: [],
  ...(step.monitor === undefined ? {} : { monitor: monitorOf(step.monitor) }),
});

const monitorOf = (monitor: { readonly state?: string } | null): MonitorReading =>
  monitor === null ? { kind: "missing" } : { kind: "found", ...monitor };

const scaleOf = (
  scale: RawScale,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): ScaleReading => {
  if (!SERVED.has(`${apiVersion}/${kind}`))
    return {
      kind: "failed",
      failure: {
        code: 404,
        reason: "NoKindMatch",
        message: `no matches for kind "${kind}" in group "${apiVersion}"`,
      },
    };
  if (scale.error) return { kind: "failed", failure: failure(scale.error) };
  const { specReplicas, statusReplicas, selector } = scale;
  return scaleRead(specReplicas, { statusReplicas, selector });
};

const seenOf = (
  raw: Readonly<Record<string, RawAnswer>>,
): Pick<Observation, "answers" | "recommender"> => {
  const by = (kind: string): readonly (readonly [string, RawAnswer])[] =>
    Object.entries(raw)
      .filter(([key]) => split(key)[0] === kind)
      .map(([key, answer]) => [split(key)[1], answer]);
  const [recommender] = by("recommender").map(([, answer]) => recommended(answer));
  const answers = new Map<QuestionKey, Answer<MeasuredSamples>>(
    by("external").map(([query, answer]) => [externalKey(query), externalAnswer(answer)]),
  );
  const samples = new Map(by("pods").map(([selector, answer]) => [selector, samplesOf(answer)]));
  answers.set(queryKey(RESOURCE_QUERY), { kind: "answered", items: bySelector(samples) });
  for (const [selector, { error }] of by("pods"))
    if (error)
      answers.set(JSON.stringify([RESOURCE_QUERY.for, selector]), {
        kind: "failed",
        failure: failure(error),
      });
  return { answers, ...(recommender ? { recommender } : {}) };
};

const externalKey = (text: string): string => {
  const [metric, metricSelector] = split(text);
  return queryKey({ for: "external", metric, metricSelector });
};

const externalAnswer = ({ error, items }: RawAnswer): Answer<readonly MetricValue[]> =>
  error ? { kind: "failed", failure: failure(error) } : readExternalValues(items);

const samplesOf = ({ items, timestamp, window }: RawAnswer): readonly PodMetrics[] =>
  readPodMetrics(expanded(items ?? []).map((item) => ({ timestamp, window, ...(item as object) })));

/** The vectors' answers are filtered already: each selector has its own list. */
const bySelector = (
  samples: ReadonlyMap<string, readonly PodMetrics[]>,
): LabelIndex<PodMetrics> => ({
  all: [...samples.values()].flat(),
  select: (selector) => samples.get(canonicalSelector(selector)) ?? [],
  looksAt: () => samples.size,
});

const recommended = (answer: RawAnswer): Answer<RecommenderReply> =>
  answer.error
    ? { kind: "failed", failure: failure(answer.error) }
    : readRecommenderAnswer(answer.status ?? 0, answer.text ?? JSON.stringify(answer.body));

const split = (text: string): readonly [string, string] => {
  const at = text.indexOf("/");
  return [text.slice(0, at), text.slice(at + 1)];
};
