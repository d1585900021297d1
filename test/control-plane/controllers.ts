import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubeconfigText } from "./kubeconfig.ts";
import { type Program, startProgram } from "./processes.ts";
import type { ControlPlane } from "./start.ts";

/** What turns workloads into pods, and what clears a namespace away. */
const WORKLOADS = [
  "deployment-controller",
  "replicaset-controller",
  "statefulset-controller",
  "replicationcontroller-controller",
  "namespace-controller",
  "garbage-collector-controller",
];
const HPA = "horizontal-pod-autoscaler-controller";
/** The default of 20 calls a second makes pods come late where a test has many. */
const UNHURRIED = ["--kube-api-qps=300", "--kube-api-burst=600"];

const startManager = (
  plane: ControlPlane,
  binaries: string,
  name: string,
  args: readonly string[],
): Program => {
  const kubeconfig = join(plane.dir, "controllers.kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(plane, { token: plane.token }), { mode: 0o600 });
  const own = [
    `--kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    ...UNHURRIED,
  ];
  return startProgram(join(binaries, "kube-controller-manager"), [...own, ...args], {
    dir: plane.dir,
    name,
  });
};

/** Starts the controllers of workloads. */
export const startWorkloadControllers = (plane: ControlPlane, binaries: string): Program =>
  startManager(plane, binaries, "workload-controllers", [`--controllers=${WORKLOADS.join(",")}`]);

/**
 * Starts the HPA controller of Kubernetes. With a sync each second a script of metrics takes
 * seconds.
 */
export const startHpaController = (
  plane: ControlPlane,
  binaries: string,
  periodSeconds = 1,
): Program =>
  startManager(plane, binaries, "hpa-controller", [
    `--controllers=${HPA}`,
    `--horizontal-pod-autoscaler-sync-period=${periodSeconds}s`,
  ]);
