import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Connection } from "../../model/records.ts";
import { SPEC_KIND_NAMES, type SpecKindName } from "../../model/spec.ts";
import type { ClusterChange, NewCluster } from "../../service/service.ts";
import { lengthMs } from "./time-options.ts";
import { usage } from "../usage-error.ts";

export interface AddOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly secret?: string;
  readonly eks?: string;
  readonly endpoint?: string;
  readonly caData?: string;
  readonly region?: string;
  readonly roleArn?: string;
  readonly period?: string;
  readonly partition?: readonly string[];
  readonly tolerance?: string;
  readonly downscaleStabilization?: string;
  readonly cpuInitializationPeriod?: string;
  readonly initialReadinessDelay?: string;
  readonly specs?: string;
  readonly recommenderHost?: readonly string[];
  readonly force?: true;
}

/** Reads the options of `cluster add`. Throws usage errors that name the option. */
export const newCluster = (name: string, options: AddOptions): NewCluster => ({ ...scope(name, options), connection: connection(name, options) });

/** Reads the options of `cluster add --replace`. Without connection options the cluster keeps its connection. */
export const clusterChange = (name: string, options: AddOptions): ClusterChange => {
  const { kubeconfig, secret, eks, context, endpoint, caData, region, roleArn } = options;
  const connects = [kubeconfig, secret, eks, context, endpoint, caData, region, roleArn].some((option) => option !== undefined);
  return { ...scope(name, options), ...(connects && { connection: connection(name, options) }) };
};

const scope = (name: string, options: AddOptions): Omit<ClusterChange, "connection"> => ({
  name,
  ...(options.force && { force: true }),
  ...(options.period === undefined ? {} : { syncPeriodMs: lengthMs("--period", options.period) }),
  ...(options.partition === undefined ? {} : { partitions: options.partition.map(partition) }),
  ...(options.specs === undefined ? {} : { specsFromCluster: specKinds(options.specs) }),
  ...(options.recommenderHost === undefined ? {} : { recommenderHosts: options.recommenderHost.filter((host) => host !== "none") }),
  settings: {
    ...(options.tolerance === undefined ? {} : { tolerance: ratio("--tolerance", options.tolerance) }),
    ...setting("downscaleStabilizationMs", "--downscale-stabilization", options.downscaleStabilization),
    ...setting("cpuInitializationPeriodMs", "--cpu-initialization-period", options.cpuInitializationPeriod),
    ...setting("initialReadinessDelayMs", "--initial-readiness-delay", options.initialReadinessDelay),
  },
});

const connection = (name: string, options: AddOptions): Connection => {
  for (const [option, value] of Object.entries(TEXT_OPTIONS))
    if (options[value] === "") throw usage(`Cannot connect to cluster "${name}": ${option} is empty; give a value or leave it out`);
  const ways = [options.kubeconfig, options.secret, options.eks].filter((way) => way !== undefined);
  if (ways.length !== 1) throw usage(`Cannot connect to cluster "${name}": give one of --kubeconfig, --secret and --eks`);
  const context = options.context === undefined ? {} : { context: options.context };
  if (options.kubeconfig !== undefined) return { kind: "kubeconfig", path: readable(name, resolve(options.kubeconfig)), ...context };
  if (options.secret !== undefined) return { kind: "secret", secretId: options.secret, ...context };
  return {
    kind: "eks",
    clusterId: options.eks ?? "",
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(options.caData === undefined ? {} : { caData: options.caData }),
    region: needed(name, "--region", options.region),
    ...(options.roleArn === undefined ? {} : { roleArn: options.roleArn }),
  };
};

/** An empty option is refused, because it is usually an unset variable of a script. */
const TEXT_OPTIONS = {
  "--kubeconfig": "kubeconfig",
  "--secret": "secret",
  "--eks": "eks",
  "--context": "context",
  "--endpoint": "endpoint",
  "--ca-data": "caData",
  "--region": "region",
  "--role-arn": "roleArn",
} as const satisfies Readonly<Record<string, keyof AddOptions>>;

/** The syncs read the file, so an unreadable file is refused now. */
const readable = (name: string, path: string): string => {
  try {
    if (statSync(path).isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    accessSync(path, constants.R_OK);
    return path;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw usage(`Cannot connect to cluster "${name}": --kubeconfig "${path}" ${UNREADABLE[code] ?? `cannot be read (${code})`}`);
  }
};

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be read: permission denied",
  EISDIR: "is a folder",
  ENOTDIR: "does not exist",
};

const needed = (name: string, option: string, value: string | undefined): string => {
  if (value === undefined) throw usage(`Cannot connect to cluster "${name}": --eks needs ${option}`);
  return value;
};

/** "shop=web,api" is a partition of two namespaces; "rest" without namespaces holds all others. */
const partition = (text: string): { readonly name: string; readonly namespaces?: readonly string[] } => {
  const [name = "", list, ...more] = text.split("=");
  if (name === "" || list === "" || more.length > 0)
    throw usage(`Cannot read --partition "${text}": give NAME=NAMESPACE,NAMESPACE, or NAME alone for all other namespaces`);
  return list === undefined ? { name } : { name, namespaces: list.split(",") };
};

/** "table", "cluster", or the source of single kinds: "PodAutoscaler=cluster". A kind that is not named is stored by people. */
const specKinds = (text: string): readonly SpecKindName[] => {
  if (text === "table") return [];
  if (text === "cluster") return SPEC_KIND_NAMES;
  return text.split(",").flatMap((part) => {
    const [kind, source, ...more] = part.split("=");
    const known = SPEC_KIND_NAMES.find((name) => name === kind);
    if (known === undefined || !(source === "table" || source === "cluster") || more.length > 0)
      throw usage(`Cannot read --specs "${text}": give table, cluster, or KIND=cluster for one of ${SPEC_KIND_NAMES.join(" and ")}`);
    return source === "cluster" ? [known] : [];
  });
};

const ratio = (option: string, text: string): number => {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) throw usage(`Cannot read ${option} "${text}": give a number of at least 0, such as 0.1`);
  return value;
};

const setting = <Key extends string>(key: Key, option: string, text: string | undefined): { readonly [K in Key]?: number } | object =>
  text === undefined ? {} : { [key]: lengthMs(option, text, 0) };
