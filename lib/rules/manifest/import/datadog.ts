import { asList, asObject, type Json, present } from "../../model/json.ts";
import { cleanMetadata, type Detail } from "./finding.ts";
import { passOver } from "./ledger.ts";
import type { ImportedScaledObject } from "./scaled-object.ts";
import { applying, changed, lost, textOf, withoutEffect } from "./schedules/timed.ts";

/** The kind of Datadog's own autoscaling, which follows the Watermark Pod Autoscaler. */
export const DATADOG_KIND = "DatadogPodAutoscaler";

export const isDatadogPodAutoscaler = ({ kind }: Json): boolean => kind === DATADOG_KIND;

/** What v1alpha1 and v1alpha2 call the same fields. */
const NAMES = {
  v1alpha1: { policy: "policy", up: "upscale", down: "downscale", objectives: "targets" },
  v1alpha2: { policy: "applyPolicy", up: "scaleUp", down: "scaleDown", objectives: "objectives" },
} as const;
type Names = (typeof NAMES)[keyof typeof NAMES];

interface Part {
  readonly fields: Json;
  readonly details: readonly Detail[];
}

/**
 * A DatadogPodAutoscaler as a PodAutoscaler: its objectives are metrics, its policy and its
 * constraints have the same meaning. On doubt, no document: what Datadog itself measures or
 * recommends is refused by its name.
 */
export const datadogPodAutoscaler = (raw: Json): ImportedScaledObject => {
  const version = String(raw["apiVersion"]).split("/").at(-1);
  const names: Names | undefined = Object.hasOwn(NAMES, version ?? "")
    ? NAMES[version as keyof typeof NAMES]
    : undefined;
  if (names === undefined)
    return { details: [lost("apiVersion", "only v1alpha1 and v1alpha2 are read")] };
  const spec = asObject(raw["spec"]);
  const { apiVersion, kind, name } = asObject(spec["targetRef"]);
  const policy = asObject(spec[names.policy]);
  const written = asList(spec[names.objectives]).map(asObject);
  const objectives = written.map((each, at) => metricOf(each, `spec.${names.objectives}[${at}]`));
  const bounds = boundsPart(asObject(spec["constraints"]));
  const mode = modePart(policy, `spec.${names.policy}`, names);
  const up = directionPart(policy[names.up], `spec.${names.policy}.${names.up}`);
  const down = directionPart(policy[names.down], `spec.${names.policy}.${names.down}`);
  const details = [
    ...(written.length === 0
      ? [
          lost(
            `spec.${names.objectives}`,
            "without objectives Datadog recommends the count; write an objective of cpu or memory",
          ),
        ]
      : []),
    ...[...objectives, bounds, mode, up, down].flatMap((part) => part.details),
    ...otherDetails(spec),
  ];
  if (details.some(({ severity }) => severity === "lost")) return { details };
  return {
    document: {
      apiVersion: "tidemark.dev/v1",
      kind: "PodAutoscaler",
      metadata: cleanMetadata(raw),
      spec: {
        scaleTargetRef: { apiVersion, kind, name },
        ...bounds.fields,
        metrics: objectives.map(({ fields }) => fields),
        ...present({ scaleUp: rulesOf(up), scaleDown: rulesOf(down) }),
        ...mode.fields,
      },
    },
    details,
  };
};

const MEASURED =
  "it is measured by the metrics API of the cluster, and not by Datadog: values and times differ a little";

/** An objective as a metric. Utilization is of the requests in both. */
const metricOf = (objective: Json, of: string): Part => {
  const { type } = objective;
  const query = asObject(objective["customQuery"]);
  if (type === "CustomQuery" || Object.keys(query).length > 0)
    return {
      fields: {},
      details: [
        lost(
          `${of}.customQuery`,
          "Datadog runs its query: write it as a DatadogMetric, which the Cluster Agent serves as the external metric datadogmetric@NAMESPACE:NAME",
        ),
      ],
    };
  const isContainer = type === "ContainerResource";
  const block = asObject(objective[isContainer ? "containerResource" : "podResource"]);
  const value = asObject(block["value"]);
  const amount =
    value["type"] === "Utilization"
      ? { measure: "Percent", target: value["utilization"] }
      : { measure: "Average", target: value["absoluteValue"] };
  const resource = String(block["name"]);
  const { container } = block;
  if (amount.target === undefined)
    return { fields: {}, details: [lost(`${of}.value`, "it has no value that can be read")] };
  return {
    fields: {
      name: isContainer ? `${resource}-${String(container)}` : resource,
      ...(isContainer
        ? { containerResource: { name: resource, container } }
        : { resource: { name: resource } }),
      ...amount,
      onMissing: { action: "scaleUpOnly" },
    },
    details: [changed(of, MEASURED)],
  };
};

