import { mustAllow } from "../../../rules/model/access.ts";
import { type AutoscalerUid, type PartitionRef, uidOfIntent } from "../../../rules/model/ids.ts";
import { nearestName } from "../../../rules/model/nearest-name.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import { type Head, readHead } from "../../../stack/store/head/head.ts";
import { type DecodedPage, decodePage } from "../../../stack/store/pages/codec.ts";
import { type PageItem, readPage, readPageBytes } from "../../../stack/store/pages/pages.ts";
import { pageOf } from "../../../stack/store/pages/plan.ts";
import type { AutoscalerItem } from "../../../stack/store/records/autoscalers.ts";
import { autoscalersOf } from "../../../stack/store/records/clusters.ts";
import type { IntentView, PageView, PartitionView } from "../../views/cluster.ts";
import type { QueryContext } from "../context.ts";
import { findCluster } from "../find-autoscaler.ts";
import { rfc3339, secondsBetween } from "../times.ts";
import type { Windows } from "../../../rules/model/windows.ts";
import { DEFAULT_TIMING } from "../../../stack/plan/message.ts";
import { invalid, unknown } from "../refusals.ts";
import { present } from "../../../rules/model/json.ts";

export interface FoundPartition {
  readonly cluster: ClusterRecord;
  readonly ref: PartitionRef;
}

/**
 * Finds "eu-1/shops", or "eu-1" where the cluster has one partition. Throws `service.invalid`,
 * `service.unknown`.
 */
export const findPartition = async (
  context: QueryContext,
  path: string,
): Promise<FoundPartition> => {
  const [inCluster = "", name, ...more] = path.split("/");
  if (inCluster === "" || name === "" || more.length > 0)
    throw invalid(`Cannot read the partition "${path}": give CLUSTER/PARTITION`, { path });
  const cluster = await findCluster(context, inCluster);
  if (context.rights) mustAllow(context.rights, "view", { cluster: cluster.name });
  const names = cluster.partitions.map((partition) => partition.name);
  const partition =
    name === undefined && names.length === 1 ? names[0] : names.find((known) => known === name);
  if (partition !== undefined) return { cluster, ref: { cluster: cluster.name, partition } };
  const hint = name === undefined ? undefined : nearestName(name, names);
  const known =
    hint === undefined
      ? `its partitions are ${names.map((existing) => `"${existing}"`).join(", ")}`
      : `the nearest name is "${hint}"`;
  throw unknown(`Cannot find partition "${name ?? ""}" of cluster "${cluster.name}": ${known}`, {
    path,
    names,
  });
};

export const autoscalerPath = (item: AutoscalerItem): string => {
  const { namespace, name } = item.kind === "read" ? item.record : item;
  return `${namespace}/${name}`;
};

export const uidOfItem = (item: AutoscalerItem): AutoscalerUid | undefined =>
  item.kind === "read" ? item.record.uid : item.uid;

/** Describes a partition without the content of its windows. All reads are consistent. */
export const partition = async (context: QueryContext, path: string): Promise<PartitionView> => {
  const { cluster, ref } = await findPartition(context, path);
  const items = await Array.fromAsync(autoscalersOf(context.tables, cluster, ref));
  const head = await readHead(context.tables, ref);
  const nowMs = context.clock();
  const aheadMs = head && headAheadMs(head, nowMs);
  return {
    cluster: ref.cluster,
    partition: ref.partition,
    namespaces:
      cluster.partitions.find(({ name }) => name === ref.partition)?.namespaces ?? "all others",
    autoscalers: items.length,
    ...(head &&
      head.evaluatedMs > 0 && {
        syncedAt: rfc3339(head.evaluatedMs),
        ageSeconds: secondsBetween(head.evaluatedMs, nowMs),
      }),
    ...(aheadMs !== undefined && { aheadSeconds: Math.round(aheadMs / 1_000) }),
    epoch: head?.epoch ?? 0,
    ...(head && head.leaseUntilMs > nowMs && { leasedUntil: rfc3339(head.leaseUntilMs) }),
    pages: head
      ? await Promise.all(
          head.pages.map((_epoch, index) => pageView(context, { ref, head, index }, items)),
        )
      : [],
    intents: head ? intentViews(head, items) : [],
  };
};

