import { invalidField, notSupported, type Problem } from "../../fields/problem.ts";
import { anything, int32, objectOf, type ReadContext, text } from "../../fields/shape.ts";
import { cpuMetric } from "./defaults.ts";
import {
  type HpaDraft,
  type ReadForm,
  HEAD,
  type Reference,
  THRESHOLD_FIELDS,
} from "./v2-shape.ts";

const SUBRESOURCE = "scale";

const ORIGINAL = objectOf({
  ...HEAD,
  spec: objectOf({
    scaleRef: objectOf({
      kind: text,
      name: text,
      namespace: text,
      apiVersion: text,
      subresource: text,
    }),
    minReplicas: int32,
    maxReplicas: int32,
    cpuUtilization: objectOf({ targetPercentage: int32 }),
    constraints: anything,
    ...THRESHOLD_FIELDS,
  }),
});

/**
 * Kinds whose group the first design leaves out, or names by an API that clusters no longer serve.
 */
const TODAYS_VERSION: ReadonlyMap<string, string> = new Map([
  ["Deployment", "apps/v1"],
  ["ReplicaSet", "apps/v1"],
  ["ReplicationController", "v1"],
]);
const FORMER_VERSIONS = ["", "extensions/v1beta1"];

const SOURCES: readonly (readonly [string, string])[] = [
  ["spec.scaleTargetRef", "spec.scaleRef"],
  ["spec.metrics[0].resource.target.averageUtilization", "spec.cpuUtilization.targetPercentage"],
];

/** Reads extensions/v1beta1, the first design, which has its own rules (proposals.md §1). */
export const readOriginal: ReadForm = (document, context): HpaDraft => {
  const read = ORIGINAL(document, "", context);
  const { scaleRef, minReplicas, maxReplicas, cpuUtilization, constraints } = read?.spec ?? {};
  const target = {
    kind: scaleRef?.kind,
    name: scaleRef?.name,
    apiVersion: targetVersion(scaleRef, context),
  };
  return {
    metadata: read?.metadata,
    spec: {
      scaleTargetRef: target,
      minReplicas,
      maxReplicas,
      metrics: [cpuMetric(cpuUtilization?.targetPercentage)],
    },
    constraints,
    thresholds: read?.spec,
    dialect: "original",
    formProblems: scaleRefProblems(scaleRef, read?.metadata?.namespace),
    sourceOf: (field) => {
      const renamed = SOURCES.find(([name]) => field.startsWith(name));
      return renamed && field.replace(renamed[0], renamed[1]);
    },
  };
};

const targetVersion = (
  scaleRef: Reference | undefined,
  { warnings }: ReadContext,
): string | undefined => {
  const apiVersion = scaleRef?.apiVersion ?? "";
  const today = TODAYS_VERSION.get(scaleRef?.kind ?? "");
  if (today === undefined || !FORMER_VERSIONS.includes(apiVersion)) return apiVersion;
  if (apiVersion !== "") {
    const message = `"${apiVersion}" is not served since Kubernetes 1.16; Tidemark uses ${today} instead`;
    warnings.push({ field: "spec.scaleRef.apiVersion", message, fix: `write ${today}` });
  }
  return today;
};

type ScaleRef = {
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
};

const scaleRefProblems = (
  scaleRef: ScaleRef | undefined,
  namespace: string | undefined,
): Problem[] => {
  const { namespace: targetNamespace = "", subresource = SUBRESOURCE } = scaleRef ?? {};
  const own = namespace || "default";
  const elsewhere = targetNamespace !== "" && targetNamespace !== own;
  return [
    ...(elsewhere
      ? [
          invalidField(
            "spec.scaleRef.namespace",
            `must be the autoscaler's own namespace "${own}"`,
            "remove it, and put the autoscaler into the target's namespace",
          ),
        ]
      : []),
    ...(subresource === SUBRESOURCE || subresource === ""
      ? []
      : [notSupported("spec.scaleRef.subresource", [SUBRESOURCE])]),
  ];
};
