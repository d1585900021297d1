/**
 * Runs a cluster on the folder given until it is killed: says where it listens, then waits. Started
 * by restart.test.ts as a process of its own.
 */
import { startSimulatedCluster } from "../../../lib/embedded/cluster/simulated-cluster.ts";
import { START_MS, workload } from "./running-cluster.ts";

const [, , dataDir = "", offsetMs = "0"] = process.argv;
const cluster = await startSimulatedCluster({
  dataDir,
  clock: () => START_MS + Number(offsetMs),
  seed: 1,
  workloads: [workload()],
});
process.stdout.write(`${cluster.url}\n`);
