import { incarnationOf, type ClusterRecord } from "../../../rules/model/records.ts";
import type { ScaleChange } from "../../../rules/model/windows.ts";
import { followsCleanRelease, type Head } from "../../store/head/head.ts";
import { getCluster, getFleet } from "../../store/records/clusters.ts";
import { mustHaveRightClock } from "../../store/table/server-clock.ts";
import { fleetPlaceOf } from "../../store/records/fleet-place.ts";
import { loadPages } from "./load-pages.ts";
import { withForecasts } from "./load-forecasts.ts";
import { waitsToBeRead, readSpecs } from "./load-specs.ts";
import type { SyncMessage } from "../../plan/message.ts";
import { decidedCluster } from "../../store/head/moving.ts";
import type { SyncPorts, Remembered } from "../sync-ports.ts";
import type { LoadedPages, LoadedSpecs, Loaded } from "../hand-over.ts";

/**
 * Why a sync ends here: its partition does not exist any more; the tables were restored or are a
 * copy, and no person has adopted them; or the fleet is in another region.
 */
export type Unloaded = "removed" | "restored" | "moved";

/**
 * Reads the kill switch and the cluster strongly, then specs and windows. These come from memory
 * where the head still names the same versions. On doubt, stop: in other tables than the tables of
 * the fleet record nothing is read further and nothing is written.
 */
export const load = async (
  ports: SyncPorts,
  message: SyncMessage,
  head: Head,
): Promise<Loaded | Unloaded> => {
  const [[fleet, ids], stored] = await both(
    both(getFleet(ports.tables), ports.tables.ids?.()),
    getCluster(ports.tables, message.cluster),
  );
  const place = fleetPlaceOf(fleet, ids);
  if (place.kind === "copied") return "restored";
  if (place.kind !== "here") return "moved";
  const cluster = stored && (await decidedCluster(ports.tables, stored, head));
  if (!cluster?.partitions.some(({ name }) => name === message.partition)) return "removed";
  const tables = ids ? `${ids.state}/${ids.history}` : "";
  const remembered = rememberedOf(ports, message, tables);
  const readMs = ports.tables.clock();
  const read = async (): Promise<LoadedSpecs> => {
    const before = remembered?.specs ?? ports.cache.converted(message);
    const manifests = await readSpecs(ports, cluster, message, {
      ...{ specVersion: head.specVersion, readMs, before },
    });
    const specs = await withForecasts(ports.tables, message, manifests, before);
    // Also for a sync that fails from here on, as where its pages cannot be read: the next one goes
    // on where this one came to.
    ports.cache.keepConverted(message, specs);
    return specs;
  };
  const known = specsFromMemory(ports, remembered, { head, cluster, readMs });
  const [pages, first] = await both(
    loadPages(ports.tables, message, head, remembered?.pages ?? []),
    known ?? read(),
  );
  const specs = first !== known || hasSameWindows(remembered, pages) ? first : await read();
  mustHaveRightClock(ports.tables, `decide for "${message.cluster}/${message.partition}"`);
  const noLeftovers =
    followsCleanRelease(head) && remembered?.pageGeneration === head.pageGeneration;
  return {
    fleet,
    tables,
    cluster,
    head,
    specs,
    ...pages,
    nowMs: nowOf(ports.tables.clock(), head, pages),
    noLeftovers,
  };
};

/**
 * What was remembered of other tables counts for nothing here: after a restore the same epochs and
 * versions come again, with other windows and specs.
 */
const rememberedOf = (
  ports: SyncPorts,
  message: SyncMessage,
  tables: string,
): Remembered | undefined => {
  const remembered = ports.cache.get(message);
  return remembered?.tables === tables ? remembered : undefined;
};

/**
 * False when another writer has added or removed windows of an autoscaler since: such a change
 * follows an edit whose editor died before it raised the spec version. With the specs in memory,
 * this sync would drop windows that are needed, or decide without windows that it expects.
 */
const hasSameWindows = (remembered: Remembered | undefined, loaded: LoadedPages): boolean => {
  // As a rule every page comes from memory.
  if (
    remembered &&
    loaded.pages.length === remembered.pages.length &&
    loaded.pages.every((page, at) => page === remembered.pages[at])
  )
    return true;
  const uids = ({ pages }: Pick<LoadedPages, "pages">): readonly string[] =>
    pages.flatMap((page) => (page.kind === "read" ? [...page.entries.keys()] : []));
  const before = new Set(remembered ? uids(remembered) : []);
  const now = uids(loaded);
  return now.length === before.size && now.every((uid) => before.has(uid));
};

/** Waits for both, also where one fails, and then throws the first failure. */
export const both = async <One, Other>(
  one: Promise<One>,
  other: Promise<Other> | Other,
): Promise<readonly [One, Other]> => {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === "rejected") throw first.reason;
  if (second.status === "rejected") throw second.reason;
  return [first.value, second.value];
};

const specsFromMemory = (
  ports: SyncPorts,
  remembered: Remembered | undefined,
  context: { readonly head: Head; readonly cluster: ClusterRecord; readonly readMs: number },
): LoadedSpecs | undefined => {
  if (!remembered || !followsCleanRelease(context.head)) return undefined;
  const { specs } = remembered;
  const fresh = context.readMs - specs.readMs < ports.timing.specsFreshMs;
  return fresh &&
    specs.specVersion === context.head.specVersion &&
    specs.clusterIncarnation === incarnationOf(context.cluster) &&
    !specs.all.some(waitsToBeRead)
    ? specs
    : undefined;
};

/**
 * The time of this sync: the latest of the own clock, the head, the intents, the uncounted scales
 * and the events that the windows hold. So recorded time never runs backwards, whatever the clocks
 * do.
 */
const nowOf = (clockMs: number, head: Head, { pages }: LoadedPages): number => {
  let latest = Math.max(clockMs, head.nowMs, head.evaluatedMs);
  for (const intent of head.intents) latest = Math.max(latest, intent.decidedMs);
  for (const { settledMs } of head.uncounted) latest = Math.max(latest, settledMs);
  for (const page of pages) {
    if (page.kind === "unreadable") continue;
    for (const { windows } of page.entries.values()) {
      latest = Math.max(
        latest,
        latestOf(windows.memory.scaleUps),
        latestOf(windows.memory.scaleDowns),
      );
    }
  }
  return latest;
};

const latestOf = (changes: readonly ScaleChange[]): number =>
  changes.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
