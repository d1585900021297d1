import { spanMs, type Trace } from "../traces/trace.ts";
import type { BesideKind } from "../folder/identity.ts";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Kinds of workloads that every cluster has. */
export const WORKLOAD_KINDS = [
  "Deployment",
  "StatefulSet",
  "ReplicaSet",
  "ReplicationController",
] as const;
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/**
 * A workload of the simulated cluster and the recorded load it is under. One pod has one container,
 * called "app".
 */
export interface WorkloadDefinition {
  readonly namespace: string;
  readonly name: string;
  /** Default Deployment. */
  readonly kind?: string;
  /** Of a kind that is not of Kubernetes itself: "argoproj.io/v1alpha1". */
  readonly apiVersion?: string;
  readonly trace: Trace;
  /** Where in the trace the run begins. Default 0. */
  readonly traceOffsetMs?: number;
  readonly initialReplicas: number;
  /** What one unit of the trace (one call per minute, say) costs a pod while it lasts. */
  readonly cpuMillicoresPerUnit: number;
  readonly memoryBytesPerUnit?: number;
  readonly requests: Resources;
  readonly limits: Resources;
  /** Time from the creation of a pod to Ready, drawn per pod. Default 20 to 40 s. */
  readonly startupMs?: { readonly min: number; readonly max: number };
  /** Spans after the start of the run without scrapes: the pods exist, and their metrics do not. */
  readonly outages?: readonly Span[];
  /** Other pods with the labels of its own. Default none. */
  readonly beside?: readonly PodsBeside[];
  /** Metrics by name that manifests ask of the custom and the external API. Default none. */
  readonly metrics?: readonly NamedMetric[];
  /**
   * Percent of the CPU request that counts as "above target" in the statistics. It has no other
   * effect.
   */
  readonly targetCpuPercent?: number;
}

/** So many pods in a span after the start of the run; without ends all the time. */
export interface PodsBeside extends Partial<Span> {
  readonly kind: BesideKind;
  readonly count: number;
}

export interface Resources {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

/**
 * A metric that a manifest names: it counts the load of the workload, or has a recorded load of its
 * own.
 */
export interface NamedMetric {
  readonly name: string;
  /** The selector of an external metric, as it is asked. */
  readonly selector: string;
  readonly trace?: Trace;
}

/** From inclusive, to exclusive. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A definition with all defaults, for one run. */
export interface WorkloadModel
  extends Required<Omit<WorkloadDefinition, "targetCpuPercent" | "apiVersion">> {
  readonly targetCpuPercent?: number;
  readonly apiVersion?: string;
  /** What a pod uses without load. */
  readonly idle: Resources;
  readonly seed: number;
  readonly startMs: number;
  readonly deploymentUid: string;
  readonly replicaSetUid: string;
  /** The template never changes here, so there is one ReplicaSet, and this is its hash. */
  readonly podTemplateHash: string;
}

const HASH_LENGTH = 10;
const MEBIBYTE = 2 ** 20;
/** What a pod uses without load. */
export const IDLE: Resources = { cpuMillicores: 5, memoryBytes: 64 * MEBIBYTE };
/** What a pod of a workload that the run itself makes asks for. */
export const POD = {
  requests: { cpuMillicores: 500, memoryBytes: 256 * MEBIBYTE },
  limits: { cpuMillicores: 600, memoryBytes: 512 * MEBIBYTE },
} as const;
const DEFAULT_STARTUP_MS = { min: 20_000, max: 40_000 };
const DEFAULT_MEMORY_BYTES_PER_UNIT = MEBIBYTE;
/** A guard against a definition that would fill the memory with pods. */
export const MAX_REPLICAS = 10_000;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/**
 * Also in upper case, as design documents write their examples. A name is the value of a label,
 * too.
 */
const NAME = /^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$/i;

/** True for a name that a workload may have here. */
export const isWorkloadName = (name: string): boolean => NAME.test(name);

/** Throws RangeError for a definition that no cluster could hold. */
export const workloadModel = (
  definition: WorkloadDefinition,
  run: { readonly seed: number; readonly startMs: number },
): WorkloadModel => {
  const { namespace, name } = definition;
  const model = {
    deploymentUid: drawUid(run.seed, namespace, name, "deployment"),
    replicaSetUid: drawUid(run.seed, namespace, name, "replicaset"),
    podTemplateHash: drawName(HASH_LENGTH, run.seed, namespace, name, "template"),
    traceOffsetMs: 0,
    memoryBytesPerUnit: DEFAULT_MEMORY_BYTES_PER_UNIT,
    startupMs: DEFAULT_STARTUP_MS,
    kind: "Deployment" as const,
    outages: [],
    metrics: [],
    beside: [],
    idle: IDLE,
    ...definition,
    ...run,
  };
  const demand = (holds: boolean, what: string) => {
    if (!holds) throw new RangeError(`Cannot simulate "${namespace}/${name}": ${what}`);
  };
  demand(
    DNS_LABEL.test(namespace) && isWorkloadName(name),
    'the namespace must be a DNS label, and the name has 63 letters, digits, "-" and "." at most',
  );
  demand(
    Number.isInteger(model.initialReplicas) &&
      model.initialReplicas >= 0 &&
      model.initialReplicas <= MAX_REPLICAS,
    `initialReplicas must be 0 to ${MAX_REPLICAS}`,
  );
  demand(model.cpuMillicoresPerUnit > 0, "cpuMillicoresPerUnit must be greater than 0");
  demand(
    model.limits.cpuMillicores > IDLE.cpuMillicores,
    `the CPU limit must be greater than the ${IDLE.cpuMillicores}m used without load`,
  );
  demand(
    model.startupMs.min >= 0 && model.startupMs.max >= model.startupMs.min,
    "startupMs must be a range of at least 0",
  );
  demand(
    Number.isSafeInteger(Math.ceil(model.traceOffsetMs + spanMs(model.trace))),
    "traceOffsetMs must be a number of milliseconds",
  );
  return model;
};

/** The characters of names that Kubernetes generates: no vowels, so that no words occur. */
const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const HEX_DIGITS = "0123456789abcdef";

/**
 * Whole numbers that depend only on the seed and on their purpose, not on the order of drawing or
 * on the clock.
 */
export const drawer = (
  seed: number,
  ...purpose: readonly (string | number)[]
): ((min: number, max: number) => number) => {
  const generator = xoroshiro128plus(fnv1a(`${seed}/${purpose.join("/")}`));
  return (min, max) => uniformInt(generator, min, max);
};

export const drawName = (
  length: number,
  seed: number,
  ...purpose: readonly (string | number)[]
): string => drawText(NAME_LETTERS, length, drawer(seed, ...purpose));

/** Text of the shape of a version 4 UUID. */
export const drawUid = (seed: number, ...purpose: readonly (string | number)[]): string => {
  const draw = drawer(seed, "uid", ...purpose);
  const hex = (length: number) => drawText(HEX_DIGITS, length, draw);
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${drawText("89ab", 1, draw)}${hex(3)}-${hex(12)}`;
};

const drawText = (
  letters: string,
  length: number,
  draw: (min: number, max: number) => number,
): string => Array.from({ length }, () => letters.charAt(draw(0, letters.length - 1))).join("");

/** The 32-bit FNV-1a hash. */
const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash | 0;
};
