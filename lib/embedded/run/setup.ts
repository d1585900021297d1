import { basename, extname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import * as z from "zod";
import { TidemarkError } from "../../rules/model/errors.ts";
import { instantText } from "../../stack/report/instant-text.ts";
import {
  type Deployment,
  type FolderIdentity,
  type MadeFleet,
  type RealIdentity,
  readIdentity,
  type SimulatedIdentity,
} from "../folder/identity.ts";
import { madeEarlier } from "../cluster/write-journal.ts";
import {
  CLUSTER_WRITES,
  DEFAULT_DATA_FOLDER,
  type FolderLayout,
  AUTOSCALERS_EACH,
  labelOf,
  START_WORDS,
} from "../layout.ts";
import { shellWord } from "../../stack/report/shell-word.ts";
import { newFolderBeside } from "../folder/damage.ts";
import { deploymentsOf, type ManifestFile, manifestFiles } from "./manifest-files.ts";
import { divided } from "./option-values.ts";
import type { RunOptions } from "./options.ts";
import { textOfFile } from "../host/text-file.ts";

/** What this run does, computed from its options and its folder. */
export interface Setup {
  readonly identity: FolderIdentity;
  /** True when the folder was used before, so that this run continues it. */
  readonly resumed: boolean;
  /**
   * The manifests to apply before the first sync; on a resumed folder only the manifests of the
   * command line.
   */
  readonly manifests: readonly ManifestFile[];
}

/**
 * Virtual time of a simulated run begins here unless it is given, so that the same run has the same
 * times whenever it is made: a Monday, 08:00 UTC.
 */
export const VIRTUAL_START_MS = Date.UTC(2026, 0, 5, 8);
const DEFAULT_SEED = 1;
/** A deployment of the demonstration without an autoscaler, for examples/checkout.yaml. */
const UNSCALED: Deployment = { namespace: "shop", name: "checkout" };

/**
 * Throws `local.folder-differs`, `local.unreadable` and, for manifests that cannot be applied,
 * `manifest.*`. Writes nothing.
 */
export const setupOf = (layout: FolderLayout, options: RunOptions): Setup => {
  const identity = readIdentity(layout);
  const trace = options.trace === undefined ? undefined : resolve(options.trace);
  const played = playedMetrics(options);
  // After the first start of a simulation only the manifests of the command line are applied.
  const named = options.manifest.length > 0 ? manifestFiles(options.manifest, {}) : [];
  // Also for a real cluster: manifests that cannot be applied are refused before anything is
  // written.
  const targets = deploymentsOf(named, besideOf(options, identity));
  const real =
    options.kubeconfig === undefined
      ? undefined
      : realIdentity(options.kubeconfig, options.context);
  if (identity !== undefined && identity !== "beginning") {
    refuseOther(layout, identity, { options, trace, targets, real });
    return { identity, resumed: true, manifests: named };
  }
  if (real) return { identity: real, resumed: false, manifests: named };
  const fleet = fleetOf(options);
  if (fleet) {
    const fresh = {
      kind: "simulated" as const,
      ...begunOf(options),
      fleet,
      deployments: [],
    } satisfies FolderIdentity;
    return { identity: fresh, resumed: false, manifests: [] };
  }
  const manifests = named.length > 0 ? named : manifestFiles([], options);
  const demonstration = named.length === 0 && trace === undefined;
  const deployments = sorted([
    ...deploymentsOf(manifests, options),
    ...(demonstration ? [UNSCALED] : []),
  ]);
  refuseUnnamed(played.metricTraces, deployments);
  const fresh = {
    kind: "simulated",
    ...begunOf(options),
    ...played,
    deployments,
    ...besideOf(options, undefined),
  } as const;
  return { identity: trace === undefined ? fresh : { ...fresh, trace }, resumed: false, manifests };
};

/** Whose objects scale the workloads: as this start says it, or as the folder has it. */
const besideOf = (
  { beside }: RunOptions,
  identity: ReturnType<typeof readIdentity>,
): Pick<RunOptions, "beside"> => {
  const known =
    identity !== undefined && identity !== "beginning" && identity.kind === "simulated"
      ? identity.beside
      : undefined;
  const wanted = beside ?? known;
  return wanted === undefined ? {} : { beside: wanted };
};

/** The files of metrics, by name; nothing where none is given. */
const playedMetrics = ({
  metric,
}: RunOptions): { readonly metricTraces?: Readonly<Record<string, string>> } =>
  metric
    ? {
        metricTraces: Object.fromEntries(
          metric.map(divided).map(([name, file]) => [name, resolve(file)]),
        ),
      }
    : {};

/**
 * Throws where no manifest names a metric that a load is given for, because its user expects it to
 * be played.
 */
const refuseUnnamed = (
  traces: Readonly<Record<string, string>> = {},
  deployments: readonly Deployment[],
): void => {
  const known = [
    ...new Set(deployments.flatMap(({ metrics = [] }) => metrics.map(({ name }) => name))),
  ];
  const unknown = Object.keys(traces).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const named =
    known.length === 0
      ? "the manifests name none"
      : `the manifests name ${known.map((name) => `"${name}"`).join(", ")}`;
  throw new TidemarkError("local.unknown-metric", `Cannot play --metric "${unknown}": ${named}`, {
    metric: unknown,
  });
};

/** The cluster is named after its context, or after the file where there is none. */
const realIdentity = (file: string, named: string | undefined) => {
  const context = kubeconfigContext(file, named);
  const cluster = labelOf(context ?? basename(file));
  return {
    kind: "kubeconfig",
    startMs: Date.now(),
    cluster,
    kubeconfig: resolve(file),
    ...(context !== undefined && { context }),
  } as const;
};

const begunOf = (options: RunOptions) => ({
  seed: options.seed ?? DEFAULT_SEED,
  startMs: options.begin ?? VIRTUAL_START_MS,
  ...podsOf(options),
});

/** The clusters and autoscalers that the run makes by itself; undefined where it makes none. */
const fleetOf = ({ clusters, autoscalers }: RunOptions): MadeFleet | undefined => {
  if (clusters === undefined && autoscalers === undefined) return undefined;
  return {
    clusters: clusters ?? 1,
    autoscalers: autoscalers ?? (clusters ?? 1) * AUTOSCALERS_EACH,
  };
};

const podsOf = ({
  capacity,
  podStart,
}: RunOptions): Pick<SimulatedIdentity, "capacity" | "podStartMs"> => ({
  ...(capacity !== undefined && { capacity }),
  ...(podStart !== undefined && { podStartMs: podStart }),
});

const sorted = (deployments: readonly Deployment[]): Deployment[] =>
  deployments.toSorted((a, b) =>
    `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1,
  );

/** What this start asks for: a folder has fixed some of it. */
interface RequestedRun {
  readonly options: RunOptions;
  readonly trace: string | undefined;
  /** The targets of the manifests of the command line. */
  readonly targets: readonly Deployment[];
  readonly real: ReturnType<typeof realIdentity> | undefined;
}

/**
 * Throws `local.folder-differs`, with the command to run instead, when the folder belongs to a run
 * with other options.
 */
const refuseOther = (
  layout: FolderLayout,
  identity: FolderIdentity,
  requested: RequestedRun,
): void => {
  const differs = difference(layout, identity, requested);
  if (differs === undefined) return;
  const command = [
    START_WORDS,
    ...requested.options.args.map(shellWord),
    "--data",
    shellWord(newFolderBeside(layout.dir)),
  ].join(" ");
  throw new TidemarkError(
    "local.folder-differs",
    `Cannot continue in "${layout.dir}": ${differs}; for a run of its own: ${command}`,
    {
      dir: layout.dir,
    },
  );
};

const WHAT = { simulated: "a simulated cluster", kubeconfig: "a real cluster" } as const;

const difference = (
  layout: FolderLayout,
  identity: FolderIdentity,
  requested: RequestedRun,
): string | undefined => {
  const { real } = requested;
  const kind = real ? "kubeconfig" : "simulated";
  if (identity.kind !== kind) return `it belongs to ${WHAT[identity.kind]}, not to ${WHAT[kind]}`;
  if (identity.kind !== "simulated") return real && otherCluster(identity, real);
  return otherSimulation(identity, requested) ?? otherTargets(layout, identity, requested);
};

/** Autoscalers of one cluster are never written to another because its kubeconfig has changed. */
const otherCluster = (
  identity: RealIdentity,
  { kubeconfig, context }: RealIdentity,
): string | undefined => {
  if (kubeconfig !== identity.kubeconfig)
    return `it belongs to the cluster of "${identity.kubeconfig}", not of "${kubeconfig}"`;
  return context === identity.context
    ? undefined
    : `it belongs to the context "${identity.context}" of its kubeconfig, not to "${context}"`;
};

const otherSimulation = (
  identity: SimulatedIdentity,
  { options, trace }: RequestedRun,
): string | undefined => {
  const { seed, begin } = options;
  const fleet = fleetOf(options);
  if (fleet && !isDeepStrictEqual(fleet, identity.fleet))
    return `it simulates ${fleetText(identity.fleet)}, not ${fleetText(fleet)}`;
  if (begin !== undefined && begin !== identity.startMs)
    return `it began at ${instantText(identity.startMs)}, not at ${instantText(begin)}`;
  if (seed !== undefined && seed !== identity.seed)
    return `its seed is ${identity.seed}, not ${seed}`;
  const { metricTraces } = playedMetrics(options);
  if (metricTraces && !isDeepStrictEqual(metricTraces, identity.metricTraces))
    return "its metrics play other loads";
  if (trace !== undefined && trace !== identity.trace)
    return `it plays ${identity.trace ?? "the recorded workloads of the demonstration"}`;
  return otherBeside(identity, options) ?? otherPods(identity, podsOf(options));
};

/**
 * The cluster has the workloads of its first start, and those that were made during a run because
 * an autoscaler scales them.
 */
const otherTargets = (
  layout: FolderLayout,
  { deployments }: SimulatedIdentity,
  { targets }: RequestedRun,
): string | undefined => {
  const isKnown = (target: Deployment): boolean =>
    deployments.some((deployment) => isSameTarget(deployment, target));
  const made = targets.every(isKnown) ? [] : madeEarlier(join(layout.cluster, CLUSTER_WRITES));
  return targets
    .map((target) => otherTarget([...deployments, ...made], target))
    .find((differs) => differs !== undefined);
};

const isSameTarget = (one: Deployment, other: Deployment): boolean =>
  one.namespace === other.namespace && one.name === other.name;

const fleetText = (fleet: MadeFleet | undefined): string =>
  fleet
    ? `${fleet.autoscalers} autoscalers in ${fleet.clusters} clusters`
    : "the workloads of its manifests";

const otherBeside = (known: SimulatedIdentity, { beside }: RunOptions): string | undefined => {
  if (beside === undefined || beside === known.beside) return undefined;
  return `it began ${known.beside === undefined ? "without another controller" : `beside ${known.beside}`}, not beside ${beside}`;
};

const otherPods = (
  known: SimulatedIdentity,
  { capacity, podStartMs }: ReturnType<typeof podsOf>,
): string | undefined => {
  if (capacity !== undefined && capacity !== known.capacity)
    return `its pods serve ${known.capacity ?? "what the load asks of twelve of them"}`;
  if (podStartMs === undefined || podStartMs === known.podStartMs) return undefined;
  return `its pods start within ${known.podStartMs === undefined ? "20 to 40 s" : `${known.podStartMs / 1_000} s`}`;
};

const otherTarget = (
  deployments: readonly Deployment[],
  target: Deployment,
): string | undefined => {
  const { namespace, name, kind = "Deployment", trace, replicas } = target;
  const known = deployments.find((deployment) => isSameTarget(deployment, target));
  if (!known) return `its cluster has no ${kind} "${namespace}/${name}"`;
  if (trace !== undefined && trace !== known.trace)
    return `"${namespace}/${name}" plays ${known.trace ?? "another load"} there, not ${trace}`;
  if (replicas === undefined || replicas === known.replicas) return undefined;
  return `"${namespace}/${name}" began with ${known.replicas ?? "another number of"} pods there, not with ${replicas}`;
};

/** No ordinary kubeconfig is larger. */
const MAX_BYTES = 4 * 2 ** 20;

const currentSchema = z.object({ "current-context": z.string().min(1).optional() });

/**
 * The context that a run uses: the one named, or the file's current one, fixed when the run first
 * starts, so that `kubectl config use-context` never moves autoscalers to another cluster.
 * Undefined where the file has none. Throws `local.unreadable`; what the file holds is never
 * quoted, for it holds secrets.
 */
export const kubeconfigContext = (
  file: string,
  context: string | undefined,
): string | undefined => {
  const text = textOfFile(file, MAX_BYTES);
  if (context !== undefined) return context;
  try {
    return currentSchema.parse(parse(text))["current-context"];
  } catch {
    throw unreadable(file, "it is not a kubeconfig in YAML or JSON");
  }
};

const unreadable = (file: string, why: string): TidemarkError =>
  new TidemarkError("local.unreadable", `Cannot read kubeconfig "${file}": ${why}`, { file });

/** Longest name of what is played that a folder's name carries. */
const MAX_NAME = 63;

/**
 * The data folder of a start without `--data`: one for each thing that can be run, so that none
 * goes on in the folder of another. The demonstration has `.tidemark`, a cluster
 * `.tidemark-CONTEXT`, a run under a trace, manifests or a seed of its own `.tidemark-` and their
 * names. Throws `local.unreadable` for a kubeconfig that cannot be read.
 */
export const folderNameFor = (options: RunOptions): string => {
  const { kubeconfig, context, manifest, trace, seed, beside } = options;
  const fleet = fleetOf(options);
  if (kubeconfig !== undefined)
    return namedParts([kubeconfigContext(kubeconfig, context) ?? basename(kubeconfig)]);
  const files = [...(trace === undefined ? [] : [trace]), ...manifest].map((file) =>
    basename(file, extname(file)),
  );
  const controller = beside === undefined ? [] : [`beside-${beside}`];
  return namedParts([
    ...files,
    ...controller,
    ...(fleet ? [`${fleet.clusters}-clusters-${fleet.autoscalers}`] : []),
    ...(seed === undefined ? [] : [`seed-${seed}`]),
  ]);
};

export const namedParts = (parts: readonly string[]): string =>
  parts.length === 0
    ? DEFAULT_DATA_FOLDER
    : `${DEFAULT_DATA_FOLDER}-${labelOf(parts.join("-")).slice(0, MAX_NAME)}`;
