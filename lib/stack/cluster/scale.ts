import type { Namespace } from "../../rules/model/ids.ts";
import type { Because } from "../../rules/model/decision.ts";
import { foreignReason, foreignText } from "../../rules/model/foreign-text.ts";
import type { ApiFailure, ScaleReading, ScaleRead } from "../../rules/model/observation.ts";
import type { TargetRef } from "../../rules/model/spec-common.ts";
import type { ScaleAnswer, ScaleWrite } from "./cluster-client.ts";
import { type Discovery, type KindPath, isBuiltIn, objectPath, scalePath } from "./discovery.ts";
import { type CallBudget, callBudget } from "./transport/budget.ts";
import type { Surroundings } from "./transport/exchange.ts";
import type { Transport, WriteAnswer } from "./transport/transport.ts";
import {
  canonicalSelector,
  type LabelSelector,
  type Selector,
  selectorOf,
} from "../../rules/model/selector.ts";
import { MAX_SELECTOR_CHARACTERS } from "./request-limits.ts";
import { asCount, asList, asObject, asText, asTexts, type Json } from "../../rules/model/json.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";

/** What every call to the API server of one cluster needs. */
export interface ApiSession {
  readonly cluster: string;
  readonly transport: Transport;
  readonly discovery: Discovery;
  /** The name of our writes (fieldManagerOf). */
  readonly fieldManager: string;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Calls back after a time of that clock. */
  readonly after: Surroundings["after"];
}

/** Most calls for one scale: discovery, the object, the scale, and the repeats of each. */
const MAX_CALLS_PER_SCALE = 12;

/** The scale of one target, or why it cannot be read (hpa.md 2.4 step 1). */
export const readTargetScale = async (
  session: ApiSession,
  namespace: Namespace,
  target: TargetRef,
  budget: CallBudget,
): Promise<ScaleReading> => {
  const kind = await session.discovery.kindPath(target, budget);
  if (kind.kind === "failed") return { kind: "failed", failure: kind.failure };
  return readScaleAt(session, { kind: kind.value, namespace, name: target.name, target }, budget);
};

export interface ScaleAddress {
  readonly kind: KindPath;
  readonly namespace: Namespace;
  readonly name: string;
  readonly target: TargetRef;
}

/**
 * Reads the object itself where its kind is built in: unlike its scale it has a generation, which
 * settles a write of unknown outcome precisely. Where only scales may be read, it reads the scale.
 */
export const readScaleAt = async (
  session: ApiSession,
  { kind, namespace, name, target }: ScaleAddress,
  budget: CallBudget,
): Promise<ScaleReading> => {
  if (isBuiltIn(target)) {
    const object = await session.transport.get(
      { path: objectPath(kind, namespace, name), resource: kind.resource, flow: namespace },
      budget,
    );
    if (object.kind === "read") return readWorkloadScale(object.body);
    if (object.failure.code !== 403) return object;
  }
  const scale = await session.transport.get(
    { path: scalePath(kind, namespace, name), resource: kind.resource, flow: namespace },
    budget,
  );
  return scale.kind === "read" ? scaleReadingOf(scale.body) : scale;
};

/** Like `readTargetScale`, with its own budget. */
export const readScaleWithin = (
  session: ApiSession,
  namespace: Namespace,
  target: TargetRef,
  timeoutMs: number,
): Promise<ScaleReading> =>
  readTargetScale(session, namespace, target, ownBudget(session, timeoutMs));

const ownBudget = (session: ApiSession, timeoutMs: number): CallBudget =>
  callBudget({
    budgetMs: timeoutMs,
    maxCalls: MAX_CALLS_PER_SCALE,
    maxBytes: Number.POSITIVE_INFINITY,
    elapsed: session.elapsed,
  });

/**
 * Sends one PUT of the scale subresource, conditional on uid and resourceVersion. Discovery of its
 * path counts into the same `timeoutMs`.
 */
export const putScaleWithin = async (
  session: ApiSession,
  write: ScaleWrite,
  timeoutMs: number,
): Promise<ScaleAnswer> => {
  const budget = ownBudget(session, timeoutMs);
  const kind = await session.discovery.kindPath(write.target, budget);
  if (kind.kind === "failed") return { kind: "unsent", failure: kind.failure };
  const leftMs = budget.remainingMs();
  if (leftMs <= 0)
    return {
      kind: "unsent",
      failure: {
        code: 0,
        reason: "NotSent",
        message: `Cannot scale ${write.target.kind} "${write.target.name}": the time was spent before the write`,
      },
    };
  const path = scalePath(kind.value, write.namespace, write.target.name);
  const answer = await session.transport.put(
    {
      path,
      resource: kind.value.resource,
      query: { fieldManager: session.fieldManager },
      body: scaleBody(write),
    },
    leftMs,
  );
  return scaleAnswer(answer, session.cluster, write);
};

