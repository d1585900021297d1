import type { TidemarkError } from "../../../rules/model/errors.ts";
import {
  type AutoscalerRef,
  autoscalerName,
  clusterName,
  namespace,
} from "../../../rules/model/ids.ts";
import type { Override, OverrideScope } from "../../../rules/model/override.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../../rules/model/records.ts";
import type { Head } from "../../../stack/store/head/head.ts";
import { getAutoscalers } from "../../../stack/store/records/autoscalers.ts";
import { getFleet } from "../../../stack/store/records/clusters.ts";
import { statedIn } from "../../../stack/store/summary/summary-items.ts";
import type { OverrideView } from "../../views/holds.ts";
import { type QueryContext, sees } from "../context.ts";
import {
  clustersNamed,
  fleetNamed,
  findAutoscaler,
  findCluster,
  optionalNamespace,
} from "../find-autoscaler.ts";
import { type Heads, headsOf } from "../views/cluster-of.ts";
import { type OverridePlace, overrideView } from "../views/holds-view.ts";
import { knownNames } from "../known-partitions.ts";
import type { NewOverride, OverrideCursor, OverrideListQuery } from "../requests.ts";
import { invalid, unknown } from "../refusals.ts";
import { present } from "../../../rules/model/json.ts";

/**
 * The place that a new override is for. Throws `service.invalid`, `service.unknown`,
 * `service.ambiguous`.
 */
export const placeOf = async (
  context: QueryContext,
  { name, fleet, cluster, namespace: inside }: NewOverride,
): Promise<OverridePlace> => {
  if (fleet) {
    if (name === undefined && cluster === undefined && inside === undefined)
      return { scope: "fleet" };
    throw invalid(
      "Cannot set an override: it is for the fleet, and names a part of it; give one of them",
    );
  }
  if (name !== undefined) {
    const { record } = await findAutoscaler(context, present({ name, cluster, namespace: inside }));
    return {
      scope: "autoscaler",
      cluster: record.cluster,
      namespace: record.namespace,
      name: record.name,
    };
  }
  if (cluster === undefined && inside === undefined)
    throw invalid(
      "Cannot set an override: give an autoscaler, a namespace, a cluster, or all of the fleet",
    );
  const found = await oneCluster(context, cluster);
  return inside === undefined
    ? { scope: "cluster", cluster: found.name }
    : { scope: "namespace", cluster: found.name, namespace: inside };
};

const oneCluster = async (
  context: QueryContext,
  name: string | undefined,
): Promise<ClusterRecord> => {
  if (name !== undefined) return findCluster(context, name);
  const [first, ...more] = await clustersNamed(context, undefined);
  if (first && more.length === 0) return first;
  throw invalid(
    `Cannot choose a cluster of ${more.length + (first ? 1 : 0)}: name the one that the namespace is in`,
  );
};

/** An override where it is stored. */
export interface LocatedOverride {
  readonly place: OverridePlace;
  readonly override: Override;
}

/** Autoscalers that are read at once, a hundred to a request. */
const READ_TOGETHER = 1_600;

/** The first letter of an id says in which item it is, so that no other is read. */
const LETTERS: Readonly<Record<OverrideScope, string>> = {
  fleet: "f",
  cluster: "c",
  namespace: "n",
  autoscaler: "a",
};
const ID_CHARACTERS = 10;

export const newOverrideId = (scope: OverrideScope, uid: string): string =>
  `${LETTERS[scope]}-${uid.replaceAll("-", "").slice(-ID_CHARACTERS)}`;

/** Finds an override that the caller may see by its id. Throws `service.unknown`. */
export const findOverride = async (
  context: QueryContext,
  id: string,
  cluster?: string,
): Promise<LocatedOverride> => {
  for await (const located of locatedAt(context, id, cluster))
    if (located.override.id === id) return located;
  throw unknownOverride(id);
};