const pageView = async (
  context: QueryContext,
  { ref, head, index }: { readonly ref: PartitionRef; readonly head: Head; readonly index: number },
  items: readonly AutoscalerItem[],
): Promise<PageView> => {
  const pageId = { partition: ref, generation: head.pageGeneration, index };
  const { decoded } = await pageOfHead(context, ref, head, index);
  const bytes = await readPageBytes(context.tables, pageId);
  const own = itemsOfPage(items, index, head.pages.length);
  const size = { page: index, autoscalers: own.length, bytes: bytes?.length ?? 0 };
  return decoded.kind === "read"
    ? size
    : { ...size, problem: decoded.message, held: own.map(({ path }) => path) };
};

/** Reads a page of the head as a sync would, with its item. */
export const pageOfHead = async (
  context: QueryContext,
  ref: PartitionRef,
  head: Head,
  index: number,
): Promise<{ readonly item?: PageItem; readonly decoded: DecodedPage }> => {
  const item = await readPage(context.tables, {
    partition: ref,
    generation: head.pageGeneration,
    index,
  });
  return item
    ? { item, decoded: decodePage(item.body) }
    : { decoded: { kind: "unreadable", message: "the item is not there" } };
};

/**
 * The autoscalers whose windows are on a page. The page of an item without a readable uid is not
 * known, so such an item is left out.
 */
export const itemsOfPage = (
  items: readonly AutoscalerItem[],
  index: number,
  pages: number,
): readonly {
  readonly uid: AutoscalerUid;
  readonly path: string;
  readonly item: AutoscalerItem;
}[] =>
  items.flatMap((item) => {
    const uid = uidOfItem(item);
    return uid !== undefined && pageOf(uid, pages) === index
      ? [{ uid, path: autoscalerPath(item), item }]
      : [];
  });

const intentViews = (head: Head, items: readonly AutoscalerItem[]): readonly IntentView[] => {
  const known = head.intents.map(({ id, namespace, name, from, to, decidedMs, deadlineMs }) => {
    return {
      id,
      autoscaler: `${namespace}/${name}`,
      from,
      to,
      decidedAt: rfc3339(decidedMs),
      deadline: rfc3339(deadlineMs),
    };
  });
  const paths = new Map(items.map((item) => [uidOfItem(item), autoscalerPath(item)]));
  const unreadable = head.unreadable.map(({ id, message }) => {
    const autoscaler = paths.get(uidOfIntent(id));
    return present({ id, autoscaler, problem: message });
  });
  return [...known, ...unreadable];
};

/**
 * The latest time that a right clock may have written, by this clock: the two may differ by so
 * much.
 */
export const latestMs = (clockMs: number): number => clockMs + DEFAULT_TIMING.clockDifferenceMs;

/**
 * By how much a head is ahead of this clock; `undefined` where it is not by more than two clocks
 * may differ.
 */
export const headAheadMs = (
  { nowMs, evaluatedMs, dueDoneMs }: Head,
  clockMs: number,
): number | undefined => {
  const newestMs = Math.max(nowMs, evaluatedMs, dueDoneMs);
  return newestMs > latestMs(clockMs) ? newestMs - clockMs : undefined;
};

export const newestTimeOf = ({ memory, status }: Windows): number =>
  Math.max(
    0,
    status.lastScaleMs ?? 0,
    ...(memory.recommendations ?? []).map(({ lastMs }) => lastMs),
    ...[...memory.scaleUps, ...memory.scaleDowns].map(({ atMs }) => atMs),
    ...status.conditions.map(({ transitionMs }) => transitionMs),
  );

/**
 * Windows in which no scale is later than an instant. Recommendations and conditions stay as they
 * are.
 */
export const scaledUntil = ({ memory, status }: Windows, nowMs: number): Windows => {
  const until = (changes: Windows["memory"]["scaleUps"]): Windows["memory"]["scaleUps"] =>
    changes.map((change) =>
      change.atMs > nowMs ? { ...change, atMs: nowMs, earliestMs: 0 } : change,
    );
  return {
    memory: { ...memory, scaleUps: until(memory.scaleUps), scaleDowns: until(memory.scaleDowns) },
    status: {
      ...status,
      ...(status.lastScaleMs !== undefined && { lastScaleMs: Math.min(status.lastScaleMs, nowMs) }),
    },
  };
};
