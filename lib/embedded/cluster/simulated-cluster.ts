import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import type { Server } from "node:https";
import { join } from "node:path";
import { stringify } from "yaml";
import * as z from "zod";
import { TidemarkError } from "../../rules/model/errors.ts";
import type { Deployment } from "../folder/identity.ts";
import { CLUSTER_KUBECONFIG, CLUSTER_OBJECTS, CLUSTER_WRITES } from "../layout.ts";
import { readJsonIfThere, writeDurably } from "../host/whole-file.ts";
import { type ServerCredentials, serverCredentials } from "../host/certificates.ts";
import { closeServer, listenOnLoopback } from "../host/loopback.ts";
import { type KubeApi, kubeApi } from "./api.ts";
import { type WorkloadDefinition, workloadModel } from "./definition.ts";
import { type RecordedQueue, recordedQueue } from "./services.ts";
import { apiServer, type Before } from "./server.ts";
import {
  CustomObjects,
  KEPT_KINDS,
  type KeptKind,
  type KeptObjects,
} from "./objects/custom-objects.ts";
import { ClusterEvents } from "./objects/events.ts";
import { putObject } from "./objects/object-requests.ts";
import { lastScrapeMs } from "./reading.ts";
import type { Trace } from "../traces/trace.ts";
import { lackedBy, type SimulatedWorkload, Simulation } from "./simulation.ts";
import {
  type MadeWorkload,
  openWriteJournal,
  type RunHeader,
  type WriteJournal,
} from "./write-journal.ts";

export interface ClusterOptions {
  /**
   * Holds credentials, kubeconfig and accepted writes; the same folder goes on where it stopped.
   */
  readonly dataDir: string;
  /** Virtual time, in milliseconds since 1970. */
  readonly clock: () => number;
  readonly seed: number;
  readonly workloads: readonly WorkloadDefinition[];
  /** Relative amplitude of the noise on CPU readings, 0.02 for ±2 %. Default 0. */
  readonly noise?: number;
  /** True to install the kinds of KEDA. Default false. */
  readonly hasKeda?: boolean;
  /**
   * The definition of a workload that is made during the run; `at` is how many there are. Absent:
   * none is made.
   */
  readonly define?: Define;
  /** Real time, only for the certificate. */
  readonly wallClock?: () => number;
  /** Gets what went wrong inside the server. Default: a warning of the process. */
  readonly onError?: (error: unknown) => void;
  /** Stands before the API server. */
  readonly before?: Before;
}

export type Define = (made: Deployment, at: number) => Promise<WorkloadDefinition>;

/** Whether a workload was made, serves more metrics now, or is as it was. */
export type Making = "made" | "metrics" | "there";

export interface SimulatedCluster {
  readonly url: string;
  readonly kubeconfigPath: string;
  /** Virtual time at which the run of this folder began. */
  readonly startMs: number;
  /**
   * Of the last accepted write, when there was one before this start: virtual time has been there.
   */
  readonly resumedAfterMs: number | undefined;
  /** A view of each workload as it is now, in the order of their keys. */
  each<Shape>(view: (workload: SimulatedWorkload, nowMs: number) => Shape): readonly Shape[];
  /** The load of the workloads of a name as a queue; undefined where none has the name. */
  queue(name: string): RecordedQueue | undefined;
  /**
   * Puts an autoscaler into the cluster, as an apply by the one who starts it. Throws
   * `local.object-refused` for one that the API would refuse.
   */
  putObject(of: KeptKind, document: unknown): void;
  /**
   * Makes a workload that is not there, or serves the metrics that it lacks. Throws
   * `local.other-kind` where the name belongs to a workload of another kind.
   */
  make(deployment: Deployment): Promise<Making>;
  /** A request from inside the process, as the programs of a cluster send it. Throws a Refusal. */
  readonly call: KubeApi;
  close(): Promise<void>;
}

/**
 * Starts an HTTPS server on loopback that speaks the Kubernetes API over workloads under recorded
 * load. Only virtual time moves it. Throws TidemarkError "local.cluster-differs" when the folder
 * holds a run of another seed or other workloads.
 */