/**
 * The body of the write. Its uid and resourceVersion are preconditions: a target that was deleted
 * and created again, or written in between, answers 409.
 */
export const scaleBody = ({
  namespace,
  target,
  targetUid,
  resourceVersion,
  replicas,
}: ScaleWrite): Json => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: target.name, namespace, uid: targetUid, resourceVersion },
  spec: { replicas },
});

/**
 * What an answer proves about the write. Without proof it is `unclear`: the write may have taken
 * effect, or may still do so.
 */
export const scaleAnswer = (
  answer: WriteAnswer,
  cluster: string,
  write: ScaleWrite,
): ScaleAnswer => {
  if (answer.kind === "failed")
    return { kind: kindOf(answer.failure, answer.sent), failure: inWords(answer.failure) };
  const metadata = answer.body["metadata"] as
    | { readonly resourceVersion?: unknown; readonly generation?: unknown }
    | undefined;
  const resourceVersion = metadata?.resourceVersion;
  if (typeof resourceVersion !== "string" || resourceVersion === "") {
    // A proxy may have answered 2xx in place of the API server, so that nothing is proven.
    const message = `Cannot tell whether ${write.target.kind} "${write.target.name}" in cluster "${cluster}" was scaled to ${write.replicas}: the answer is no Scale`;
    return { kind: "unclear", failure: { code: 0, reason: "MalformedAnswer", message } };
  }
  return {
    kind: "applied",
    resourceVersion,
    ...(typeof metadata?.generation === "number" && { generation: metadata.generation }),
  };
};

/** The server's own words about 429 do not say that nothing was scaled. */
const inWords = (failure: ApiFailure): ApiFailure =>
  failure.code === 429
    ? {
        ...failure,
        message: `the API server was too busy (429) and refused the scale, so nothing changed; the next sync decides again: ${failure.message}`,
      }
    : failure;

const kindOf = (
  { code }: ApiFailure,
  sent: boolean,
): "conflict" | "refused" | "unsent" | "unclear" => {
  if (!sent) return "unsent";
  if (code === 409) return "conflict";
  return code >= 400 && code < 500 && code !== 408 ? "refused" : "unclear";
};

/**
 * An autoscaling/v1 Scale, the answer to a GET of the scale subresource. Its spec may omit a count
 * of zero.
 */
export const scaleReadingOf = (raw: unknown): ScaleReading => {
  const scale = asObject(raw);
  const status = asObject(scale["status"]);
  const selector = asText(status["selector"]);
  if (selector.length > MAX_SELECTOR_CHARACTERS)
    return selectorTooLarge(`${selector.length} characters`);
  return {
    kind: "read",
    ...identity(asObject(scale["metadata"])),
    specReplicas: asCount(asObject(scale["spec"])["replicas"]) ?? 0,
    statusReplicas: asCount(status["replicas"]) ?? 0,
    selector,
  };
};

/**
 * The scale of a workload, from the object itself: Deployment, ReplicaSet and StatefulSet (a label
 * selector) or ReplicationController (a map of labels). It equals the answer to a GET of the scale
 * subresource; an absent count is 1.
 */
export const readWorkloadScale = (raw: unknown): ScaleReading => {
  const workload = asObject(raw);
  const spec = asObject(workload["spec"]);
  const selector = asObject(spec["selector"]);
  if (isTooLarge(selector)) return selectorTooLarge("more characters");
  const metadata = asObject(workload["metadata"]);
  const stack = lastScaledBy(metadata);
  const manager = countSetBy(metadata);
  const status = asObject(workload["status"]);
  const refused = podsRefusedIn(status["conditions"]);
  return {
    kind: "read",
    ...identity(metadata),
    ...(stack !== undefined && { lastScaledBy: stack }),
    ...(manager !== undefined && { countSetBy: manager }),
    specReplicas: asCount(spec["replicas"]) ?? 1,
    statusReplicas: asCount(status["replicas"]) ?? 0,
    ...(refused && { podsRefused: refused }),
    selector: selectorText(selector),
  };
};

/**
 * Why pods of the workload are refused, as its controller says it: a quota, a webhook, a missing
 * service account. The message is set once and names one of the pods, so that it stays the same
 * while the refusal lasts.
 */
const podsRefusedIn = (conditions: unknown): Because | undefined => {
  for (const raw of asList(conditions)) {
    const { type, status, reason, message } = asObject(raw);
    if (type === "ReplicaFailure" && status === "True")
      return {
        reason: foreignReason(asText(reason)) ?? "ReplicaFailure",
        message: foreignText(asText(message)),
      };
  }
  return undefined;
};

const identity = (metadata: Json): Pick<ScaleRead, "uid" | "resourceVersion" | "generation"> => {
  const generation = asCount(metadata["generation"]);
  const identified = {
    uid: asText(metadata["uid"]),
    resourceVersion: asText(metadata["resourceVersion"]),
  };
  // JSON omits a zero, protobuf does not.
  return generation === undefined || generation === 0 ? identified : { ...identified, generation };
};

