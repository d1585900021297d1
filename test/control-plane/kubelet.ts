import { setTimeout as wait } from "node:timers/promises";
import limited from "p-limit";
import type { ControlPlane } from "./start.ts";
import { type Watch, type WatchedObject, watchObjects } from "./watch.ts";

/** Plays the kubelets: each pod that is pending becomes Running and Ready at once. */
export interface Kubelet {
  readonly stop: () => Promise<void>;
}

/** A pod with this label stays unready. */
export const UNREADY = { "tidemark.test/readiness": "never" } as const;
/** A pod with this label stays pending. */
export const UNSCHEDULED = { "tidemark.test/kubelet": "none" } as const;

const PENDING = `/api/v1/pods?fieldSelector=status.phase%3DPending&labelSelector=${encodeURIComponent("tidemark.test/kubelet!=none")}`;
/** Until the next watch, where the API server is stopped for a while. */
const WATCH_AGAIN_MS = 100;
const PARALLEL = 8;
/**
 * Pods look as if they had run for so long: what the HPA makes of a young pod is no part of most
 * tests.
 */
const AGE_MS = 600_000;

export const startKubelet = (
  plane: Pick<ControlPlane, "url" | "ca" | "token" | "call">,
): Kubelet => {
  const atMost = limited(PARALLEL);
  let isStopped = false;
  let watch: Watch | undefined;
  /** A pod that could not be started is pending in the next watch as well. */
  const seen = (type: string, pod: WatchedObject): void => {
    if (type !== "DELETED") atMost(() => startPod(plane.call, pod)).catch(() => watch?.stop());
  };
  const run = async (): Promise<void> => {
    while (!isStopped) {
      watch = watchObjects(plane, PENDING, seen);
      watch.ready.catch(() => undefined);
      await watch.ended;
      if (!isStopped) await wait(WATCH_AGAIN_MS);
    }
  };
  const ended = run();
  return {
    stop: () => {
      isStopped = true;
      watch?.stop();
      return ended;
    },
  };
};

const startPod = (
  call: ControlPlane["call"],
  { metadata: { namespace, name, labels } }: WatchedObject,
): Promise<unknown> => {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
  return call(
    "PATCH",
    path,
    { status: statusOf(isUnready(labels)) },
    "application/merge-patch+json",
  );
};

const isUnready = (labels: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(UNREADY).some(([name, value]) => labels[name] === value);

const statusOf = (unready: boolean): object => {
  const since = new Date(Date.now() - AGE_MS).toISOString().replace(/\.\d+Z$/, "Z");
  const ready = unready ? "False" : "True";
  const conditions = [
    { type: "Ready", status: ready, lastTransitionTime: since },
    { type: "ContainersReady", status: ready, lastTransitionTime: since },
    { type: "PodScheduled", status: "True", lastTransitionTime: since },
  ];
  return { phase: "Running", startTime: since, conditions };
};