const boundsPart = (constraints: Json): Part => {
  const { minReplicas = 1, maxReplicas } = constraints;
  const containers = asList(constraints["containers"]).map(asObject);
  const vertical = containers.flatMap((container, at) => {
    const of = `spec.constraints.containers[${at}]`;
    passOver(container);
    return container["enabled"] === false
      ? [withoutEffect(of, "its requests are not changed, here neither")]
      : [lost(of, VERTICAL)];
  });
  const missing =
    maxReplicas === undefined
      ? [
          lost(
            "spec.constraints.maxReplicas",
            "it has none, and a PodAutoscaler needs one: write it",
          ),
        ]
      : [];
  return { fields: present({ minReplicas, maxReplicas }), details: [...missing, ...vertical] };
};

const VERTICAL =
  "it is about the requests of pods, which Datadog changes and Tidemark does not; remove it, and set the requests yourself";

/** "Preview" and "None" only look. "Manual" asks a person in Datadog's application. */
const modePart = (policy: Json, of: string, names: Names): Part => {
  const field = names.policy === "policy" ? "applyMode" : "mode";
  const mode = textOf(policy[field]) ?? (names.policy === "policy" ? "All" : "Apply");
  const update = asObject(policy["update"]);
  const { strategy = "Auto" } = update;
  passOver(update);
  const resized =
    strategy === "Disabled"
      ? withoutEffect(`${of}.update`, "no requests of pods are changed, here neither")
      : changed(
          `${of}.update`,
          "Datadog also changes the requests of pods, and Tidemark does not: set them yourself",
        );
  const dry = changed(`${of}.${field}`, `"${mode}" is dryRun: true; remove it where it may scale`);
  switch (mode) {
    case "Apply":
    case "All":
      return { fields: {}, details: [resized] };
    case "Preview":
    case "None":
      return { fields: { dryRun: true }, details: [resized, dry] };
    default:
      return {
        fields: {},
        details: [
          lost(
            `${of}.${field}`,
            `"${mode}" is not read: a person in Datadog's application decides; write Apply or Preview`,
          ),
        ],
      };
  }
};

/** The rules are the policies of autoscaling/v2; only the window is 0 where none is written. */
const directionPart = (direction: unknown, of: string): Part => {
  if (direction === undefined)
    return {
      fields: {},
      details: [
        changed(
          of,
          "without it Datadog has a pace of its own; here it is the default of the direction",
        ),
      ],
    };
  const { strategy, rules, stabilizationWindowSeconds = 0 } = asObject(direction);
  const all = asList(rules).map(asObject);
  const policies = all.filter(({ value }) => value !== 0);
  passOver(all.filter(({ value }) => value === 0));
  // A rule of 0 allows no change: it is the least of several, and the most only where it is alone.
  const isStill = all.length > policies.length && (strategy === "Min" || policies.length === 0);
  return {
    fields: present({
      stabilizationWindowSeconds,
      selectPolicy: isStill ? "Disabled" : strategy,
      policies: policies.length === 0 ? undefined : policies,
    }),
    details: isStill
      ? [changed(`${of}.rules`, "a rule of 0 is selectPolicy: Disabled of the direction")]
      : [],
  };
};

const rulesOf = ({ fields }: Part): Json | undefined =>
  Object.keys(fields).length === 0 ? undefined : fields;

const otherDetails = (spec: Json): readonly Detail[] => {
  const { owner, remoteVersion, fallback } = spec;
  const options = asObject(spec["options"]);
  const { outOfMemory, burstable } = options;
  passOver([fallback, outOfMemory]);
  return applying([
    [
      owner === "Remote",
      changed("spec.owner", "Datadog's application writes the object: delete the autoscaler there"),
    ],
    [owner === "Local", withoutEffect("spec.owner", "the manifest is the only owner here")],
    [remoteVersion !== undefined, withoutEffect("spec.remoteVersion", "Datadog counts it")],
    [
      fallback !== undefined,
      withoutEffect(
        "spec.fallback",
        "it acts where recommendations of Datadog are old, and here are none; onMissing of a metric says what a missing value means",
      ),
    ],
    [outOfMemory !== undefined, lost("spec.options.outOfMemory", VERTICAL)],
    [burstable !== undefined, lost("spec.options.burstable", VERTICAL)],
  ]);
};
