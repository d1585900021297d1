import { basename } from "node:path";
import type { ClusterRecord } from "../model/records.ts";
import type { SimulatedAbout } from "./about.ts";
import type { Reading, Statistics } from "./cluster/reading.ts";
import { startSimulatedCluster } from "./cluster/simulated-cluster.ts";
import type { FolderLayout } from "./folder-layout.ts";
import { workloadsOf } from "./workloads.ts";

/** The cluster of a run, as far as the run itself is concerned. */
export interface World {
  readonly name: string;
  readonly connection: ClusterRecord["connection"];
  /** Of the simulated workloads; nothing on a real cluster. */
  readonly readings: () => readonly Reading[];
  readonly statistics: () => readonly Statistics[] | undefined;
  readonly close: () => Promise<void>;
}

const SIMULATED_NAME = "local";
/** CPU readings of real pods are never quite the same twice. */
const NOISE = 0.02;

export const simulatedWorld = async (layout: FolderLayout, about: SimulatedAbout, clock: () => number): Promise<World> => {
  const workloads = await workloadsOf(about);
  const cluster = await startSimulatedCluster({ dataDir: layout.cluster, clock, seed: about.seed, workloads, noise: NOISE });
  return {
    name: SIMULATED_NAME,
    connection: { kind: "kubeconfig", path: cluster.kubeconfigPath },
    readings: cluster.readings,
    statistics: cluster.statistics,
    close: cluster.close,
  };
};

/** Somebody's cluster: named after the context, or the file where none is named. */
export const realWorld = (kubeconfig: string, context: string | undefined): World => ({
  name: labelOf(context ?? basename(kubeconfig)),
  connection: { kind: "kubeconfig", path: kubeconfig, ...(context !== undefined && { context }) },
  readings: () => [],
  statistics: () => undefined,
  close: async () => {},
});

/** A name that a cluster may have: small letters, digits and dashes. */
const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63) || "cluster";
