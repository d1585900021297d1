import { incarnationOf } from "../model/incarnation.ts";
import type { ClusterRecord, FleetRecord } from "../model/records.ts";
import type { Head } from "../store/head/head.ts";
import { getCluster, getFleet } from "../store/records/clusters.ts";
import { mustTellTime } from "../store/table/server-clock.ts";
import { type LoadedPages, loadPages } from "./load-pages.ts";
import { readSpecs } from "./load-specs.ts";
import type { LoadedSpecs } from "./loaded-specs.ts";
import type { SyncMessage } from "./message.ts";
import { decidedCluster } from "./moving.ts";
import type { SyncPorts } from "./ports.ts";
import type { Remembered } from "./warm-cache.ts";

/** What the tables say, and the time of this sync. */
export interface Loaded extends LoadedPages {
  readonly fleet: FleetRecord;
  readonly cluster: ClusterRecord;
  readonly head: Head;
  readonly specs: LoadedSpecs;
  /** Later than everything that was recorded, and read before the observation begins. */
  readonly nowMs: number;
  /** This environment released the pages that the head names, or a later sync of them, and nobody stopped halfway since: then there is nothing that nobody names. */
  readonly knowsPages: boolean;
}

/**
 * Reads the kill switch and the cluster strongly, then specs and windows: from memory where the head vouches for it. `undefined`: the cluster was removed, or no longer has
 * this partition.
 */
export const load = async (ports: SyncPorts, message: SyncMessage, head: Head): Promise<Loaded | undefined> => {
  const [fleet, found] = await both(getFleet(ports.tables), getCluster(ports.tables, message.cluster));
  const cluster = found && (await decidedCluster(ports.tables, found, head));
  if (!cluster?.partitions.some(({ name }) => name === message.partition)) return undefined;
  const remembered = ports.cache.get(message);
  const readMs = ports.tables.clock();
  const read = (): Promise<LoadedSpecs> => readSpecs(ports, cluster, message, { specVersion: head.specVersion, readMs, before: remembered?.specs });
  const known = specsFromMemory(ports, remembered, { head, cluster, readMs });
  const [pages, first] = await both(loadPages(ports.tables, message, head, remembered?.pages ?? []), known ?? read());
  const specs = first !== known || hasSameWindows(remembered, pages) ? first : await read();
  mustTellTime(ports.tables, `decide for "${message.cluster}/${message.partition}"`);
  const knowsPages = head.releasedEpoch === head.epoch - 1 && remembered?.pageGeneration === head.pageGeneration;
  return { fleet, cluster, head, specs, ...pages, nowMs: nowOf(ports.tables.clock(), head, pages), knowsPages };
};

/**
 * False when somebody else has given windows to an autoscaler since, or dropped those of one: it follows an edit whose editor died before raising the spec version. Going by the
 * specs in memory would drop windows that are needed, or decide without the windows that were dropped.
 */
const hasSameWindows = (remembered: Remembered | undefined, loaded: LoadedPages): boolean => {
  const uids = ({ pages }: Pick<LoadedPages, "pages">): readonly string[] =>
    pages.flatMap((page) => (page.kind === "read" ? [...page.entries.keys()] : []));
  const before = new Set(remembered ? uids(remembered) : []);
  const now = uids(loaded);
  return now.length === before.size && now.every((uid) => before.has(uid));
};

const both = async <One, Other>(one: Promise<One>, other: Promise<Other> | Other): Promise<readonly [One, Other]> => {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === "rejected") throw first.reason;
  if (second.status === "rejected") throw second.reason;
  return [first.value, second.value];
};

const specsFromMemory = (
  ports: SyncPorts,
  remembered: Remembered | undefined,
  now: { readonly head: Head; readonly cluster: ClusterRecord; readonly readMs: number },
): LoadedSpecs | undefined => {
  if (!remembered) return undefined;
  const { specs } = remembered;
  if (now.head.releasedEpoch !== now.head.epoch - 1) return undefined;
  const fresh = now.readMs - specs.readMs < ports.timing.specsFreshMs;
  return fresh && specs.specVersion === now.head.specVersion && specs.clusterIncarnation === incarnationOf(now.cluster) ? specs : undefined;
};

/** Time never runs backwards in the record, whatever the clocks do: the latest of own clock, head, intents, uncounted scales and the events that windows hold. */
const nowOf = (clockMs: number, head: Head, { pages }: LoadedPages): number => {
  let latest = Math.max(clockMs, head.nowMs, head.evaluatedMs);
  for (const intent of head.intents) latest = Math.max(latest, intent.decidedMs);
  for (const { settledMs } of head.uncounted) latest = Math.max(latest, settledMs);
  for (const page of pages) {
    if (page.kind === "unreadable") continue;
    for (const { windows } of page.entries.values()) {
      for (const { atMs } of [...windows.memory.scaleUps, ...windows.memory.scaleDowns]) latest = Math.max(latest, atMs);
    }
  }
  return latest;
};