async function* locatedAt(
  context: QueryContext,
  id: string,
  cluster: string | undefined,
): AsyncGenerator<LocatedOverride> {
  const letter = id.split("-")[0];
  if (letter === LETTERS.fleet) {
    yield* ofFleet(await getFleet(context.tables));
    return;
  }
  const { clusters, isEdited } = await fleetNamed(context, cluster);
  if (letter === LETTERS.autoscaler)
    for await (const located of ofAutoscalers(context, clusters, { isEdited })) yield* located;
  else for (const record of clusters) yield* ofCluster(context, record);
}

export const unknownOverride = (id: string): TidemarkError =>
  unknown(
    `Cannot find override "${id}": none has this id, or it was cleared; tidemark override list --all shows what is stored`,
    {
      name: id,
      nearest: undefined,
    },
  );

export const ofFleet = ({
  overrides: own = [],
}: {
  readonly overrides?: readonly Override[];
}): readonly LocatedOverride[] => own.map((override) => ({ place: { scope: "fleet" }, override }));

/**
 * Overrides of all of the cluster are for every caller that sees some part of it, because they
 * meet that part.
 */
export const ofCluster = (
  context: QueryContext,
  { name, overrides: own = [] }: ClusterRecord,
): readonly LocatedOverride[] =>
  own
    .filter(({ namespace: inside }) => inside === undefined || sees(context, name, inside))
    .map((override) => ({
      place:
        override.namespace === undefined
          ? { scope: "cluster", cluster: name }
          : { scope: "namespace", cluster: name, namespace: override.namespace },
      override,
    }));

/**
 * The overrides that are stored with autoscalers, for each cluster in its turn. The indexes of
 * names say which have some, and only these are read.
 */
async function* ofAutoscalers(
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  { inside, isEdited }: { readonly inside?: string | undefined; readonly isEdited: boolean },
): AsyncGenerator<readonly LocatedOverride[]> {
  const names = await knownNames(context, clusters, {
    ...{ inside: optionalNamespace(inside), consistent: isEdited, withOverrides: true },
  });
  const byCluster = Map.groupBy(names, ({ cluster }) => cluster);
  for (let at = 0; at < clusters.length; ) {
    const [group, refs] = together(clusters.slice(at), byCluster);
    at += group.length;
    const items = await getAutoscalers(context.tables, refs);
    // One that was deleted meanwhile, or cannot be read, has none to show.
    const records = items.flatMap((item) => (item?.kind === "read" ? [item.record] : []));
    const found = Map.groupBy(records, ({ cluster }) => cluster);
    for (const { name } of group) yield (found.get(name) ?? []).flatMap(ofAutoscaler);
  }
}

/** Clusters whose autoscalers are read together: so many as take one round of requests. */
const together = (
  clusters: readonly ClusterRecord[],
  byCluster: ReadonlyMap<string, readonly AutoscalerRef[]>,
): readonly [readonly ClusterRecord[], readonly AutoscalerRef[]] => {
  const refs: AutoscalerRef[] = [];
  for (const [at, { name }] of clusters.entries()) {
    const own = byCluster.get(name) ?? [];
    if (at > 0 && refs.length + own.length > READ_TOGETHER) return [clusters.slice(0, at), refs];
    refs.push(...own);
  }
  return [clusters, refs];
};

export const ofAutoscaler = ({
  cluster,
  namespace: inside,
  name,
  overrides: own = [],
}: AutoscalerRecord): readonly LocatedOverride[] =>
  own.map((override) => ({
    place: { scope: "autoscaler", cluster, namespace: inside, name },
    override,
  }));

/**
 * Lists the overrides that meet a part of the fleet, the wider ones too, also overrides that are
 * ahead or, unless the query leaves them out, expired: first the fleet's, then cluster by cluster.
 * Throws `service.unknown`.
 */
