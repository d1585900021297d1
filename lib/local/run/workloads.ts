import type { WorkloadDefinition } from "../cluster/definition.ts";
import { demonstrationWorkloads } from "../cluster/demonstration.ts";
import type { Deployment, SimulatedIdentity } from "../folder/identity.ts";
import { readTrace } from "../traces/read-trace.ts";
import { readShippedTrace } from "../traces/shipped.ts";
import type { Trace } from "../traces/trace.ts";

const MEBIBYTE = 2 ** 20;
const POD = {
  requests: { cpuMillicores: 500, memoryBytes: 256 * MEBIBYTE },
  limits: { cpuMillicores: 600, memoryBytes: 512 * MEBIBYTE },
} as const;
/** What a pod uses at 60 % of its request. */
const TARGET_MILLICORES = 300;
/** Pods that an ordinary peak of an unknown trace needs at that use: enough to show scaling, few enough to read. */
const PODS_AT_HIGH = 12;
const HIGH_QUANTILE = 0.95;
const INITIAL_REPLICAS = 2;

/** The deployments of a simulated cluster: those of the demonstration, or others, under a trace of the command line or a shipped one. */
export const workloadsOf = async (identity: SimulatedIdentity): Promise<readonly WorkloadDefinition[]> => {
  const shipped = await demonstrationWorkloads();
  const ownTrace = identity.trace === undefined ? undefined : await readTrace(identity.trace);
  const shippedTraces = await askedTraces(identity);
  return identity.deployments.map((deployment, at) => {
    const own = shipped.find(({ namespace, name }) => namespace === deployment.namespace && name === deployment.name);
    if (own && !ownTrace && deployment.trace === undefined) return withTarget(own, deployment);
    // A deployment that the demonstration does not know plays one of its traces in turn.
    const model = shipped[at % shipped.length];
    const trace = ownTrace ?? shippedTraces.get(deployment.trace);
    if (trace) return withTarget(playing(trace, deployment), deployment);
    if (!model) throw new RangeError("The demonstration has no workloads to borrow a trace from");
    return withTarget({ ...model, namespace: deployment.namespace, name: deployment.name }, deployment);
  });
};

/** The shipped traces that manifests ask for, each read once. */
const askedTraces = async ({ deployments }: SimulatedIdentity): Promise<ReadonlyMap<string | undefined, Trace>> => {
  const names = new Set(deployments.flatMap(({ trace }) => trace ?? []));
  return new Map(await Promise.all([...names].map(async (name) => [name, await readShippedTrace(name)] as const)));
};

const playing = (trace: Trace, { namespace, name, replicas = INITIAL_REPLICAS }: Deployment): WorkloadDefinition => ({
  ...POD,
  namespace,
  name,
  trace,
  initialReplicas: replicas,
  cpuMillicoresPerUnit: (TARGET_MILLICORES * PODS_AT_HIGH) / ordinaryHigh(trace),
});

/** The value that the trace exceeds in one sample of twenty; of a trace that is nearly all zeros its highest. */
const ordinaryHigh = ({ points }: Trace): number => {
  const values = points.map(({ value }) => value).sort((a, b) => a - b);
  return values[Math.floor(values.length * HIGH_QUANTILE)] || values.at(-1) || 1;
};

const withTarget = (definition: WorkloadDefinition, { targetCpuPercent }: Deployment): WorkloadDefinition =>
  targetCpuPercent === undefined ? definition : { ...definition, targetCpuPercent };
