import type { ClusterClient, Observed, Watched } from "../../lib/cluster/port.ts";
import type { ApiFailure } from "../../lib/model/observation.ts";
import type { Effect, SimulatedCluster } from "./cluster.ts";
import { observeNow } from "./observe.ts";
import type { Network, Process } from "./process.ts";

const SILENT: ApiFailure = { code: 0, reason: "Timeout", message: "no answer in time" };
const BROKEN: ApiFailure = { code: 500, reason: "InternalError", message: "the server failed" };

/** A client of one cluster, for one process. `effect` is told of every PUT that moved a count, with nobody's knowledge but the cluster's. */
export const clusterClient = (
  network: Network,
  caller: Process,
  cluster: SimulatedCluster,
  now: {
    readonly nowMs: () => number;
    readonly effect: (effect: Effect) => void;
    /** Workloads whose metrics fail in the next observation. */
    readonly failing: () => ReadonlySet<string>;
  },
): ClusterClient => ({
  observe: async (watched, { budgetMs }) => ({
    observations: await network.call<ReadonlyMap<Watched["uid"], Observed>>(caller, {
      kind: "observe",
      what: `observe ${cluster.name}`,
      timeoutMs: budgetMs,
      lateMs: 0,
      execute: () => observeNow(cluster, watched, now.nowMs(), now.failing()),
      unclear: () => new Map(watched.map(({ uid }) => [uid, unseen])),
    }),
    calls: 2,
    bytes: 0,
  }),
  putScale: (write, timeoutMs) =>
    network.call(caller, {
      kind: "put",
      what: `PUT ${write.target.name} to ${write.replicas}`,
      timeoutMs,
      // The server executes a request until the timeout that it was given, and not after.
      lateMs: timeoutMs,
      execute: () => cluster.put(write, now.effect),
      unclear: ({ fault }) => ({ kind: "unclear", failure: fault === "failed after" ? BROKEN : SILENT }),
    }),
  readScale: (namespace, target, timeoutMs) =>
    network.call(caller, {
      kind: "read",
      what: `GET ${target.name}`,
      timeoutMs,
      lateMs: 0,
      execute: () => cluster.read(namespace, target),
      unclear: () => ({ kind: "failed", failure: SILENT }),
    }),
  recommend: () => Promise.reject(new TypeError("no autoscaler of the simulation has a recommender")),
  close: () => {},
});

const unseen: Observed = {
  observation: {
    scale: { kind: "failed", failure: SILENT },
    pods: { all: [], select: () => [] },
    answers: { custom: new Map(), external: new Map() },
    others: [],
  },
  rivals: [],
};
