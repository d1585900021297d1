import type { BesideKind } from "../folder/identity.ts";
import { drawName, drawUid, type PodsBeside } from "./definition.ts";
import { pod, podLabels } from "./kube-objects.ts";
import type { KubeObject } from "./list-selectors.ts";
import { lastScrapeMs, type PodUsage, RESOLUTION_MS } from "./reading.ts";
import type { SimulatedPod } from "./simulated-pod.ts";
import { createdMs, openSegment } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/** A pod that carries the labels of a workload without being one of its pods as they are counted. */
interface BesidePod {
  readonly object: KubeObject;
  /** Absent for a pod in which nothing runs. */
  readonly usage?: PodUsage;
}

/** Use of a pod of another workload, as a share of its request: it is busy. */
const FOREIGN_USE = 0.9;
const NANO_PER_MILLI = 1e6;
const HASH_LENGTH = 10;

/** The pods beside the pods of the workload that are there now. */
export const besidePods = (workload: SimulatedWorkload, nowMs: number): readonly BesidePod[] =>
  workload.model.beside
    .filter((span) => isThere(span, nowMs - workload.model.startMs))
    .flatMap((span) =>
      Array.from({ length: span.count }, (_, at) => podBeside(workload, span, { at, nowMs })),
    );

const isThere = (
  { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY }: PodsBeside,
  sinceMs: number,
): boolean => sinceMs >= fromMs && sinceMs < toMs;

const podBeside = (
  workload: SimulatedWorkload,
  { kind, fromMs }: PodsBeside,
  { at, nowMs }: { readonly at: number; readonly nowMs: number },
): BesidePod => {
  const { model } = workload;
  const hash = drawName(HASH_LENGTH, model.seed, model.namespace, model.name, kind);
  const owner = `${kind === "foreign" ? `${model.name}-other` : model.name}-${hash}`;
  const bornMs = fromMs === undefined ? createdMs(model) : model.startMs + fromMs;
  const name = `${owner}-${at}`;
  const uid = drawUid(model.seed, model.namespace, name);
  const instants = { createdMs: bornMs, startedMs: bornMs, runningMs: bornMs, readyMs: bornMs };
  const simulated: SimulatedPod = { name, uid, version: 1, ...instants };
  const own = pod(model, simulated, nowMs);
  const object = kind === "finished" ? finished(own) : ofOwner(own, { model, owner, hash });
  if (kind === "finished") return { object };
  return { object, usage: usageOf(workload, kind, simulated, nowMs) };
};

const finished = (own: KubeObject): KubeObject => ({
  ...own,
  status: { phase: "Succeeded", qosClass: "Burstable" },
});

const ofOwner = (
  own: KubeObject,
  {
    model,
    owner,
    hash,
  }: {
    readonly model: SimulatedWorkload["model"];
    readonly owner: string;
    readonly hash: string;
  },
): KubeObject => ({
  ...own,
  metadata: {
    ...own.metadata,
    labels: { ...podLabels(model), "pod-template-hash": hash },
    ownerReferences: [
      {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: owner,
        uid: drawUid(model.seed, model.namespace, owner),
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
});

/** Pods of a surge carry the load of all others; pods of another workload are busy all the time. */
const usageOf = (
  { model, state }: SimulatedWorkload,
  kind: Exclude<BesideKind, "finished">,
  simulated: SimulatedPod,
  nowMs: number,
): PodUsage => {
  const { load } = openSegment(state);
  const millicores =
    kind === "foreign" ? model.requests.cpuMillicores * FOREIGN_USE : load.cpuMillicores;
  return {
    pod: simulated,
    timestampMs: lastScrapeMs(nowMs),
    windowMs: RESOLUTION_MS,
    cpuNanocores: BigInt(Math.round(millicores * NANO_PER_MILLI)),
    memoryBytes: Math.round(load.memoryBytes),
  };
};