export async function* overrides(
  context: QueryContext,
  query: OverrideListQuery,
  after?: OverrideCursor,
): AsyncGenerator<OverrideView> {
  const nowMs = context.clock();
  const named =
    query.name === undefined
      ? undefined
      : (await findAutoscaler(context, { ...query, name: query.name })).record;
  const wanted: Wanted = {
    ...query,
    ...(named && { cluster: named.cluster, namespace: named.namespace, named }),
  };
  const viewsOf = (found: readonly LocatedOverride[]): readonly OverrideView[] =>
    found
      .map(({ place, override }) => overrideView(place, override, nowMs))
      .filter(({ state }) => query.expired !== "no" || state !== "expired");
  if (after?.cluster === undefined)
    yield* inOrder(viewsOf(ofFleet(await getFleet(context.tables))), after);
  const { clusters: all, isEdited } = await fleetNamed(context, wanted.cluster);
  const clusters = all.filter(({ name }) => after?.cluster === undefined || name >= after.cluster);
  for await (const { cluster, own } of ownOverrides(context, clusters, { ...wanted, isEdited })) {
    const found = [...besideAutoscalers(context, cluster, wanted.namespace), ...own];
    yield* inOrder(viewsOf(found), cluster.name === after?.cluster ? after : undefined);
  }
}

/** The overrides of the wanted autoscalers of each cluster. */
async function* ownOverrides(
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  { named, expired, namespace: inside, isEdited }: Wanted & { readonly isEdited: boolean },
): AsyncGenerator<{ readonly cluster: ClusterRecord; readonly own: readonly LocatedOverride[] }> {
  if (named) {
    for (const cluster of clusters) yield { cluster, own: ofAutoscaler(named) };
    return;
  }
  // Of all clusters where expired ones are wanted, because no head counts these.
  const isAsked =
    expired === "no"
      ? mayHaveOverrides(await headsOf(context, clusters, isEdited))
      : (): boolean => true;
  const read = ofAutoscalers(context, clusters.filter(isAsked), { inside, isEdited });
  for (const cluster of clusters) {
    const { value } = isAsked(cluster) ? await read.next() : { value: [] };
    yield { cluster, own: value ?? [] };
  }
}

interface Wanted extends OverrideListQuery {
  readonly named?: AutoscalerRecord;
}

const mayHaveOverrides =
  (heads: Heads) =>
  ({ name, partitions }: ClusterRecord): boolean =>
    !partitions.every((partition) => hasNoOverride(heads.get(`${name}/${partition.name}`)));

/**
 * True where the head says that no autoscaler has an override that has not ended, and no edit came
 * since.
 */
export const hasNoOverride = (head: Head | undefined): boolean => {
  const stated = head && statedIn(head);
  return (
    stated !== undefined && stated.overridden === 0 && stated.specVersion === head?.specVersion
  );
};

/** True where it says that none has a pause either. */
export const hasNoHold = (head: Head | undefined): boolean =>
  hasNoOverride(head) && head !== undefined && statedIn(head)?.paused === 0;

const besideAutoscalers = (
  context: QueryContext,
  cluster: ClusterRecord,
  inside: string | undefined,
): readonly LocatedOverride[] =>
  ofCluster(context, cluster).filter(
    ({ place }) =>
      place.namespace === undefined || inside === undefined || place.namespace === inside,
  );

const keyOf = ({
  namespace: inside = "",
  name = "",
  id,
}: Pick<OverrideCursor, "namespace" | "name" | "id">): string => `${inside}/${name}/${id}`;

const inOrder = (
  views: readonly OverrideView[],
  after: OverrideCursor | undefined,
): readonly OverrideView[] =>
  views
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    .filter((view) => after === undefined || keyOf(view) > keyOf(after));

export const autoscalerAt = ({
  cluster = "",
  namespace: inside = "",
  name = "",
}: OverridePlace) => ({
  cluster: clusterName(cluster),
  namespace: namespace(inside),
  name: autoscalerName(name),
});
