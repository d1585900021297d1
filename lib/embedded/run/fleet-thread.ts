import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { MessagePort } from "node:worker_threads";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { SyncHandler } from "../../../functions/sync.ts";
import { type Statistics, statistics } from "../cluster/reading.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../cluster/simulated-cluster.ts";
import {
  clusterLanes,
  type ClusterLanes,
  type ClusterTimes,
  timesFor,
  timesIn,
} from "../engine/clock.ts";
import { invocationContext } from "../engine/event-source.ts";
import { answerIn, startThread, type Thread } from "../engine/thread.ts";
import type { FolderIdentity, MadeFleet, SimulatedIdentity } from "../folder/identity.ts";
import { type FolderLayout, fleetNames, FUNCTION_NAMES } from "../layout.ts";
import { LOCAL_ACCOUNT } from "../queue/message.ts";
import type { RecordedQueue } from "../cluster/services.ts";
import type { EmbeddedTables } from "../tables/embedded-tables.ts";
import { clientOver } from "../tables/tables-thread.ts";
import { closing, type Closing } from "../host/closing.ts";
import { reporterTo } from "./log-file.ts";
import { LOOPBACK_REGION } from "../host/loopback.ts";
import { madeDefinitions } from "./made-fleet.ts";
import { clusterIn, startSyncs, type Syncs } from "./stack.ts";
import { type Counter, runCounter, type ThreadCounts } from "../view/tally.ts";
import { NOISE, type World } from "./world.ts";

/** As in the template (serverless.yml). */
const TIMEOUT_MS = 30_000;
/** More threads take memory, and each of them waits for the one of the tables. */
const THREADS_MAX = 4;

/** What one thread has: every so many-th cluster of a fleet, from its own place on. */
interface Share extends Pick<SimulatedIdentity, "seed" | "podStartMs"> {
  /** The folder of the clusters, each of which has one inside. */
  readonly folder: string;
  readonly made: MadeFleet;
  readonly times: SharedArrayBuffer;
  readonly thread: number;
  readonly threads: number;
}

/** `place`: of a cluster among all of the fleet. */
type Question =
  | { readonly kind: "open" | "close" }
  | { readonly kind: "statistics"; readonly place: number }
  | { readonly kind: "queue"; readonly place: number; readonly name: string }
  | { readonly kind: "start"; readonly tables: MessagePort; readonly queuesUrl: string | undefined }
  | { readonly kind: "sync"; readonly event: SQSEvent };

interface Synced {
  readonly response: SQSBatchResponse;
  readonly counts: ThreadCounts;
}
type Answer = readonly string[] | readonly Statistics[] | RecordedQueue | Synced | undefined;

const PART = "simulated clusters";

/** The clusters that a run makes by itself, and the function that syncs them. */
export interface Fleet {
  readonly worlds: readonly [World, ...World[]];
  readonly lanes: ClusterLanes;
  readonly startSyncs: (options: FleetSyncs) => Promise<SyncHandler>;
}

interface FleetSyncs {
  readonly tables: EmbeddedTables;
  readonly queuesUrl: string | undefined;
  readonly counter: Pick<Counter, "take">;
}

/** The times of the clusters that a run makes by itself; undefined in another run. */
export const fleetTimes = (identity: FolderIdentity): ClusterTimes | undefined =>
  identity.kind === "simulated" && identity.fleet ? timesFor(identity.fleet.clusters) : undefined;

interface FleetOpening {
  readonly times: ClusterTimes | undefined;
  readonly closer: Closing;
  /** Takes the lines of the functions. */
  readonly log: (lines: string) => void;
}

/**
 * Opens the clusters of a fleet. Their API servers and their syncs share threads: one for each
 * core. The syncs ask API servers and tables by the same requests as in one thread. Throws what a
 * cluster throws that cannot be opened. Undefined in a run without a fleet.
 */
export const openFleet = async (
  { cluster: folder }: FolderLayout,
  identity: FolderIdentity,
  { times, closer, log }: FleetOpening,
): Promise<Fleet | undefined> => {
  if (identity.kind !== "simulated" || !identity.fleet || !times) return undefined;
  const { seed, podStartMs, fleet: made } = identity;
  const names = fleetNames(made.clusters);
  const count = Math.min(made.clusters, availableParallelism(), THREADS_MAX);
  const common = {
    folder,
    seed,
    made,
    times: times.memory,
    threads: count,
    ...(podStartMs !== undefined && { podStartMs }),
  };
  const threads = Array.from({ length: count }, (_, thread) =>
    startThread<Question, Answer, Share, string>({
      module: import.meta.url,
      part: PART,
      data: { ...common, thread },
      onNews: log,
    }),
  );
  for (const thread of threads) closer.add(() => closeThread(thread));
  const paths = (await Promise.all(
    threads.map(({ ask }) => ask({ kind: "open" })),
  )) as readonly (readonly string[])[];
  const threadOf = (place: number): Thread<Question, Answer> =>
    threads[place % count] as Thread<Question, Answer>;
  const opened = (name: string, place: number): World =>
    worldOf(threadOf(place), name, {
      place,
      path: paths[place % count]?.[Math.floor(place / count)] ?? "",
    });
  const [first = "", ...others] = names;
  return {
    lanes: clusterLanes(names, times),
    worlds: [opened(first, 0), ...others.map((name, at) => opened(name, at + 1))],
    startSyncs: async ({ tables, queuesUrl, counter }) => {
      for (const { ask } of threads) {
        const port = await tables.port?.();
        if (!port) throw new TypeError("the tables of a fleet are in a thread of their own");
        await ask({ kind: "start", tables: port, queuesUrl }, [port]);
      }
      return async (event) => {
        const place = Math.max(0, names.indexOf(clusterIn(event.Records[0]?.body ?? "")));
        const { response, counts } = (await threadOf(place).ask({ kind: "sync", event })) as Synced;
        counter.take(place % count, counts);
        return response;
      };
    },
  };
};

