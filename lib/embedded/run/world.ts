import type { Connection } from "../../rules/model/records.ts";
import type { KubeApi } from "../cluster/api.ts";
import { POD, type WorkloadDefinition } from "../cluster/definition.ts";
import { type Statistics, statistics } from "../cluster/reading.ts";
import { type Define, type Making, startSimulatedCluster } from "../cluster/simulated-cluster.ts";
import type { Deployment, FolderIdentity, SimulatedIdentity } from "../folder/identity.ts";
import type { FolderLayout } from "../layout.ts";
import { readShippedTrace, readTrace } from "../traces/read-trace.ts";
import type { ShippedTrace, Trace } from "../traces/trace.ts";
import type { Closing } from "../host/closing.ts";
import { INITIAL_REPLICAS, measured, usualPod } from "./played-load.ts";
import type { PutObject } from "./put-objects.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import type { QueueOf } from "./queue-server.ts";

/** The cluster of a run, as far as the run itself is concerned. */
export interface World {
  readonly name: string;
  readonly connection: Connection;
  /** Of the simulated workloads; nothing on a real cluster. */
  readonly statistics: () => Promise<readonly Statistics[] | undefined>;
  /** The queues of a simulated cluster. */
  readonly queueOf?: QueueOf;
  /**
   * Sends a request to the API server of a simulated cluster, as the programs of the cluster do.
   */
  readonly call?: KubeApi;
  readonly putObject?: PutObject;
  /**
   * Makes a workload of a simulated cluster, or the metrics that it lacks. Absent where the run
   * makes the whole cluster.
   */
  readonly make?: (deployment: Deployment) => Promise<Making>;
  /** When that last happened, in real time; 0 where it did not. */
  readonly newestMadeMs?: () => number;
}

const SIMULATED_NAME = "local";
/** Amplitude of the noise on CPU readings, because readings of real pods vary. */
export const NOISE = 0.02;

interface Opening {
  readonly clock: () => number;
  readonly closer: Closing;
}

/**
 * The clusters of a folder that are in the thread of the run, at least one. What was opened is
 * closed by `closer`, also where another one cannot be opened.
 */
export const worldsOf = async (
  layout: FolderLayout,
  identity: FolderIdentity,
  opening: Opening,
): Promise<readonly [World, ...World[]]> => {
  if (identity.kind === "simulated") return [await simulatedWorld(layout, identity, opening)];
  return [realWorld(identity.cluster, identity.kubeconfig, identity.context)];
};

const simulatedWorld = async (
  { cluster: dataDir }: FolderLayout,
  identity: SimulatedIdentity,
  { clock, closer }: Opening,
): Promise<World> => {
  const define = await definer(identity);
  const cluster = await startSimulatedCluster({
    dataDir,
    clock,
    seed: identity.seed,
    workloads: await Promise.all(identity.deployments.map(define)),
    noise: NOISE,
    hasKeda: identity.beside === "keda",
    define,
  });
  closer.add(cluster.close);
  return {
    name: SIMULATED_NAME,
    connection: { kind: "kubeconfig", path: cluster.kubeconfigPath },
    statistics: async () => cluster.each(statistics),
    queueOf: async (name) => cluster.queue(name),
    call: cluster.call,
    putObject: cluster.putObject,
    ...made(cluster.make),
  };
};

/** Notes when a workload was made, after it is served. */
const made = (make: NonNullable<World["make"]>): Pick<World, "make" | "newestMadeMs"> => {
  let newestMs = 0;
  return {
    make: async (deployment) => {
      const making = await make(deployment);
      if (making !== "there") newestMs = Date.now();
      return making;
    },
    newestMadeMs: () => newestMs,
  };
};

/** A real cluster, by the name that it has in the tables. */
const realWorld = (name: string, kubeconfig: string, context: string | undefined): World => ({
  name,
  connection: { kind: "kubeconfig", path: kubeconfig, ...(context !== undefined && { context }) },
  statistics: async () => undefined,
});

/**
 * The deployments of a simulated cluster: the demonstration's, or others, under a trace of the
 * command line or a shipped one.
 */
export const workloadsOf = async (
  identity: SimulatedIdentity,
): Promise<readonly WorkloadDefinition[]> =>
  Promise.all(identity.deployments.map(await definer(identity)));

/**
 * The definition of a deployment of a simulated cluster, which is there from the beginning or is
 * made later.
 */
