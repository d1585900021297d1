import { setTimeout as wait } from "node:timers/promises";
import { mapWithLimit } from "../../lib/store/table/wait-for-all.ts";
import type { ControlPlane } from "./start.ts";

/** Plays the kubelets: each pod that is pending becomes Running and Ready at once. */
export interface Kubelet {
  readonly stop: () => Promise<void>;
}

/** A pod with this label stays unready. */
export const UNREADY = { "tidemark.test/readiness": "never" } as const;
/** A pod with this label stays pending. */
export const UNSCHEDULED = { "tidemark.test/kubelet": "none" } as const;

const PENDING = `fieldSelector=status.phase%3DPending&labelSelector=${encodeURIComponent("tidemark.test/kubelet!=none")}`;
const LOOK_AGAIN_MS = 100;
const PARALLEL = 8;
/** Pods look as if they had run for so long: what the HPA makes of a young pod is no part of most tests. */
const AGE_MS = 600_000;

interface PendingPod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Readonly<Record<string, string>> };
}

export const startKubelet = ({ call }: Pick<ControlPlane, "call">): Kubelet => {
  let isStopped = false;
  const run = async (): Promise<void> => {
    while (!isStopped) {
      // The API server may be stopped for a while.
      await startPending(call).catch(() => undefined);
      await wait(LOOK_AGAIN_MS);
    }
  };
  const ended = run();
  return {
    stop: () => {
      isStopped = true;
      return ended;
    },
  };
};

const startPending = async (call: ControlPlane["call"]): Promise<void> => {
  const { status, body } = await call("GET", `/api/v1/pods?${PENDING}`);
  if (status !== 200) return;
  const { items }: { readonly items: readonly PendingPod[] } = JSON.parse(body);
  await mapWithLimit(items, PARALLEL, async ({ metadata: { namespace, name, labels } }) => {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await call("PATCH", path, { status: statusOf(isUnready(labels)) }, "application/merge-patch+json");
  });
};

const isUnready = (labels: Readonly<Record<string, string>> = {}): boolean => Object.entries(UNREADY).some(([name, value]) => labels[name] === value);

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
