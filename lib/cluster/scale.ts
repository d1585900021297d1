import type { Namespace } from "../model/ids.ts";
import type { ApiFailure, ScaleReading } from "../model/observation.ts";
import type { TargetRef } from "../model/spec-common.ts";
import type { ScaleAnswer, ScaleWrite } from "./cluster-client.ts";
import { type Discovery, type KindPath, isBuiltIn, objectPath, scalePath } from "./discovery.ts";
import { readScale, readWorkloadScale } from "./read/scale.ts";
import { type CallBudget, callBudget } from "./transport/budget.ts";
import type { Surroundings } from "./transport/exchange.ts";
import type { JsonObject, Transport, WriteAnswer } from "./transport/transport.ts";

/** What every call to the API server of one cluster needs. */
export interface ApiSession {
  readonly cluster: string;
  readonly transport: Transport;
  readonly discovery: Discovery;
  /** The name of our writes (read/scale.ts). */
  readonly fieldManager: string;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Calls back after a time of that clock. */
  readonly after: Surroundings["after"];
}

/** Most calls for one scale: discovery, the object, the scale, and the repeats of each. */
const MAX_CALLS_PER_SCALE = 12;

/** The scale of one target, or why it cannot be read (hpa.md 2.4 step 1). */
export const readTargetScale = async (session: ApiSession, namespace: Namespace, target: TargetRef, budget: CallBudget): Promise<ScaleReading> => {
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
 * Reads the object itself where its kind is built in: unlike its scale it has a generation, which settles a write of unknown outcome precisely. Where only scales may be read, it reads
 * the scale.
 */
export const readScaleAt = async (
  session: ApiSession,
  { kind, namespace, name, target }: ScaleAddress,
  budget: CallBudget,
): Promise<ScaleReading> => {
  if (isBuiltIn(target)) {
    const object = await session.transport.get({ path: objectPath(kind, namespace, name), resource: kind.resource, flow: namespace }, budget);
    if (object.kind === "read") return readWorkloadScale(object.body);
    if (object.failure.code !== 403) return object;
  }
  const scale = await session.transport.get({ path: scalePath(kind, namespace, name), resource: kind.resource, flow: namespace }, budget);
  return scale.kind === "read" ? readScale(scale.body) : scale;
};

/** Like `readTargetScale`, with its own budget. */
export const readScaleWithin = (session: ApiSession, namespace: Namespace, target: TargetRef, timeoutMs: number): Promise<ScaleReading> =>
  readTargetScale(session, namespace, target, ownBudget(session, timeoutMs));

const ownBudget = (session: ApiSession, timeoutMs: number): CallBudget =>
  callBudget({ budgetMs: timeoutMs, maxCalls: MAX_CALLS_PER_SCALE, maxBytes: Number.POSITIVE_INFINITY, elapsed: session.elapsed });

/** Sends one PUT of the scale subresource, conditional on uid and resourceVersion. Discovery of its path counts into the same `timeoutMs`. */
export const putScaleWithin = async (session: ApiSession, write: ScaleWrite, timeoutMs: number): Promise<ScaleAnswer> => {
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
    { path, resource: kind.value.resource, query: { fieldManager: session.fieldManager }, body: scaleBody(write) },
    leftMs,
  );
  return scaleAnswer(answer, session.cluster, write);
};

/** The body of the write. Its uid and resourceVersion are preconditions: a target that was deleted and created again, or written in between, answers 409. */
export const scaleBody = ({ namespace, target, targetUid, resourceVersion, replicas }: ScaleWrite): JsonObject => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: target.name, namespace, uid: targetUid, resourceVersion },
  spec: { replicas },
});

/** What an answer proves about the write. Without proof it is `unclear`: the write may have taken effect, or may still do so. */
export const scaleAnswer = (answer: WriteAnswer, cluster: string, write: ScaleWrite): ScaleAnswer => {
  if (answer.kind === "failed") return { kind: kindOf(answer.failure, answer.sent), failure: inWords(answer.failure) };
  const metadata = answer.body["metadata"] as { readonly resourceVersion?: unknown; readonly generation?: unknown } | undefined;
  const resourceVersion = metadata?.resourceVersion;
  if (typeof resourceVersion !== "string" || resourceVersion === "") {
    // A proxy may have answered 2xx in place of the API server, so that nothing is proven.
    const message = `Cannot tell whether ${write.target.kind} "${write.target.name}" in cluster "${cluster}" was scaled to ${write.replicas}: the answer is no Scale`;
    return { kind: "unclear", failure: { code: 0, reason: "MalformedAnswer", message } };
  }
  return { kind: "applied", resourceVersion, ...(typeof metadata?.generation === "number" && { generation: metadata.generation }) };
};

/** The server's own words about 429 do not say that nothing was scaled. */
const inWords = (failure: ApiFailure): ApiFailure =>
  failure.code === 429
    ? {
        ...failure,
        message: `the API server was too busy (429) and refused the scale, so nothing changed; the next sync decides again: ${failure.message}`,
      }
    : failure;

const kindOf = ({ code }: ApiFailure, sent: boolean): "conflict" | "refused" | "unsent" | "unclear" => {
  if (!sent) return "unsent";
  if (code === 409) return "conflict";
  return code >= 400 && code < 500 && code !== 408 ? "refused" : "unclear";
};
