import {
  readRecommenderAnswer,
  readRecommenderReply,
} from "../../../lib/stack/cluster/recommender.ts";
import { metricOf } from "../../../lib/rules/manifest/watermark/spec.ts";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Answer, RecommenderReply } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { WatermarkMetric, WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import { readyPods } from "../../../lib/rules/policy/watermark/metrics/measure.ts";
import {
  recommenderName,
  recommenderRequest,
} from "../../../lib/rules/policy/watermark/metrics/recommender.ts";
import { proposalSources } from "../../../lib/rules/policy/watermark/steps/combine.ts";
import { externalQuery } from "../../../lib/rules/sources/external.ts";
import { readExternalValues, readPodMetrics } from "../../answers.ts";
import { type Observed, observationOf } from "../../observation.ts";
import { said } from "../../policy/watermark/world.ts";
import { type Difference, differences } from "../differences.ts";
import type { CaseRunner } from "../registry.ts";
import {
  bareSpec,
  numberOf,
  only,
  podsOf,
  type Raw,
  rawOf,
  scaleOf,
  specFrom,
  textOf,
  timeOf,
} from "./raw.ts";

/**
 * One metric, or one reply of a recommender, with pods and scale: the raw proposal. A crash of the
 * original must be a refusal here.
 */
export const replicaCalculationKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const scale = scaleOf(input["scale"]);
  const { name, namespace } = rawOf(input["scale"]);
  const [metric] =
    input["metric"] === undefined
      ? []
      : specFrom({ metrics: [named(rawOf(input["metric"]))] }).metrics.flatMap(metricOf);
  const bare = bareSpec({ ...rawOf(input["spec"]), metrics: [] }, textOf(name));
  const annotations = rawOf(input["annotations"]);
  const spec: WatermarkSpec = {
    ...bare,
    target: { ...bare.target, name: textOf(name) },
    metrics: metric ? [metric] : [],
    skipOwnerCheck: annotations["wpa.datadoghq.com/skip-owner-check"] === "true",
  };
  const nowMs = timeOf(input["now"]);
  const subject = {
    spec,
    namespace: textOf(namespace),
    scale,
    observation: {
      ...observationOf({ scale, ...seenOf(input, metric) }),
      pods: podsOf(input["pods"]),
    },
    nowMs,
  };
  const [source] = proposalSources(subject);
  if (!source) throw new RangeError("The vector has neither a metric nor a recommender");
  const proposed = source.propose();
  if (proposed.kind === "failed") return failedAsExpected(expect, proposed.message);
  const { replicas, utilisation, ready, above, below, details } = proposed.value;
  const converge = said(proposed.value.notes, [], nowMs).conditions.find(
    ({ type }) => type === "ConvergeToWatermark",
  );
  const actual = {
    replicas,
    utilizationMilli: Number(utilisation),
    readyReplicas: ready,
    above,
    below,
    details,
    convergeCondition: converge
      ? { status: converge.status, reason: converge.reason, message: converge.message }
      : null,
    recommenderRequest: flatRequest(subject, rawOf(expect["recommenderRequest"])),
  };
  return differences(expect, only(expect, actual));
};

/** Some vectors of the original have no name for their metric, which no stored object can lack. */
const named = (metric: Raw): Raw => ({
  ...metric,
  ...(metric["external"] === undefined
    ? {}
    : { external: { metricName: "", ...rawOf(metric["external"]) } }),
});

const failedAsExpected = (expect: Raw, message: string): readonly Difference[] => {
  if ("panic" in expect || message.includes(textOf(expect["errorContains"]) || "\u0000")) return [];
  return [{ field: "error", expected: expect, actual: message }];
};

