import type { ChangeRecord, ScopeChangeRecord } from "../../../rules/model/changes.ts";
import type { ClusterName } from "../../../rules/model/ids.ts";
import { CHANGE_SK_PREFIX } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import { CHANGES_TOGETHER, changeReader, clusterChangesParams } from "./changes.ts";
import type { HistoryItem } from "./item.ts";
import { type HistoryRead, mergedHistory, type Placed, Rounds } from "./merged-history.ts";
import { scopeChangeOf, scopeChangesParams } from "./scope-changes.ts";

/** Whose edits are listed: edits of clusters' autoscalers, and edits of other scopes. */
export interface ChangeSearch {
  readonly clusters: readonly ClusterName[];
  readonly scopes: readonly Pick<ScopeChangeRecord, "scope" | "name">[];
  readonly sinceMs: number;
  /** The last edit that an earlier part of the list gave. */
  readonly after?: Pick<Placed, "atMs" | "id"> | undefined;
}

/** The cluster is absent for an edit that is about no autoscaler. */
interface PlacedChange extends Placed {
  readonly item: HistoryItem;
  readonly of: ClusterName | undefined;
}

/** How many edits a query is taken to have. */
const EXPECTED = 20;
/** Most clusters have no more in a year, and so need no second page. */
const LEAST = 50;

/**
 * Edits of many clusters and scopes in order of time, then of id. What they are based on is read
 * for a group of them when its turn comes, so that no page of a list has more requests under way
 * than there are sockets.
 */
export async function* changesOfFleet(
  tables: Tables,
  { clusters, scopes, sinceMs, after }: ChangeSearch,
): AsyncGenerator<ChangeRecord | ScopeChangeRecord> {
  const fromMs = Math.max(sinceMs, after?.atMs ?? 0);
  const reads: HistoryRead<PlacedChange>[] = [
    ...scopes.map((scope) => ({
      // A list need not have an edit of this second.
      params: { ...scopeChangesParams(tables.historyTable, scope, fromMs), ConsistentRead: false },
      expected: EXPECTED,
      least: LEAST,
      itemOf: (item: HistoryItem) => placed(item, undefined),
    })),
    ...clusters.map((cluster) => ({
      params: clusterChangesParams(tables.historyTable, cluster, fromMs),
      expected: EXPECTED,
      least: LEAST,
      itemOf: (item: HistoryItem) => placed(item, cluster),
    })),
  ];
  const read = changeReader(tables);
  let together: PlacedChange[] = [];
  for await (const step of mergedHistory(tables, reads, new Rounds())) {
    if ("requests" in step || isTold(step, after)) continue;
    together.push(step);
    if (together.length < CHANGES_TOGETHER) continue;
    yield* opened(together, read);
    together = [];
  }
  yield* opened(together, read);
}

/** Ids differ between clusters, so that time and id are a place. */
const placed = (item: HistoryItem, of: ClusterName | undefined): PlacedChange => {
  const [time = "", ...rest] = item.sk.slice(CHANGE_SK_PREFIX.length).split("#");
  return { atMs: Number(time), cluster: "", id: rest.join("#"), item, of };
};

const isTold = ({ atMs, id }: Placed, after: ChangeSearch["after"]): boolean =>
  after !== undefined && (atMs < after.atMs || (atMs === after.atMs && id <= after.id));

async function* opened(
  changes: readonly PlacedChange[],
  read: ReturnType<typeof changeReader>,
): AsyncGenerator<ChangeRecord | ScopeChangeRecord> {
  const ofAutoscalers = read(
    changes.flatMap(({ item, of }) => (of === undefined ? [] : [{ item, cluster: of }])),
  );
  for (const { item, of } of changes) {
    if (of === undefined) {
      yield scopeChangeOf(item);
      continue;
    }
    const { value } = await ofAutoscalers.next();
    if (value) yield value;
  }
}