export const startSimulatedCluster = async (options: ClusterOptions): Promise<SimulatedCluster> => {
  const { dataDir, seed, workloads } = options;
  // Durations are counted exactly, in whole milliseconds.
  const clock = () => Math.floor(options.clock());
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const fresh: RunHeader = {
    format: 1,
    seed,
    startMs: clock(),
    definitions: fingerprint(workloads),
  };
  const journal = openWriteJournal(join(dataDir, CLUSTER_WRITES), fresh);
  try {
    refuseOther(dataDir, journal.header, fresh);
    return await serve({ ...options, clock }, journal);
  } catch (error) {
    await journal.close();
    throw error;
  }
};

const serve = async (options: ClusterOptions, journal: WriteJournal): Promise<SimulatedCluster> => {
  const {
    dataDir,
    clock,
    seed,
    noise = 0,
    hasKeda = false,
    wallClock = Date.now,
    onError = warn,
    before,
  } = options;
  const { startMs } = journal.header;
  const models = options.workloads.map((definition) =>
    workloadModel(definition, { seed, startMs }),
  );
  const simulation = new Simulation(models, startMs, clock);
  const make = maker(simulation, options);
  for (const entry of journal.writes) {
    if ("made" in entry) (await make(entry.made))(entry.atMs);
    else simulation.replay(entry);
  }
  const objectFile = join(dataDir, CLUSTER_OBJECTS);
  const objects = new CustomObjects(seed, readObjectFile(objectFile));
  const store = { objects, save: () => writeObjectFile(objectFile, objects) };
  const credentials = await serverCredentials(dataDir, wallClock());
  const call = kubeApi(
    simulation,
    { noise, uid: uidOf(credentials), hasKeda, store, events: new ClusterEvents(seed) },
    journal,
  );
  const server = apiServer({ api: call, credentials, onError, ...(before && { before }) });
  const kubeconfigPath = join(dataDir, CLUSTER_KUBECONFIG);
  const url = (await listenOnLoopback(server)).replace("http:", "https:");
  try {
    writeDurably(kubeconfigPath, kubeconfig(url, credentials));
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    url,
    kubeconfigPath,
    startMs,
    resumedAfterMs: journal.writes.at(-1)?.atMs,
    each: (view) => {
      const nowMs = simulation.now();
      return simulation.workloads().map((workload) => view(workload, nowMs));
    },
    queue: (name) => {
      const nowMs = simulation.now();
      return recordedQueue(simulation.workloads(), name, nowMs);
    },
    call,
    make: async (deployment) => {
      const known = simulation.workload(deployment.namespace, deployment.name);
      if (known) refuseOtherKind(known, deployment);
      if (known && lackedBy(known.model, deployment.metrics ?? []).length === 0) return "there";
      const add = await make(deployment);
      // From here to the append nothing else may write, so that a replay does the same in the same
      // order.
      const entry = { atMs: simulation.now(), made: deployment };
      add(entry.atMs);
      await journal.append(entry);
      return known ? "metrics" : "made";
    },
    putObject: (of, document) => putObject(store, simulation.now(), of, document),
    close: () => closeAll(server, journal, store.save),
  };
};

/**
 * The token is of one folder, and stays when its certificate is renewed: so does what follows from
 * it.
 */
const uidOf = ({ token }: ServerCredentials): string =>
  createHash("sha256")
    .update(`uid ${token}`)
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");

/**
 * Reads what a workload plays, and gives the function that adds it. It is as old as the last
 * scrape, so that its first metrics are as at the beginning of a run.
 */
const maker =
  (simulation: Simulation, { define, seed }: Pick<ClusterOptions, "define" | "seed">) =>
  async (made: MadeWorkload["made"]): Promise<(atMs: number) => void> => {
    if (!define)
      throw new RangeError(
        `Cannot make "${made.namespace}/${made.name}": this cluster has only the workloads of its start`,
      );
    const definition = await define(made, simulation.workloads().length);
    return (atMs) =>
      simulation.add(workloadModel(definition, { seed, startMs: lastScrapeMs(atMs) }), atMs);
  };

