import type { Namespace } from "../model/ids.ts";
import type { ApiFailure, ScaleReading } from "../model/observation.ts";
import type { TargetRef } from "../model/spec-governed.ts";
import type { Discovery, KindPath } from "./discovery.ts";
import { isBuiltIn } from "./discovery.ts";
import { objectPath, scalePath } from "./paths.ts";
import type { ScaleAnswer, ScaleWrite } from "./port.ts";
import { readScale, readWorkloadScale } from "./read/scale.ts";
import { type CallBudget, callBudget } from "./transport/budget.ts";
import type { JsonObject, Transport, WriteAnswer } from "./transport/transport.ts";

/** What every call to one cluster needs. */
export interface Line {
  readonly cluster: string;
  readonly transport: Transport;
  readonly discovery: Discovery;
  /** Milliseconds of a clock that only runs forward. */
  readonly elapsed: () => number;
}

/** Discovery, the object, the scale, and what each may repeat. */
const MAX_CALLS_PER_SCALE = 12;

/** The scale of one target, with the reason if it cannot be read (hpa.md 2.4 step 1). */
export const readTargetScale = async (line: Line, namespace: Namespace, target: TargetRef, budget: CallBudget): Promise<ScaleReading> => {
  const kind = await line.discovery.kindPath(target, budget);
  if (kind.kind === "failed") return { kind: "failed", failure: kind.failure };
  return readScaleAt(line, { kind: kind.value, namespace, name: target.name, target }, budget);
};

export interface ScalePlace {
  readonly kind: KindPath;
  readonly namespace: Namespace;
  readonly name: string;
  readonly target: TargetRef;
}

/**
 * The object itself where its kind is built in: unlike its scale it tells its generation, by which a write of unknown outcome is settled precisely. Whoever may only see scales
 * is served from those.
 */
export const readScaleAt = async (line: Line, { kind, namespace, name, target }: ScalePlace, budget: CallBudget): Promise<ScaleReading> => {
  if (isBuiltIn(target)) {
    const object = await line.transport.get({ path: objectPath(kind, namespace, name), resource: kind.resource }, budget);
    if (object.kind === "read") return readWorkloadScale(object.body);
    if (object.failure.code !== 403) return object;
  }
  const scale = await line.transport.get({ path: scalePath(kind, namespace, name), resource: kind.resource }, budget);
  return scale.kind === "read" ? readScale(scale.body) : scale;
};

/** As `readTargetScale`, with a budget of its own. */
export const readScaleWithin = (line: Line, namespace: Namespace, target: TargetRef, timeoutMs: number): Promise<ScaleReading> =>
  readTargetScale(line, namespace, target, ownBudget(line, timeoutMs));

const ownBudget = (line: Line, timeoutMs: number): CallBudget =>
  callBudget({ budgetMs: timeoutMs, maxCalls: MAX_CALLS_PER_SCALE, maxBytes: Number.POSITIVE_INFINITY, elapsed: line.elapsed });

/** One PUT of the scale subresource, conditional on uid and resourceVersion; finding its path counts into the same `timeoutMs`. */
export const putScaleWithin = async (line: Line, write: ScaleWrite, timeoutMs: number): Promise<ScaleAnswer> => {
  const budget = ownBudget(line, timeoutMs);
  const kind = await line.discovery.kindPath(write.target, budget);
  if (kind.kind === "failed") return { kind: "refused", failure: kind.failure };
  const leftMs = budget.remainingMs();
  if (leftMs <= 0)
    return {
      kind: "refused",
      failure: {
        code: 0,
        reason: "NotSent",
        message: `Cannot scale ${write.target.kind} "${write.target.name}": the time was spent before the write`,
      },
    };
  const path = scalePath(kind.value, write.namespace, write.target.name);
  const answer = await line.transport.put(
    { path, resource: kind.value.resource, query: { fieldManager: "tidemark" }, body: scaleBody(write) },
    leftMs,
  );
  return scaleAnswer(answer, line.cluster, write);
};

/** The object of the write. uid and resourceVersion are preconditions: a deleted and re-made target, or any write in between, is a 409. */
export const scaleBody = ({ namespace, target, targetUid, resourceVersion, replicas }: ScaleWrite): JsonObject => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: target.name, namespace, uid: targetUid, resourceVersion },
  spec: { replicas },
});

/** What an answer proves about the write. Without proof it is unclear: it may have taken effect, or still will. */
export const scaleAnswer = (answer: WriteAnswer, cluster: string, write: ScaleWrite): ScaleAnswer => {
  if (answer.kind === "failed") return { kind: verdict(answer.failure, answer.sent), failure: answer.failure };
  const metadata = answer.body["metadata"] as { readonly resourceVersion?: unknown; readonly generation?: unknown } | undefined;
  const resourceVersion = metadata?.resourceVersion;
  if (typeof resourceVersion !== "string" || resourceVersion === "") {
    // Something between us and the API server said 2xx; whether the server was asked is unknown.
    const message = `Cannot tell whether ${write.target.kind} "${write.target.name}" in cluster "${cluster}" was scaled to ${write.replicas}: the answer is no Scale`;
    return { kind: "unclear", failure: { code: 0, reason: "MalformedAnswer", message } };
  }
  return { kind: "applied", resourceVersion, ...(typeof metadata?.generation === "number" && { generation: metadata.generation }) };
};

const verdict = ({ code }: ApiFailure, sent: boolean): "conflict" | "refused" | "unclear" => {
  if (!sent) return "refused";
  if (code === 409) return "conflict";
  return code >= 400 && code < 500 && code !== 408 ? "refused" : "unclear";
};
