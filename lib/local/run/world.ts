import { basename, resolve } from "node:path";
import type { Connection } from "../../model/records.ts";
import type { Rival } from "../cluster/kube-objects.ts";
import type { Statistics, WorkloadFigures } from "../cluster/reading.ts";
import { startSimulatedCluster } from "../cluster/simulated-cluster.ts";
import type { FolderIdentity, SimulatedIdentity } from "../folder/identity.ts";
import type { FolderLayout } from "../folder/layout.ts";
import { labelOf } from "./label.ts";
import type { RunOptions } from "./options.ts";
import type { PutObject } from "./put-objects.ts";
import { workloadsOf } from "./workloads.ts";

/** The cluster of a run, as far as the run itself is concerned. */
export interface World {
  readonly name: string;
  readonly connection: Connection;
  /** Of the simulated workloads; nothing on a real cluster. */
  readonly readings: () => readonly WorkloadFigures[];
  readonly statistics: () => readonly Statistics[] | undefined;
  /** The HPAs of a simulated cluster, to which a stand-in of their controller adds. */
  readonly hpas?: Rival[];
  /** Puts an autoscaler into a simulated cluster. */
  readonly putObject?: PutObject;
  readonly close: () => Promise<void>;
}

const SIMULATED_NAME = "local";
/** Amplitude of the noise on CPU readings, because readings of real pods vary. */
const NOISE = 0.02;

/** The cluster of a folder. Folders of earlier versions follow the arguments. */
export const worldOf = async (
  layout: FolderLayout,
  identity: FolderIdentity,
  { kubeconfig = "", context }: RunOptions,
  clock: () => number,
): Promise<World> => {
  if (identity.kind === "simulated") return simulatedWorld(layout, identity, clock);
  return identity.cluster === undefined || identity.kubeconfig === undefined
    ? realWorld(labelOf(context ?? basename(kubeconfig)), resolve(kubeconfig), context)
    : realWorld(identity.cluster, identity.kubeconfig, identity.context);
};

const simulatedWorld = async (layout: FolderLayout, identity: SimulatedIdentity, clock: () => number): Promise<World> => {
  const workloads = await workloadsOf(identity);
  const hpas: Rival[] = [];
  const cluster = await startSimulatedCluster({ dataDir: layout.cluster, clock, seed: identity.seed, workloads, noise: NOISE, rivals: hpas });
  return {
    name: SIMULATED_NAME,
    connection: { kind: "kubeconfig", path: cluster.kubeconfigPath },
    readings: cluster.readings,
    statistics: cluster.statistics,
    hpas,
    putObject: cluster.putObject,
    close: cluster.close,
  };
};

/** A real cluster, by the name that it has in the tables. */
const realWorld = (name: string, kubeconfig: string, context: string | undefined): World => ({
  name,
  connection: { kind: "kubeconfig", path: kubeconfig, ...(context !== undefined && { context }) },
  readings: () => [],
  statistics: () => undefined,
  close: async () => {},
});
