import type { Pod } from "../../lib/model/observation.ts";

/** A pod that has been running and ready for ever. */
export const readyPod = (name: string, requestMilli: bigint, more: Partial<Pod> = {}): Pod => ({
  name,
  labels: { app: "web" },
  owners: [],
  deleting: false,
  phase: "Running",
  startMs: 0,
  ready: { status: "True", transitionMs: 0 },
  containers: [{ name: "app", requests: { cpu: requestMilli, memory: requestMilli }, limits: {}, restartable: false }],
  initContainers: [],
  overhead: {},
  ...more,
});

/** web-0, web-1, … */
export const readyPods = (count: number, requestMilli: bigint): readonly Pod[] =>
  Array.from({ length: count }, (_, at) => readyPod(`web-${at}`, requestMilli));
