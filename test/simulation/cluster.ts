import type { ScaleAnswer, ScaleWrite } from "../../lib/stack/cluster/cluster-client.ts";
import { isOfTidemark } from "../../lib/stack/cluster/scale.ts";
import { namespace as namespaceOf } from "../../lib/rules/model/ids.ts";
import type { ScaleReading } from "../../lib/rules/model/observation.ts";
import type { TargetRef } from "../../lib/rules/model/spec-common.ts";
import { workloadKey } from "../../lib/stack/sync/load/open-intents.ts";
import { during } from "./during.ts";
import type { ObjectStore } from "./objects/object-store.ts";
import type { RivalKind } from "./takeovers.ts";

/** As much of a workload as the protocol and the rules can see. */
export interface Workload {
  readonly cluster: string;
  readonly namespace: string;
  readonly target: TargetRef;
  uid: string;
  replicas: number;
  resourceVersion: number;
  /** Absent for kinds that do not count generations. */
  generation: number | undefined;
  /** What its metrics show in all; `LOAD_PER_POD` of it is the target of one pod. */
  load: number;
  /** Another controller scales it as well, since this instant. */
  rivalSinceMs: number | undefined;
  /**
   * The object of that controller, where a person moves the workload between the two; else a
   * ScaledObject without a uid.
   */
  other?: { readonly kind: RivalKind; readonly uid: string; readonly isBack: boolean };
  /** Deleted, and not made anew yet. */
  gone: boolean;
  /** The stack that was the last to set its count, where there are two. */
  scaledBy?:
    | { readonly stack: "former" | "restored"; readonly manager: string; readonly atMs: number }
    | undefined;
}

/** A workload as it was from an instant on. */
export interface PastWorkload
  extends Pick<Workload, "uid" | "replicas" | "resourceVersion" | "generation" | "load" | "gone"> {
  readonly atMs: number;
}

export const LOAD_PER_POD = 10;

/** A PUT that moved the count, as the cluster saw it. */
export interface Effect {
  readonly workload: Workload;
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
}

/**
 * A cluster's API server: it executes one request after the other, under the versions that they
 * carry.
 */
export interface SimulatedCluster {
  readonly name: string;
  /** The uid of its namespace kube-system. */
  readonly identity: string;
  readonly workloads: ReadonlyMap<string, Workload>;
  /** The objects that hold specs. */
  readonly objects: ObjectStore;
  readonly at: (namespace: string, target: TargetRef) => Workload | undefined;
  readonly read: (namespace: string, target: TargetRef) => ScaleReading;
  readonly put: (write: ScaleWrite, effect: (effect: Effect) => void) => ScaleAnswer;
  /**
   * A person or another controller: sets the count, or with `undefined` touches the object so that
   * only its version moves.
   */
  readonly edit: (workload: Workload, replicas: number | undefined) => void;
  /** Makes a workload that was deleted, or replaces one: another object of the same name. */
  readonly make: (workload: Workload, replicas: number) => void;
  /** To be called after a workload was changed. */
  readonly changed: (workload: Workload) => void;
  /** Everything that a workload was between two instants. */
  readonly past: (workload: Workload, fromMs: number, toMs: number) => readonly PastWorkload[];
}

const VERSIONS_PER_OBJECT = 1_000;

const failure = (code: number, reason: string, message: string) => ({ code, reason, message });

export const simulatedCluster = (
  name: string,
  {
    workloads: all,
    objects,
    identity = name,
  }: {
    readonly workloads: readonly Workload[];
    readonly objects: ObjectStore;
    readonly identity?: string;
  },
  nowMs: () => number,
): SimulatedCluster => {
  const workloads = new Map(
    all.map((workload) => [workloadKey(workload.namespace, workload.target), workload]),
  );
  const at = (namespace: string, target: TargetRef): Workload | undefined => {
    const found = workloads.get(workloadKey(namespaceOf(namespace), target));
    return found?.gone ? undefined : found;
  };
  const pasts = new Map(
    all.map((workload) => [workload, [{ ...workload, atMs: Number.NEGATIVE_INFINITY }]]),
  );
  const changed = (workload: Workload): void => {
    pasts.get(workload)?.push({ ...workload, atMs: nowMs() });
  };
  let made = 0;
  const moved = (workload: Workload, replicas: number): void => {
    workload.replicas = replicas;
    workload.resourceVersion++;
    if (workload.generation !== undefined) workload.generation++;
  };
  return {
    name,
    identity,
    workloads,
    objects,
    at,
    read: (namespace, target) => {
      const found = at(namespace, target);
      return found
        ? readingOf(found)
        : { kind: "failed", failure: failure(404, "NotFound", `"${target.name}" not found`) };
    },
    put: (write, effect) => {
      const found = at(write.namespace, write.target);
      if (!found)
        return {
          kind: "refused",
          failure: failure(404, "NotFound", `"${write.target.name}" not found`),
        };
      if (found.uid !== write.targetUid)
        return {
          kind: "conflict",
          failure: failure(409, "Conflict", "Precondition failed: UID in precondition"),
        };
      if (String(found.resourceVersion) !== write.resourceVersion) {
        return {
          kind: "conflict",
          failure: failure(409, "Conflict", "the object has been modified"),
        };
      }
      const from = found.replicas;
      if (from !== write.replicas) {
        moved(found, write.replicas);
        changed(found);
        effect({ workload: found, from, to: write.replicas, atMs: nowMs() });
      }
      const { resourceVersion, generation } = found;
      return {
        kind: "applied",
        resourceVersion: String(resourceVersion),
        ...(generation !== undefined && { generation }),
      };
    },
    edit: (workload, replicas) => {
      if (replicas === undefined) workload.resourceVersion++;
      else if (replicas !== workload.replicas) {
        moved(workload, replicas);
        workload.scaledBy = undefined;
      }
    },
    make: (workload, replicas) => {
      workload.gone = false;
      workload.uid = `object-${workload.target.name}-${++made}`;
      workload.replicas = replicas;
      // Versions count over all objects of a cluster, generations begin anew.
      workload.scaledBy = undefined;
      workload.resourceVersion += VERSIONS_PER_OBJECT;
      if (workload.generation !== undefined) workload.generation = 1;
    },
    changed,
    past: (workload, fromMs, toMs) => during(pasts.get(workload) ?? [], fromMs, toMs),
  };
};

const readingOf = ({
  uid,
  replicas,
  resourceVersion,
  generation,
  target,
  scaledBy,
}: Workload): ScaleReading => ({
  kind: "read",
  specReplicas: replicas,
  statusReplicas: replicas,
  selector: `app=${target.name}`,
  uid,
  resourceVersion: String(resourceVersion),
  ...(generation !== undefined && { generation }),
  ...(scaledBy && isOfTidemark(scaledBy.manager) && { lastScaledBy: scaledBy.manager }),
});