const seenOf = (
  input: Raw,
  metric: WatermarkMetric | undefined,
): Pick<Observed, "answers" | "recommender"> => {
  switch (input["source"]) {
    case "external": {
      const query = metric && externalQuery({ name: metric.name, selector: metric.selector });
      if (!query) throw new RangeError("The vector's metric cannot be asked for");
      const values = readExternalValues(
        (input["externalValues"] as readonly unknown[]).map((value) => ({ value })),
      );
      return { answers: { external: new Map([[queryKey(query), values]]) } };
    }
    case "resource": {
      const items = (input["podMetrics"] as readonly Raw[]).map(({ pod, labels, containers }) => ({
        metadata: { name: pod, labels },
        containers,
      }));
      return {
        answers: { resource: { kind: "answered", items: labelIndex(readPodMetrics(items)) } },
      };
    }
    default:
      return { recommender: replyOf(input) };
  }
};

const replyOf = (input: Raw): Answer<RecommenderReply> => {
  if (input["recommenderError"] !== undefined)
    return {
      kind: "failed",
      failure: { code: 0, reason: "", message: textOf(input["recommenderError"]) },
    };
  const reply = rawOf(input["recommenderReply"]);
  return {
    kind: "answered",
    items: {
      replicas: numberOf(reply["replicas"]),
      lowerBoundReplicas: numberOf(reply["lowerBoundReplicas"]),
      upperBoundReplicas: numberOf(reply["upperBoundReplicas"]),
      observedValue: numberOf(reply["observedTargetValue"]),
      reason: textOf(reply["details"]),
    },
  };
};

/** The vectors show the request without its nesting. */
const flatRequest = (subject: Parameters<typeof readyPods>[0], expect: Raw): Raw | undefined => {
  const { spec, scale, namespace } = subject;
  const ready = readyPods(subject);
  if (!spec.recommender || ready.kind === "failed") return undefined;
  const request = recommenderRequest(spec, spec.recommender, {
    namespace,
    current: scale.specReplicas,
    ready: ready.value,
  });
  const fields: Raw = { ...rawOf(request["constraints"]), ...rawOf(request["state"]) };
  return Object.fromEntries(Object.keys(expect).map((key) => [key, fields[key] ?? 0]));
};

export const recommenderKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const { tolerance, ...expected } = expect;
  switch (input["function"]) {
    case "metric-name":
      return differences(expected, {
        metricName: recommenderName(
          bareSpec({ recommender: input["recommender"] }).recommender ?? missing(),
        ),
      });
    case "build-target": {
      const spec = bareSpec({ recommender: input["recommender"] });
      const request = recommenderRequest(spec, spec.recommender ?? missing(), {
        namespace: "n",
        current: 1,
        ready: 1,
      });
      const [target] = request["targets"] as readonly Raw[];
      return differences(expected, {
        targetCount: (request["targets"] as readonly unknown[]).length,
        target: { targetValue: 0, ...target },
      });
    }
    case "read-reply":
      return differences(
        expected,
        read(readRecommenderReply(rawOf(input["reply"])), expected, numberOf(tolerance)),
      );
    case "http-round-trip": {
      const statuses = input["statusSequence"] as readonly number[];
      const reply = readRecommenderAnswer(statuses.at(-1) ?? 0, JSON.stringify(input["reply"]));
      return differences(expected, read(reply, expected, numberOf(tolerance)));
    }
    case "client-request":
      return differences(expected, { error: bareSpec({}).recommender === undefined });
    default:
      throw new RangeError(`Unknown function "${String(input["function"])}"`);
  }
};

const missing = (): never => {
  throw new RangeError("The vector has no recommender");
};

const read = (reply: Answer<RecommenderReply>, expected: Raw, tolerance: number): Raw => {
  if (reply.kind === "failed") return only(expected, { error: true });
  const { replicas, lowerBoundReplicas, upperBoundReplicas, observedValue, reason } = reply.items;
  const near = Math.abs(observedValue - numberOf(expected["observedTargetValue"])) <= tolerance;
  const observedTargetValue = near ? expected["observedTargetValue"] : observedValue;
  // The time stamp of a reply decides nothing and is not kept.
  return only(expected, {
    error: false,
    replicas,
    lowerBoundReplicas,
    upperBoundReplicas,
    details: reason,
    observedTargetValue,
    timestamp: expected["timestamp"],
  });
};
