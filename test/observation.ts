import { labelIndex } from "../lib/rules/model/selector.ts";
import type {
  Answers,
  ApiFailure,
  MilliByResource,
  Observation,
  Pod,
  PodMetrics,
  ScaleRead,
} from "../lib/rules/model/observation.ts";
import { type AnswerParts, answersOf } from "./answers.ts";

/** The answer for a metric that cannot be read. */
export const NO_METRICS: { readonly kind: "failed"; readonly failure: ApiFailure } = {
  kind: "failed",
  failure: { code: 503, reason: "ServiceUnavailable", message: "no metrics" },
};

/** The scale of the workload "web". */
export const scaleRead = (replicas: number, more: Partial<ScaleRead> = {}): ScaleRead => ({
  kind: "read",
  specReplicas: replicas,
  statusReplicas: replicas,
  selector: "app=web",
  uid: "u",
  resourceVersion: "1",
  ...more,
});

/**
 * A pod of "web" that has been running and ready since 1970. Its container requests as much CPU as
 * memory.
 */
export const readyPod = (name: string, requestMilli = 100n, more: Partial<Pod> = {}): Pod => ({
  name,
  labels: { app: "web" },
  owners: [{ kind: "ReplicaSet", name: "web-1" }],
  deleting: false,
  phase: "Running",
  startMs: 0,
  ready: { status: "True", transitionMs: 0 },
  containers: [
    {
      name: "app",
      requests: { cpu: requestMilli, memory: requestMilli },
      limits: {},
      restartable: false,
    },
  ],
  initContainers: [],
  overhead: {},
  ...more,
});

/** web-0, web-1, … */
export const readyPods = (count: number, requestMilli?: bigint): readonly Pod[] =>
  Array.from({ length: count }, (_, at) => readyPod(`web-${at}`, requestMilli));

/** What the container of a pod uses, as metrics.k8s.io answers. */
export const podUsage = (
  name: string,
  usage: MilliByResource,
  more: Partial<PodMetrics> = {},
): PodMetrics => ({
  name,
  labels: { app: "web" },
  timestampMs: 0,
  windowMs: 30_000,
  containers: [{ name: "app", usage }],
  ...more,
});

export interface Observed extends Partial<Omit<Observation, "pods" | "answers">> {
  readonly pods?: readonly Pod[];
  readonly answers?: AnswerParts | Answers;
}

const isMap = (answers: Observed["answers"]): answers is Answers => answers instanceof Map;

/** What a sync read: one replica, no pods and no answers, with the given parts replaced. */
export const observationOf = ({ pods = [], answers, ...more }: Observed = {}): Observation => ({
  scale: scaleRead(1),
  pods: labelIndex(pods),
  answers: isMap(answers) ? answers : answersOf(answers ?? {}),
  others: [],
  ...more,
});
