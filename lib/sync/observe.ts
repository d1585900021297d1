import type { ClusterClient, Observed, ObservedCluster, Watched } from "../cluster/port.ts";
import { isTidemarkError } from "../model/errors.ts";
import { foreignWords } from "../model/foreign-words.ts";
import type { ScaleReading } from "../model/observation.ts";
import type { ClusterRecord, Intent } from "../model/records.ts";
import { namespacesOf } from "../store/records/partitions.ts";
import { eachDone } from "../store/table/all-done.ts";
import type { Loaded } from "./load.ts";
import type { LoadedSpec } from "./loaded-specs.ts";
import type { SyncMessage } from "./message.ts";
import { isPastDeadline, workloadKey } from "./open-intents.ts";
import type { SyncPorts } from "./ports.ts";
import { withRecommendations } from "./recommend.ts";

export type ReadySpec = Extract<LoadedSpec, { kind: "ready" }>;

/** What the cluster said in this sync. */
export interface Seen {
  readonly client: ClusterClient | undefined;
  readonly observed: ObservedCluster;
  /** By workload: how it stands now, for the intents whose deadline is over. */
  readonly late: ReadonlyMap<string, ScaleReading>;
}

/** Share of the soft deadline that the observation may take; the rest is for deciding, writing and storing. */
const OBSERVE_SHARE = 0.6;
const PARALLEL = 8;
const NOTHING: ObservedCluster = { observations: new Map(), calls: 0, bytes: 0 };

/** Reads the cluster for every autoscaler that can be evaluated, those that are frozen or paused among them. It begins after `nowMs` was read, so that what it sees is later than any deadline that is over. */
export const observe = async (ports: SyncPorts, message: SyncMessage, loaded: Loaded): Promise<Seen> => {
  const watched = watchedOf(loaded);
  const overdue = loaded.head.intents.filter((intent) => isPastDeadline(intent, loaded.nowMs));
  if (watched.length === 0 && overdue.length === 0) return { client: undefined, observed: NOTHING, late: new Map() };
  const client = await connected(ports, loaded.cluster);
  if (client.kind === "failed") return { client: undefined, observed: unobserved(watched, client.message), late: new Map() };
  const budgetMs = OBSERVE_SHARE * Math.min(message.periodMs, ports.timing.softDeadlineMs);
  const limits = { budgetMs, namespaces: namespacesOf(loaded.cluster, message.partition) };
  const startMs = ports.tables.clock();
  const seen = watched.length === 0 ? NOTHING : await client.client.observe(watched, limits);
  const timeoutMs = Math.max(1, budgetMs - (ports.tables.clock() - startMs));
  const observed = await withRecommendations(client.client, watched, seen, { nowMs: loaded.nowMs, timeoutMs });
  return {
    client: client.client,
    observed,
    late: await readLate(client.client, overdue, { observed, loaded, timeoutMs: ports.timing.putTimeoutMs }),
  };
};

const watchedOf = ({ specs, pages }: Loaded): readonly Watched[] => {
  const selectors = new Map<string, string>();
  for (const page of pages) {
    if (page.kind === "unreadable") continue;
    for (const [uid, { windows }] of page.entries) if (windows.memory.selector !== undefined) selectors.set(uid, windows.memory.selector);
  }
  return specs.all.flatMap((loaded) => {
    if (loaded.kind !== "ready") return [];
    const { uid, namespace, name } = loaded.record;
    const selector = selectors.get(uid);
    return [{ uid, namespace, name, spec: loaded.spec, ...(selector !== undefined && { selector }) }];
  });
};

type Connected = { readonly kind: "connected"; readonly client: ClusterClient } | { readonly kind: "failed"; readonly message: string };

/** A cluster without access is a cluster that cannot be seen: its autoscalers hold, and say why. */
const connected = async (ports: SyncPorts, cluster: ClusterRecord): Promise<Connected> => {
  try {
    return { kind: "connected", client: await ports.connect(cluster) };
  } catch (error) {
    // Refusals have sentences of their own. The words of any other error are foreign: libraries quote what they were given.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", message: isTidemarkError(error) ? message : foreignWords(message) };
  }
};

/** Nothing seen: every scale failed with the same words, so that every autoscaler holds by its own rules. */
const unobserved = (watched: readonly Watched[], message: string): ObservedCluster => {
  const failure = { code: 0, reason: "ClusterUnreachable", message };
  const seen: Observed = {
    observation: {
      scale: { kind: "failed", failure },
      pods: { all: [], select: () => [] },
      answers: { custom: new Map(), external: new Map() },
      others: [],
    },
    rivals: [],
  };
  return { observations: new Map(watched.map(({ uid }) => [uid, seen])), calls: 0, bytes: 0 };
};

/**
 * How the workloads of overdue intents stand. Where the autoscaler still watches the same workload, the observation has it, with the same fields as the one that the
 * intent was decided on; else (deleted, paused, retargeted) it is read by itself.
 */
const readLate = async (
  client: ClusterClient,
  overdue: readonly Intent[],
  now: { readonly observed: ObservedCluster; readonly loaded: Loaded; readonly timeoutMs: number },
): Promise<ReadonlyMap<string, ScaleReading>> => {
  if (overdue.length === 0) return new Map();
  const targets = new Map(
    now.loaded.specs.all.flatMap((spec) =>
      spec.kind === "ready" ? [[spec.record.uid, workloadKey(spec.record.namespace, spec.spec.target)] as const] : [],
    ),
  );
  const readings = await eachDone(overdue, PARALLEL, async (intent) => {
    const key = workloadKey(intent.namespace, intent.target);
    const seen = targets.get(intent.uid) === key ? now.observed.observations.get(intent.uid)?.observation.scale : undefined;
    return [key, seen ?? (await client.readScale(intent.namespace, intent.target, now.timeoutMs))] as const;
  });
  return new Map(readings);
};
