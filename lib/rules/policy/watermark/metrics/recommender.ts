import type { RecommenderReply } from "../../../model/observation.ts";
import type { Recommender, WatermarkSpec } from "../../../model/spec-watermark.ts";
import { toI64 } from "../../shared/arithmetic.ts";
import {
  converge,
  outside,
  type WatermarkProposal,
  roundUpToModulo,
  withinNote,
} from "./propose.ts";

/**
 * `recommender{targetType:cpu,window:600}`: its name in messages and series, settings sorted
 * (watermark.md 2.16).
 */
export const recommenderName = ({
  targetType,
  settings,
}: Pick<Recommender, "targetType" | "settings">): string =>
  `recommender{${[`targetType:${targetType}`, ...byKey(settings)].join(",")}}`;

/** `key:value` of each, sorted by key. */
export const byKey = (texts: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(texts)
    .toSorted()
    .map((key) => `${key}:${texts[key]}`);

/**
 * The proposal of an external recommender's reply; tolerance and algorithm play no part
 * (watermark.md 2.16).
 */
export const proposeFromReply = (
  reply: RecommenderReply,
  counts: { readonly current: number; readonly ready: number },
  spec: Pick<WatermarkSpec, "tolerateZero" | "converge" | "replicaScalingAbsoluteModulo">,
): WatermarkProposal => {
  const { current, ready } = counts;
  const { replicas, lowerBoundReplicas: lower, upperBoundReplicas: upper } = reply;
  if (replicas === 0 && !spec.tolerateZero)
    return {
      replicas: ready,
      utilisation: 0n,
      ready,
      above: false,
      below: false,
      details: "",
      zero: true,
      notes: [],
    };
  const position = {
    utilisation: toI64(reply.observedValue * 1000),
    ready,
    details: reply.reason,
    zero: false,
  };
  const rounded = roundUpToModulo(replicas, spec.replicaScalingAbsoluteModulo);
  const sides = { above: current < lower, below: current > upper };
  if (replicas > current)
    return { ...position, ...sides, replicas: Math.max(rounded, current), notes: outside("above") };
  if (replicas < current)
    return { ...position, ...sides, replicas: Math.min(rounded, current), notes: outside("below") };
  const { replicas: converged, note } = converge(current, { lower, upper }, spec);
  return {
    ...position,
    replicas: converged,
    above: false,
    below: false,
    notes: [withinNote(true), note],
  };
};

/**
 * What is posted to the recommender, before JSON (watermark.md 2.16). Fields that are zero or empty
 * are left out, but for the two optional counts.
 */
export const recommenderRequest = (
  spec: WatermarkSpec,
  recommender: Recommender,
  where: { readonly namespace: string; readonly current: number; readonly ready: number },
): Readonly<Record<string, unknown>> => {
  const { kind, name, apiVersion } = spec.target;
  const targetRef = {
    cluster: spec.clusterName,
    namespace: where.namespace,
    kind,
    name,
    apiVersion,
  };
  const target = {
    type: recommender.targetType,
    lowerBound: bound(recommender.lowMilli),
    upperBound: bound(recommender.highMilli),
  };
  return {
    targetRef: withoutZeros(targetRef),
    constraints: withoutZeros({ minReplicas: spec.minReplicas, maxReplicas: spec.maxReplicas }),
    state: {
      ...withoutZeros({ desiredReplicas: where.current }),
      currentReplicas: where.current,
      readyReplicas: where.ready,
    },
    targets: [withoutZeros(target)],
    ...(Object.keys(recommender.settings).length > 0 ? { settings: recommender.settings } : {}),
  };
};

/** A mark that is missing is sent as one of 0 is: its field is left out. */
const bound = (milli: bigint | undefined): number => Number(milli ?? 0n) / 1000;

const withoutZeros = (
  fields: Readonly<Record<string, string | number>>,
): Record<string, string | number> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "" && value !== 0));