/**
 * On doubt, this autoscaler holds: the time of all others would go into comparing its selector with
 * pods.
 */
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
  const labels =
    "matchLabels" in selector || "matchExpressions" in selector
      ? asObject(selector["matchLabels"])
      : selector;
  const expressions = asList(selector["matchExpressions"]).map(asObject);
  return (
    Object.entries(labels).some(([key, value]) => add(key) || add(value)) ||
    expressions.some(({ key, values }) => add(key) || asList(values).some(add))
  );
};

/** The selector of an object that selects pods by labels; undefined where it cannot be read. */
export const readLabelSelector = (raw: Json): Selector | undefined => {
  if (isTooLarge(raw)) return undefined;
  const reading = selectorOf(labelSelector(raw));
  return reading.kind === "selector" ? reading.selector : undefined;
};

const selectorText = (raw: Json): string => {
  const structured = "matchLabels" in raw || "matchExpressions" in raw;
  const reading = selectorOf(structured ? labelSelector(raw) : { matchLabels: asTexts(raw) });
  return reading.kind === "selector" ? canonicalSelector(reading.selector) : "";
};

/**
 * An expression of another shape has no operator, and makes the selector invalid: on doubt, hold.
 */
const labelSelector = ({ matchLabels, matchExpressions }: Json): LabelSelector => ({
  matchLabels: asTexts(matchLabels),
  matchExpressions: asList(matchExpressions).map((raw) => {
    const { key, operator, values } = asObject(raw);
    return { key: asText(key), operator: asText(operator), values: asList(values).map(asText) };
  }),
});

/** The failure of a custom metric of an object whose kind the cluster does not know. */
export const unknownKind = (kind: string, group: string): ApiFailure => ({
  code: 404,
  reason: "NotFound",
  message: `unable to map kind ${group === "" ? kind : `${kind}.${group}`} to resource: no matches for kind "${kind}" in group "${group}"`,
});

/** The field manager of a connection that is only checked. */
const WITHOUT_UID = "tidemark";
const SCALE = "scale";

/**
 * The name under which the API server records the writes of one cluster record
 * (`metadata.managedFields`). It never changes: the uid is made when the cluster is added, is
 * stored with it, and moves with the table. So two stacks have different names, and two records of
 * one stack too. A table that was restored or copied gets another name when it is adopted.
 */
export const fieldManagerOf = ({
  uid,
  restoredAs,
}: Partial<Pick<ClusterRecord, "uid" | "restoredAs">>): string =>
  [WITHOUT_UID, uid, restoredAs].filter((part) => part !== undefined).join("-");

/** True of the name of any Tidemark, of this stack or another one. */
export const isOfTidemark = (manager: string): boolean => manager.startsWith(`${WITHOUT_UID}-`);

/**
 * The Tidemark that made the last change of the count, by the metadata of a workload; undefined
 * where another program or a person made it, or the answer does not say so. The API server removes
 * the entry of a scale as soon as another writer changes the count. The entry of a scale has no
 * time.
 */
export const lastScaledBy = (metadata: Json): string | undefined => {
  for (const raw of asList(metadata["managedFields"])) {
    const { manager, subresource } = asObject(raw);
    const name = asText(manager);
    if (subresource === SCALE && isOfTidemark(name)) return name;
  }
  return undefined;
};

/**
 * The field manager that has set the count of a workload: `kubectl scale` and controllers write it
 * through its scale, `kubectl apply` and GitOps tools with the object. Where several have set the
 * same count, the one that wrote the scale, else the last of the list. It only explains.
 */
export const countSetBy = (metadata: Json): string | undefined => {
  const entries = asList(metadata["managedFields"]).map(asObject);
  const writer =
    entries.find(({ subresource }) => subresource === SCALE) ?? entries.findLast(hasSetCount);
  const name = asText(writer?.["manager"]);
  return name === "" || name === NAMELESS ? undefined : name;
};

/** What the API server calls a program that gives no name. */
const NAMELESS = "unknown";

/**
 * True of an entry that owns `spec.replicas`. In a LIST the fields are the bytes of their JSON,
 * which are searched and not parsed: each changed workload passes here.
 */
const hasSetCount = ({ subresource, fieldsV1 }: Json): boolean => {
  if (subresource !== undefined && subresource !== "") return false;
  return fieldsV1 instanceof Uint8Array
    ? Buffer.from(fieldsV1.buffer, fieldsV1.byteOffset, fieldsV1.byteLength).includes(COUNT_FIELD)
    : "f:replicas" in asObject(asObject(fieldsV1)["f:spec"]);
};

const COUNT_FIELD = '"f:replicas":';