const definer = async (identity: SimulatedIdentity): Promise<Define> => {
  const shipped = await demonstrationWorkloads();
  const ownTrace = identity.trace === undefined ? undefined : await readTrace(identity.trace);
  const shippedTrace = shippedTraces();
  const workloadOf = async (deployment: Deployment, at: number): Promise<WorkloadDefinition> => {
    const own = shipped.find(
      ({ namespace, name }) => namespace === deployment.namespace && name === deployment.name,
    );
    if (own && !ownTrace && deployment.trace === undefined) return withOwn(own, deployment);
    // A deployment that the demonstration does not know plays one of its traces in turn.
    const model = shipped[at % shipped.length];
    const trace = ownTrace ?? (deployment.trace && (await shippedTrace(deployment.trace)));
    if (trace) return withOwn(playing(trace, deployment), deployment);
    if (!model) throw new RangeError("The demonstration has no workloads to borrow a trace from");
    return withOwn(
      { ...model, namespace: deployment.namespace, name: deployment.name },
      deployment,
    );
  };
  const metricTraces = await readAllTraces(identity.metricTraces ?? {});
  return async (deployment, at) =>
    withKindAndMetrics(
      measured(identity, await workloadOf(deployment, at)),
      deployment,
      metricTraces,
    );
};

const readAllTraces = async (
  files: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Trace>> =>
  new Map(
    await Promise.all(
      Object.entries(files).map(async ([name, file]) => [name, await readTrace(file)] as const),
    ),
  );

const withKindAndMetrics = (
  definition: WorkloadDefinition,
  { kind, apiVersion, beside, metrics = [] }: Deployment,
  traces: ReadonlyMap<string, Trace>,
): WorkloadDefinition => ({
  ...definition,
  ...(kind !== undefined && { kind }),
  ...(apiVersion !== undefined && { apiVersion }),
  ...(beside && { beside }),
  metrics: metrics.map((metric) => {
    const trace = traces.get(metric.name);
    return trace ? { ...metric, trace } : metric;
  }),
});

/** Reads the shipped traces that manifests ask for, each once. */
const shippedTraces = (): ((name: ShippedTrace) => Promise<Trace>) => {
  const read = new Map<ShippedTrace, Promise<Trace>>();
  return (name) => {
    const trace = read.get(name) ?? readShippedTrace(name);
    read.set(name, trace);
    return trace;
  };
};

const playing = (trace: Trace, { namespace, name }: Deployment): WorkloadDefinition => ({
  ...usualPod(trace),
  namespace,
  name,
  trace,
  initialReplicas: INITIAL_REPLICAS,
});

/** With what the manifests say of the deployment, whatever it plays. */
const withOwn = (
  definition: WorkloadDefinition,
  { targetCpuPercent, replicas }: Deployment,
): WorkloadDefinition => ({
  ...definition,
  ...(targetCpuPercent !== undefined && { targetCpuPercent }),
  ...(replicas !== undefined && { initialReplicas: replicas }),
});

const DEMONSTRATION_NAMESPACE = "shop";
/**
 * 60 % of the request are 300m, for which the costs below are chosen; a pod serves twice the load
 * of its target before its limit throttles it.
 */
const DEMONSTRATION_POD = { ...POD, targetCpuPercent: 60 } as const;

/** From 13:00 on the trace climbs from a score of calls per minute to more than 400. */
export const DAILY_OFFSET_MS = 780 * MINUTE_MS;
/** Five minutes before the recorded drop-out, 100 before the first step. */
export const STEPS_OFFSET_MS = 270 * MINUTE_MS;
/**
 * The drop-out itself, at 04:35 for five minutes: the recorder lost its samples, and so do the
 * metrics.
 */
const STEPS_OUTAGE = { fromMs: 5 * MINUTE_MS, toMs: 10 * MINUTE_MS };
/**
 * One hour before 13 July, 09:44 local time, when within five minutes 114 requests per minute
 * become 405.
 */
export const CROWD_OFFSET_MS = 4844 * MINUTE_MS;

/**
 * The three workloads of the demonstration. What one unit costs is chosen so that a pod at its
 * target carries 15, 8 and 20 units; the first pods are too few for the load that they meet, so
 * that the first scales come within minutes.
 */
export const demonstrationWorkloads = async (): Promise<readonly WorkloadDefinition[]> => {
  const [daily, steps, crowd] = await Promise.all([
    readShippedTrace("azurefn-diurnal-1m"),
    readShippedTrace("azurefn-steps-1m"),
    readShippedTrace("nasa-http-launch-week-1m"),
  ]);
  const namespace = DEMONSTRATION_NAMESPACE;
  return [
    {
      ...DEMONSTRATION_POD,
      namespace,
      name: "daily",
      trace: daily,
      traceOffsetMs: DAILY_OFFSET_MS,
      initialReplicas: 2,
      cpuMillicoresPerUnit: 20,
    },
    {
      ...DEMONSTRATION_POD,
      namespace,
      name: "steps",
      trace: steps,
      traceOffsetMs: STEPS_OFFSET_MS,
      initialReplicas: 6,
      cpuMillicoresPerUnit: 37,
      outages: [STEPS_OUTAGE],
    },
    {
      ...DEMONSTRATION_POD,
      namespace,
      name: "crowd",
      trace: crowd,
      traceOffsetMs: CROWD_OFFSET_MS,
      initialReplicas: 8,
      cpuMillicoresPerUnit: 15,
    },
  ];
};