const refuseOtherKind = (
  { model }: SimulatedWorkload,
  { namespace, name, kind = "Deployment", apiVersion }: Deployment,
): void => {
  if (model.kind === kind && model.apiVersion === apiVersion) return;
  throw new TidemarkError(
    "local.other-kind",
    `Cannot make ${kind} "${namespace}/${name}": the simulated cluster has a ${model.kind} of this name; give the target another name`,
    { namespace, name, kind },
  );
};

const warn = (error: unknown): void =>
  process.emitWarning(error instanceof Error ? error : String(error));

/** Thousands of workloads play the same few traces, so each trace is hashed once. */
const digestOf = (trace: Trace): string => {
  const known = DIGESTS.get(trace);
  if (known !== undefined) return known;
  const hash = createHash("sha256").update(`${trace.stepMs}\n`);
  for (const { atMs, value } of trace.points) hash.update(`${atMs},${value}\n`);
  const digest = `trace ${hash.digest("hex")}\n`;
  DIGESTS.set(trace, digest);
  return digest;
};

const DIGESTS = new WeakMap<Trace, string>();

/**
 * What decides how a run goes, defaults and traces included. The targets of the statistics may
 * change from one start to the next.
 */
const fingerprint = (workloads: readonly WorkloadDefinition[]): string => {
  const hash = createHash("sha256");
  const models = workloads.map((definition) => workloadModel(definition, { seed: 0, startMs: 0 }));
  for (const { trace, targetCpuPercent: _, ...settings } of models.toSorted((a, b) =>
    `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1,
  )) {
    hash.update(`${JSON.stringify(Object.entries(settings).toSorted())}\n`);
    hash.update(digestOf(trace));
  }
  return hash.digest("hex");
};

/**
 * A state is what seed, definitions and writes make of it: with others of them the past of this
 * folder would be another.
 */
const refuseOther = (dataDir: string, kept: RunHeader, requested: RunHeader): void => {
  const different =
    kept.seed !== requested.seed
      ? `its seed is ${kept.seed}, not ${requested.seed}`
      : "its workloads or traces are others";
  if (kept.seed === requested.seed && kept.definitions === requested.definitions) return;
  throw new TidemarkError(
    "local.cluster-differs",
    `Cannot continue the simulated cluster in "${dataDir}": ${different}`,
    {
      dataDir,
      kept,
      asked: requested,
    },
  );
};

/**
 * Requests under way are cut off, as by a crash; what they appended is still written. A second call
 * finds nothing to do.
 */
const closeAll = async (server: Server, journal: WriteJournal, save: () => void): Promise<void> => {
  if (!server.listening) return;
  await closeServer(server);
  save();
  await journal.close();
};

const NAME = "tidemark-local";

/**
 * A kubeconfig for the simulated cluster, self-contained: any Kubernetes client connects with it.
 */
const kubeconfig = (url: string, { caPem, token }: ServerCredentials): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: NAME,
        cluster: {
          server: url,
          "certificate-authority-data": Buffer.from(caPem).toString("base64"),
        },
      },
    ],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace: "default" } }],
    "current-context": NAME,
  });

const Metadata = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
});
const Kept = z.object({
  format: z.literal(1),
  version: z.int(),
  objects: z.array(
    z.looseObject({ kind: z.enum(KEPT_KINDS.map(({ kind }) => kind)), metadata: Metadata }),
  ),
});

/**
 * The objects of an earlier start; undefined where people have put none into the cluster. Throws
 * `local.unreadable`.
 */
const readObjectFile = (path: string): KeptObjects | undefined => readJsonIfThere(path, Kept);

/** Writes all objects durably. There are few, and people edit them seldom. */
const writeObjectFile = (path: string, objects: CustomObjects): void => {
  if (objects.version > 0)
    writeDurably(path, `${JSON.stringify({ format: 1, ...objects.kept() })}\n`);
};