const closeThread = async ({ ask, end }: Thread<Question, Answer>): Promise<void> => {
  try {
    await ask({ kind: "close" });
  } finally {
    await end();
  }
};

const worldOf = (
  { ask }: Thread<Question, Answer>,
  name: string,
  { place, path }: { readonly place: number; readonly path: string },
): World => ({
  name,
  connection: { kind: "kubeconfig", path },
  statistics: async () => (await ask({ kind: "statistics", place })) as readonly Statistics[],
  queueOf: async (queue) =>
    (await ask({ kind: "queue", place, name: queue })) as RecordedQueue | undefined,
});

/**
 * Opens the clusters of a share one after the other, as files are. By their places in the fleet.
 */
const openClusters = async (
  share: Share,
  closer: Closing,
): Promise<ReadonlyMap<number, SimulatedCluster>> => {
  const { folder, made, seed, podStartMs, times, thread, threads } = share;
  const names = fleetNames(made.clusters);
  const clock = timesIn(times);
  const clusters = new Map<number, SimulatedCluster>();
  for (const [place, workloads] of (await madeDefinitions(made, podStartMs)).entries()) {
    if (place % threads !== thread) continue;
    const dataDir = join(folder, names[place] ?? "");
    const cluster = await startSimulatedCluster({
      dataDir,
      clock: () => clock.of(place),
      seed,
      workloads,
      noise: NOISE,
    });
    closer.add(cluster.close);
    clusters.set(place, cluster);
  }
  return clusters;
};

interface SyncsOfShare {
  readonly share: Share;
  readonly clusters: ReadonlyMap<number, SimulatedCluster>;
  readonly tables: MessagePort;
  readonly queuesUrl: string | undefined;
  readonly log: (lines: string) => void;
}

const syncsOf = ({
  share: { made, times },
  clusters,
  tables,
  queuesUrl,
  log,
}: SyncsOfShare): Pick<Syncs, "close"> & { readonly handle: Handle } => {
  const shared = timesIn(times);
  const counter = runCounter();
  const syncClient = clientOver(tables);
  counter.watch(syncClient);
  const lines = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log(chunk.toString());
      done();
    },
  });
  const { sync, close } = startSyncs({
    clock: () => shared.of(undefined),
    clockOf: clusterLanes(fleetNames(made.clusters), shared).timeOf,
    comparesClock: false,
    syncClient,
    connections: [...clusters.values()].map(({ kubeconfigPath }) => ({
      kind: "kubeconfig",
      path: kubeconfigPath,
    })),
    reporter: counter.hear(reporterTo(lines)),
    ...(queuesUrl !== undefined && { queuesUrl }),
  });
  return {
    handle: async (event) => ({
      response: await sync(
        event,
        invocationContext(FUNCTION_NAMES.sync, TIMEOUT_MS, LOOPBACK_REGION, LOCAL_ACCOUNT),
      ),
      counts: counter.counts(),
    }),
    close: async () => {
      await close();
      syncClient.destroy();
      tables.close();
    },
  };
};

type Handle = (event: SQSEvent) => Promise<Synced>;

answerIn<Question, Answer, Share, string>(PART, (share, log) => {
  const closer = closing();
  let clusters: ReadonlyMap<number, SimulatedCluster> = new Map();
  let handle: Handle = () => Promise.reject(new Error("the run is starting"));
  return async (question) => {
    switch (question.kind) {
      case "open":
        clusters = await openClusters(share, closer);
        return [...clusters.values()].map(({ kubeconfigPath }) => kubeconfigPath);
      case "statistics":
        return clusters.get(question.place)?.each(statistics);
      case "queue":
        return clusters.get(question.place)?.queue(question.name);
      case "start": {
        const syncs = syncsOf({
          share,
          clusters,
          tables: question.tables,
          queuesUrl: question.queuesUrl,
          log,
        });
        closer.add(syncs.close);
        handle = syncs.handle;
        return undefined;
      }
      case "sync":
        return handle(question.event);
      case "close":
        await closer.closeAll();
        return undefined;
    }
  };
});
