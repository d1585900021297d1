import type { ChangeRecord, ScopeChangeRecord } from "../model/changes.ts";
import { isTidemarkError } from "../model/errors.ts";
import { autoscalerName, type ClusterName, clusterName, namespace } from "../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../model/records.ts";
import { changesOf, changesOfCluster } from "../store/history/changes.ts";
import { scopeChangesOf } from "../store/history/scope-changes.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../store/table/wait-for-all.ts";
import type { ChangeView } from "../views/change.ts";
import { type QueryContext, sees } from "./context.ts";
import { clustersNamed, findAutoscaler, splitName } from "./find-autoscaler.ts";
import type { AutoscalerQuery, ChangeCursor, ChangeQuery } from "./service.ts";
import { refuseEmptyRange } from "./times.ts";
import { toArray } from "./to-array.ts";
import { changeView, madeOf, scopeChangeView } from "./views/change-view.ts";

/** Lists edits in order of time: of one autoscaler, each with whether it was made, or all of them, including edits of deleted objects. */
export async function* changes(context: QueryContext, { name, sinceMs = 0, after, ...filter }: ChangeQuery): AsyncGenerator<ChangeView> {
  refuseEmptyRange("list the changes", { sinceMs }, context.clock());
  const fromMs = after ? Math.max(sinceMs, after.atMs) : sinceMs;
  const all = name === undefined ? ofAll(context, filter, fromMs) : ofOne(context, { ...filter, name });
  for await (const change of all) if (Date.parse(change.at) >= fromMs && !wasTold(change, after)) yield change;
}

const wasTold = ({ at, id }: ChangeView, after: ChangeCursor | undefined): boolean => {
  const atMs = Date.parse(at);
  return after !== undefined && (atMs < after.atMs || (atMs === after.atMs && id <= after.id));
};

const inOrder = (one: ChangeView, other: ChangeView): number => (one.at === other.at ? (one.id < other.id ? -1 : 1) : one.at < other.at ? -1 : 1);

async function* ofOne(context: QueryContext, query: AutoscalerQuery): AsyncGenerator<ChangeView> {
  const { ref, record } = await placeOf(context, query);
  const all: readonly ChangeRecord[] = await toArray(changesOf(context.tables, ref));
  if (!record && all.length === 0) await findAutoscaler(context, query);
  yield* all.map((change) => changeView(change, madeOf(change, all, record))).toSorted(inOrder);
}

/** The ref of an existing or deleted autoscaler. A deleted one is found by its full name, or by NAMESPACE/NAME when there is only one cluster. */
const placeOf = async (context: QueryContext, query: AutoscalerQuery) => {
  try {
    const { record } = await findAutoscaler(context, query);
    return { ref: record, record: record as AutoscalerRecord | undefined };
  } catch (error) {
    const wanted = splitName(query);
    const [cluster, ...more] = wanted.namespace === undefined ? [] : await clustersNamed(context, wanted.cluster);
    if (!isTidemarkError(error, "service.unknown") || !cluster || more.length > 0) throw error;
    if (!sees(context, cluster.name, wanted.namespace)) throw error;
    return { ref: { cluster: cluster.name, namespace: namespace(wanted.namespace ?? ""), name: autoscalerName(wanted.name) }, record: undefined };
  }
};

async function* ofAll(context: QueryContext, filter: Pick<ChangeQuery, "cluster" | "namespace">, sinceMs: number): AsyncGenerator<ChangeView> {
  const isAll = filter.namespace === undefined && filter.cluster === undefined && sees(context);
  const fleet = opened(isAll ? FLEET_SCOPES.map(([scope, name]) => ofScope(context, scope, name, sinceMs)) : []);
  // Its failure is thrown below, also where the clusters fail first.
  fleet.catch(() => undefined);
  const clusters = await clustersOf(context, filter.cluster);
  const autoscalers = clusters.map(({ name }) => ofAutoscalers(context, name, { sinceMs, inside: filter.namespace }));
  // A change of a cluster shows its connection and all namespaces that its partitions name.
  const whole = filter.namespace === undefined ? clusters.filter(({ name }) => sees(context, name)) : [];
  const scopes = whole.flatMap((cluster) => ofScopes(context, cluster, sinceMs));
  yield* merged([...(await fleet), ...(await opened([...scopes, ...autoscalers]))]);
}

const FLEET_SCOPES = [
  ["fleet", "fleet"],
  ["access", "access"],
  ["source", "sources"],
] as const;

/** A removed cluster is still found by its name. */
const clustersOf = async (context: QueryContext, name: string | undefined): Promise<readonly Pick<ClusterRecord, "name" | "partitions">[]> => {
  try {
    return await clustersNamed(context, name);
  } catch (error) {
    if (name === undefined || !isTidemarkError(error, "service.unknown")) throw error;
    // The history of a removed cluster is for callers with a right on all of it.
    if (!sees(context, name)) throw error;
    const gone = { name: clusterName(name), partitions: [] };
    for await (const _any of ofScope(context, "cluster", name, 0)) return [gone];
    throw error;
  }
};

async function* ofAutoscalers(
  context: QueryContext,
  cluster: ClusterName,
  { sinceMs, inside }: { readonly sinceMs: number; readonly inside: string | undefined },
): AsyncGenerator<ChangeView> {
  for await (const change of changesOfCluster(context.tables, cluster, sinceMs))
    if ((inside === undefined || change.namespace === inside) && sees(context, cluster, change.namespace)) yield changeView(change);
}

const ofScopes = (context: QueryContext, { name, partitions }: Pick<ClusterRecord, "name" | "partitions">, sinceMs: number) => [
  ofScope(context, "cluster", name, sinceMs),
  ...partitions.map((partition) => ofScope(context, "partition", `${name}/${partition.name}`, sinceMs)),
];

async function* ofScope(context: QueryContext, scope: ScopeChangeRecord["scope"], name: string, sinceMs: number): AsyncGenerator<ChangeView> {
  for await (const change of scopeChangesOf(context.tables, { scope, name }, sinceMs)) yield scopeChangeView(change);
}

interface Stream {
  readonly next: ChangeView;
  readonly rest: AsyncGenerator<ChangeView>;
}

const pull = async (rest: AsyncGenerator<ChangeView>): Promise<readonly Stream[]> => {
  const { value, done } = await rest.next();
  return done ? [] : [{ next: value, rest }];
};

const opened = async (streams: readonly AsyncGenerator<ChangeView>[]): Promise<readonly Stream[]> =>
  (await mapWithLimit(streams, REQUESTS_AT_ONCE, pull)).flat();

/** Merges sorted streams into one. It holds one item of each. */
async function* merged(streams: readonly Stream[]): AsyncGenerator<ChangeView> {
  let sources = streams;
  while (sources.length > 0) {
    sources = sources.toSorted((one, other) => inOrder(one.next, other.next));
    const [first, ...others] = sources;
    if (!first) return;
    yield first.next;
    sources = [...others, ...(await pull(first.rest))];
  }
}
