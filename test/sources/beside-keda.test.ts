import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { importObjects } from "../../lib/rules/manifest/import/import-objects.ts";
import type { Answer, Answers, MetricValue } from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { questions, registeredQuestions } from "../../lib/rules/policy/dialects.ts";
import { answererOf } from "../../lib/rules/sources/sources.ts";
import { NOON } from "../noon.ts";
import { NO_METRICS, scaleRead } from "../observation.ts";
import type { AppliedSync } from "../policy/applied-sync.ts";
import { sync } from "../policy/native/world.ts";
import { specOf } from "../policy/spec-of.ts";

type Kind = "prometheus" | "sqs";
interface Given {
  readonly milli: number;
  readonly active: boolean;
  readonly error?: string;
}
type Recorded = Readonly<Record<Kind, readonly [status: number, body: unknown]>> & {
  readonly keda: Readonly<Record<Kind, Given>>;
};

/** What test/sources/keda/record.ts has written: 240 answers of an hour, then others. */
const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL("./keda/recorded.json", import.meta.url), "utf8"),
);
const HOUR = 240;
const THRESHOLD = 20;
const MAX = 100;

const TRIGGERS: Readonly<Record<Kind, object>> = {
  prometheus: {
    type: "prometheus",
    metadata: {
      serverAddress: "http://prometheus:9090",
      query: "load",
      threshold: String(THRESHOLD),
    },
  },
  sqs: {
    type: "aws-sqs-queue",
    metadata: {
      queueURL: "https://sqs.eu-central-1.amazonaws.com/123456789012/orders",
      queueLength: String(THRESHOLD),
      awsRegion: "eu-central-1",
    },
  },
};

/** The PodAutoscaler that `convert` makes of the ScaledObject. */
const ours = (kind: Kind): AutoscalerSpec => {
  const raw = {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      scaleTargetRef: { name: "web" },
      minReplicaCount: 1,
      maxReplicaCount: MAX,
      triggers: [{ ...TRIGGERS[kind], name: "load" }],
    },
  };
  const [manifest] = importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [raw],
      sources: { named: { load: "main" }, discovered: false },
    },
    "native",
  ).manifests;
  return specOf(manifest);
};

/**
 * The HPA that KEDA makes of the ScaledObject. The `hpa` dialect decides as the controller does
 * (test/conformance).
 */
const hpa = specOf({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: MAX,
    metrics: [
      {
        type: "External",
        external: {
          metric: { name: "s0" },
          target: { type: "AverageValue", averageValue: String(THRESHOLD) },
        },
      },
    ],
    behavior: {},
  },
});

const keyed = (spec: AutoscalerSpec, answer: Answer<readonly MetricValue[]>): Answers =>
  new Map(questions(spec, "shop", scaleRead(1)).metrics.map((query) => [queryKey(query), answer]));

/** What the HPA gets of KEDA. */
const byKeda = ({ keda }: Recorded, kind: Kind): Answers => {
  const { error, milli } = keda[kind];
  return keyed(
    hpa,
    error === undefined
      ? { kind: "answered", items: [{ milli: BigInt(milli), timestampMs: NOON }] }
      : NO_METRICS,
  );
};

/** What Tidemark reads of the same bytes. */
const byUs = (spec: AutoscalerSpec, one: Recorded, kind: Kind): Answers => {
  const [query] = registeredQuestions(spec, { kept: undefined, nowMs: NOON });
  if (query === undefined) throw new Error("a registered source is asked");
  const { asking } = answererOf(query);
  if (asking.way !== "registered" || asking.batch)
    throw new Error("each question is asked by itself");
  const [status, body] = one[kind];
  const text = JSON.stringify(body);
  const parsed: unknown = typeof body === "string" ? undefined : JSON.parse(text);
  return keyed(spec, asking.read({ status, bytes: text.length, body: parsed }, query));
};

const SYNC_MS = 15_000;
const played = (spec: AutoscalerSpec, answersOf: (one: Recorded) => Answers): readonly number[] => {
  let state: AppliedSync | undefined;
  return recorded.slice(0, HOUR).map((one, at) => {
    const seen = {
      replicas: state?.count ?? 3,
      nowMs: NOON + at * SYNC_MS,
      windows: state?.windows ?? NEW_WINDOWS,
    };
    state = sync(spec, { ...seen, observed: { answers: answersOf(one) } });
    return state.count;
  });
};

describe("beside the scalers of KEDA 2.21, over a recorded hour", () => {
  it.each(["prometheus", "sqs"] as const)("the count after each sync is the same: %s", (kind) => {
    const spec = ours(kind);
    const [theirs, own] = [
      played(hpa, (one) => byKeda(one, kind)),
      played(spec, (one) => byUs(spec, one, kind)),
    ];
    expect(new Set(theirs).size).toBeGreaterThan(5);
    expect(own).toEqual(theirs);
  });
});

/**
 * What a sync makes of one answer with nine replicas: the count that it wants, or that the metric
 * is missing.
 */
const wanted = (spec: AutoscalerSpec, answers: Answers): number | "missing" => {
  const { count, decision } = sync(spec, { replicas: 9, observed: { answers }, unstored: true });
  return decision.metrics.some(({ kind }) => kind === "failed") ? "missing" : count;
};

describe("beside the scalers of KEDA 2.21, an answer that is no ordinary measurement", () => {
  it.each<
    readonly [string, Kind, place: number, keda: number | "missing", own: number | "missing"]
  >([
    ["a value of 0 is a value", "prometheus", 0, 9, 9],
    ["a value below a thousandth is one", "prometheus", 1, 9, 9],
    ["a value at the threshold is one", "prometheus", 2, 9, 9],
    ["no series is 0, as ignoreNullValues has it", "prometheus", 3, 9, 9],
    ["NaN is 0 for KEDA, and missing here", "prometheus", 4, 9, "missing"],
    ["+Inf is 0 for KEDA, and missing here", "prometheus", 5, 9, "missing"],
    ["two series are missing", "prometheus", 6, "missing", "missing"],
    ["a scalar is missing for KEDA, and a value here", "prometheus", 7, "missing", 9],
    [
      "a value below 0 is 0 for KEDA, and its value here, which asks for the least",
      "prometheus",
      8,
      9,
      9,
    ],
    ["an error of the server is missing", "prometheus", 9, "missing", "missing"],
    ["an empty queue is 0", "sqs", 0, 9, 9],
    ["one message is one", "sqs", 1, 9, 9],
    ["messages in flight count", "sqs", 2, 9, 9],
    ["a queue that does not exist is missing", "sqs", 3, "missing", "missing"],
    ["an answer with one of two attributes is missing", "sqs", 4, "missing", "missing"],
    ["an answer without attributes is missing", "sqs", 5, "missing", "missing"],
    ["an answer without rights is missing", "sqs", 6, "missing", "missing"],
    ["a count below 0 is 0 for KEDA, and missing here", "sqs", 7, 9, "missing"],
    ["a count that is no number is missing", "sqs", 8, "missing", "missing"],
    ["an error of AWS is missing", "sqs", 9, "missing", "missing"],
  ])("is as the page of migration says: %s (%s)", (_what, kind, place, keda, own) => {
    const one = recorded[HOUR + place];
    if (one === undefined) throw new Error("it was recorded");
    const spec = ours(kind);
    expect([wanted(hpa, byKeda(one, kind)), wanted(spec, byUs(spec, one, kind))]).toEqual([
      keda,
      own,
    ]);
  });
});
