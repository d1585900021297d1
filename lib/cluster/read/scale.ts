import { foreignReason, foreignText } from "../../model/foreign-text.ts";
import type { ApiFailure, ScaleRead, ScaleReading } from "../../model/observation.ts";
import { canonicalSelector, type LabelSelector, selectorOf } from "../../model/selector.ts";
import { MAX_SELECTOR_CHARACTERS } from "../request-limits.ts";
import { asCount, asList, asObject, asText, asTexts, type Json } from "../../model/json.ts";
import type { ClusterRecord } from "../../model/records.ts";

/** An autoscaling/v1 Scale, the answer to a GET of the scale subresource. Its spec may omit a count of zero. */
export const readScale = (raw: unknown): ScaleReading => {
  const scale = asObject(raw);
  const status = asObject(scale["status"]);
  const selector = asText(status["selector"]);
  if (selector.length > MAX_SELECTOR_CHARACTERS) return selectorTooLarge(`${selector.length} characters`);
  return {
    kind: "read",
    ...identity(asObject(scale["metadata"])),
    specReplicas: asCount(asObject(scale["spec"])["replicas"]) ?? 0,
    statusReplicas: asCount(status["replicas"]) ?? 0,
    selector,
  };
};

/**
 * The scale of a workload, from the object itself: Deployment, ReplicaSet and StatefulSet (a label selector) or ReplicationController (a map of labels). It equals
 * the answer to a GET of the scale subresource; an absent count is 1.
 */
export const readWorkloadScale = (raw: unknown): ScaleReading => {
  const workload = asObject(raw);
  const spec = asObject(workload["spec"]);
  const selector = asObject(spec["selector"]);
  if (isTooLarge(selector)) return selectorTooLarge("more characters");
  const metadata = asObject(workload["metadata"]);
  const manager = lastScaledBy(metadata);
  return {
    kind: "read",
    ...identity(metadata),
    ...(manager !== undefined && { lastScaledBy: manager }),
    specReplicas: asCount(spec["replicas"]) ?? 1,
    statusReplicas: asCount(asObject(workload["status"])["replicas"]) ?? 0,
    selector: selectorText(selector),
  };
};

const identity = (metadata: Json): Pick<ScaleRead, "uid" | "resourceVersion" | "generation"> => {
  const generation = asCount(metadata["generation"]);
  const identified = { uid: asText(metadata["uid"]), resourceVersion: asText(metadata["resourceVersion"]) };
  // JSON omits a zero, protobuf does not.
  return generation === undefined || generation === 0 ? identified : { ...identified, generation };
};

/** On doubt, this autoscaler holds: the time of all others would go into comparing its selector with pods. */
const selectorTooLarge = (has: string): ScaleReading => ({
  kind: "failed",
  failure: {
    code: 0,
    reason: "SelectorTooLarge",
    message: `Cannot read the scale: the selector of the workload has ${has}, and ${MAX_SELECTOR_CHARACTERS} are read; select its pods by fewer labels and values`,
  },
});

/** Looks at the parts until they are too many, because sorting them would take longer. */
const isTooLarge = (selector: Json): boolean => {
  let characters = 0;
  const add = (part: unknown): boolean => {
    characters += 1 + (typeof part === "string" ? part.length : 0);
    return characters > MAX_SELECTOR_CHARACTERS;
  };
  const labels = "matchLabels" in selector || "matchExpressions" in selector ? asObject(selector["matchLabels"]) : selector;
  const expressions = asList(selector["matchExpressions"]).map(asObject);
  return (
    Object.entries(labels).some(([key, value]) => add(key) || add(value)) ||
    expressions.some(({ key, values }) => add(key) || asList(values).some(add))
  );
};

const selectorText = (raw: Json): string => {
  const structured = "matchLabels" in raw || "matchExpressions" in raw;
  const reading = selectorOf(structured ? labelSelector(raw) : { matchLabels: asTexts(raw) });
  return reading.kind === "selector" ? canonicalSelector(reading.selector) : "";
};

/** An expression of another shape has no operator, and makes the selector invalid: on doubt, hold. */
const labelSelector = ({ matchLabels, matchExpressions }: Json): LabelSelector => ({
  matchLabels: asTexts(matchLabels),
  matchExpressions: asList(matchExpressions).map((raw) => {
    const { key, operator, values } = asObject(raw);
    return { key: asText(key), operator: asText(operator), values: asList(values).map(asText) };
  }),
});

/** A Status object, the answer of the API server to a refused call. */
export const readFailure = (raw: unknown): ApiFailure => {
  const status = asObject(raw);
  return {
    code: asCount(status["code"]) ?? 0,
    reason: foreignReason(asText(status["reason"])) ?? "",
    message: foreignText(asText(status["message"])),
  };
};

/** The failure of a custom metric of an object whose kind the cluster does not know. */
export const unknownKind = (kind: string, group: string): ApiFailure => ({
  code: 404,
  reason: "NotFound",
  message: `unable to map kind ${group === "" ? kind : `${kind}.${group}`} to resource: no matches for kind "${kind}" in group "${group}"`,
});

/** The field manager of releases that gave every stack the same name, and of clusters that such a release added. */
const WITHOUT_UID = "tidemark";
const SCALE = "scale";

/**
 * The name under which the API server records the writes of one cluster record (`metadata.managedFields`). It never changes: the uid is made when the cluster is added, is stored with it, and
 * moves with the table. So two stacks have different names, and two records of one stack too. A table that was restored or copied gets another name when it is adopted.
 */
export const fieldManagerOf = ({ uid, restoredAs }: Pick<ClusterRecord, "uid" | "restoredAs">): string =>
  [WITHOUT_UID, uid, restoredAs].filter((part) => part !== undefined).join("-");

/** True of the name of any Tidemark, of this stack or another one. */
export const isOfTidemark = (manager: string): boolean => manager.startsWith(`${WITHOUT_UID}-`);

/**
 * The Tidemark that made the last change of the count, by the metadata of a workload; undefined where another program or a person made it, or the answer does not say so. The API server
 * removes the entry of a scale as soon as another writer changes the count. The entry of a scale has no time.
 */
export const lastScaledBy = (metadata: Json): string | undefined => {
  for (const raw of asList(metadata["managedFields"])) {
    const { manager, subresource } = asObject(raw);
    const name = asText(manager);
    if (subresource === SCALE && isOfTidemark(name)) return name;
  }
  return undefined;
};
