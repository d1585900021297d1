import { asList, asObject, isObject, type Json, present } from "../../model/json.ts";
import { type Admitted, admit } from "../admit.ts";
import type { Conversion } from "./convert.ts";

/**
 * A manifest as a PodAutoscaler with the native rules, which have settings that an HPA has not. The
 * numbers of an HPA stay as they are; its decisions may differ by what the native rules are for,
 * such as which pods count. The rule that has no such form is named.
 */
export const nativeForm = ({ stored, spec }: Pick<Admitted, "stored" | "spec">): Conversion => {
  if (spec.dialect === "native") return { kind: "converted", document: withoutGeneration(stored) };
  if (spec.dialect !== "hpa")
    return {
      kind: "refused",
      rule: spec.dialect,
      message: "its rules have no counterpart among the native ones",
    };
  const own = asObject(stored["spec"]);
  const hpa = isObject(own["hpa"]) ? { ...own, ...own["hpa"] } : own;
  const behavior = asObject(hpa["behavior"]);
  const [up, down] = [asObject(behavior["scaleUp"]), asObject(behavior["scaleDown"])];
  const tolerance = present({ up: up["tolerance"], down: down["tolerance"] });
  const document = {
    ...withoutGeneration(stored),
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    spec: present({
      ...present({ owner: own["owner"], dryRun: own["dryRun"], schedule: own["schedule"] }),
      scaleTargetRef: own["scaleTargetRef"],
      minReplicas: own["minReplicas"],
      maxReplicas: own["maxReplicas"],
      metrics: asList(hpa["metrics"]).map((metric) => metricOf(asObject(metric), tolerance)),
      scaleUp: directionOf(up),
      scaleDown: directionOf(down),
    }),
  };
  const again = admit(document, { validation: "strict" });
  if (again.ok) return { kind: "converted", document: withoutGeneration(again.stored) };
  const [problem] = again.problems;
  return {
    kind: "refused",
    rule: problem?.field ?? "spec",
    message: problem?.detail ?? "the result would not be accepted",
  };
};

/** The generation belongs to the stored object. */
const withoutGeneration = (stored: Json): Json => {
  const { generation: _counted, ...metadata } = asObject(stored["metadata"]);
  return { ...stored, metadata };
};

const MEASURES: Readonly<Record<string, readonly [measure: string, member: string]>> = {
  Utilization: ["Percent", "averageUtilization"],
  AverageValue: ["Average", "averageValue"],
  Value: ["Total", "value"],
};

/** The block of a metric of autoscaling/v2, by its type, and how its members are called here. */
const SOURCES: Readonly<Record<string, (block: Json) => Json>> = {
  Resource: ({ name }) => ({ resource: { name } }),
  ContainerResource: ({ name, container }) => ({ containerResource: { name, container } }),
  Pods: ({ metric }) => ({ pods: identifierOf(metric) }),
  Object: ({ describedObject, metric }) => ({
    object: { describedObject, ...identifierOf(metric) },
  }),
  External: ({ metric }) => ({ external: identifierOf(metric) }),
};

const identifierOf = (metric: unknown): Json => {
  const { name, selector } = asObject(metric);
  return present({ metric: name, selector });
};

const metricOf = (metric: Json, tolerance: Json): Json => {
  const type = String(metric["type"]);
  const block = asObject(metric[`${type.charAt(0).toLowerCase()}${type.slice(1)}`]);
  const target = asObject(block["target"]);
  const [measure, member] = MEASURES[String(target["type"])] ?? [];
  return present({
    ...SOURCES[type]?.(block),
    measure,
    target: member && target[member],
    ...(Object.keys(tolerance).length > 0 && { tolerance }),
  });
};

/** What an HPA does not say has the same default here. */
const directionOf = (rules: Json): Json | undefined => {
  const { stabilizationWindowSeconds, selectPolicy, policies } = rules;
  const own = present({ stabilizationWindowSeconds, selectPolicy, policies });
  return Object.keys(own).length === 0 ? undefined : own;
};
