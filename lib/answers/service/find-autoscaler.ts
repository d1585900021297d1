import { TidemarkError } from "../../rules/model/errors.ts";
import {
  type AutoscalerRef,
  autoscalerName,
  type ClusterName,
  clusterName,
  type Namespace,
  namespace,
} from "../../rules/model/ids.ts";
import { nearestName } from "../../rules/model/nearest-name.ts";
import type { AutoscalerRecord, ClusterRecord, FleetRecord } from "../../rules/model/records.ts";
import {
  type AutoscalerItem,
  getAutoscalers,
  type ListPart,
  listAutoscalers,
} from "../../stack/store/records/autoscalers.ts";
import { isLately, wasEditedLately } from "../../stack/store/head/head.ts";
import {
  type ClusterItem,
  getCluster,
  getFleet,
  listClusters,
  readFleet,
} from "../../stack/store/records/clusters.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import { type AheadOne, type QueryContext, sees, touches } from "./context.ts";
import { knownNames } from "./known-partitions.ts";
import type { AutoscalerQuery } from "./service.ts";
import { invalid, unknown } from "./refusals.ts";

export interface LocatedAutoscaler {
  readonly cluster: ClusterRecord;
  readonly record: AutoscalerRecord;
}

/** Matches that the message about an ambiguous name shows. */
const SHOWN_MATCHES = 4;

/**
 * Splits "web", "shop/web" or "eu-1/shop/web". Parts of the path win over `namespace` and
 * `cluster`.
 */
export const splitName = ({ name, ...filter }: AutoscalerQuery): AutoscalerQuery => {
  const path = name.split("/");
  if (path.length > 3 || path.some((part) => part === "")) {
    throw invalid(
      `Cannot read the name "${name}": wanted NAME, NAMESPACE/NAME or CLUSTER/NAMESPACE/NAME`,
      { name },
    );
  }
  const [last = "", inNamespace, inCluster] = path.toReversed();
  return {
    ...filter,
    name: last,
    ...(inNamespace === undefined ? {} : { namespace: inNamespace }),
    ...(inCluster === undefined ? {} : { cluster: inCluster }),
  };
};

const readable = (item: ClusterItem): ClusterRecord => {
  if (item.kind === "read") return item.record;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read cluster "${item.name}": ${item.message}`,
    { cluster: item.name },
  );
};

/**
 * Every cluster, or the one with this name. Throws `service.unknown` with the nearest name,
 * `store.unreadable`.
 */
export const clustersNamed = async (
  context: QueryContext,
  name: string | undefined,
): Promise<readonly ClusterRecord[]> =>
  name === undefined
    ? (await listed(context)).filter((item) => touches(context, nameOf(item))).map(readable)
    : [await findCluster(context, name)];

/** The clusters as they were read ahead, where they were. */
const listed = async ({ ahead, tables }: QueryContext) =>
  ahead?.fleet ? (await ahead.fleet).clusters : Array.fromAsync(listClusters(tables));

/** What an answer of many autoscalers reads first. */
interface Asked {
  /** Throws `store.unreadable`. */
  readonly fleet: () => FleetRecord | Promise<FleetRecord>;
  readonly clusters: readonly ClusterRecord[];
  /**
   * A person may have edited an autoscaler so lately that an eventual read of a head could miss it.
   */
  readonly isEdited: boolean;
}

interface Asking {
  /** Only clusters after this one are wanted. */
  readonly after?: string;
  /**
   * False where the newest edit does not matter, which costs a request where one cluster is named.
   */
  readonly needsEdits?: boolean;
}

/**
 * The fleet and every cluster in one request; or the one cluster that is named. Throws
 * `service.unknown` with the nearest name, `store.unreadable`.
 */
export const fleetNamed = async (
  context: QueryContext,
  name: string | undefined,
  { after = "", needsEdits = true }: Asking = {},
): Promise<Asked> => {
  const { tables } = context;
  if (name !== undefined) {
    const [cluster, isEdited] = await Promise.all([
      findCluster(context, name),
      needsEdits && wasEditedLately(tables),
    ]);
    return {
      fleet: () => getFleet(tables),
      clusters: cluster.name > after ? [cluster] : [],
      isEdited,
    };
  }
  const { fleet, clusters, editedMs } = await (after === ""
    ? (context.ahead?.fleet ?? readFleet(tables))
    : readFleet(tables, after));
  return {
    fleet,
    clusters: clusters.filter((item) => touches(context, nameOf(item))).map(readable),
    isEdited: isLately(tables, editedMs),
  };
};

const nameOf = (item: ClusterItem): string => (item.kind === "read" ? item.record.name : item.name);

export const findCluster = async (
  context: QueryContext,
  name: string,
  ahead?: AheadOne,
): Promise<ClusterRecord> => {
  // Read in any case, so that an answer takes as long for the name of another tenant as for no
  // name.
  const item = await (ahead?.cluster ?? getCluster(context.tables, clusterName(name)));
  if (item && touches(context, name)) return item;
  const known = (await Array.fromAsync(listClusters(context.tables)))
    .map(nameOf)
    .filter((cluster) => touches(context, cluster));
  throw notFound(`cluster "${name}"`, name, known);
};

/**
 * Begins the reads of an autoscaler by its whole name; `undefined` where the name leaves its
 * cluster or its namespace out.
 */
export const readAhead = (tables: Tables, query: AutoscalerQuery): AheadOne | undefined => {
  const { cluster, namespace: inside, name } = splitName(query);
  if (cluster === undefined || inside === undefined) return undefined;
  const record = { name: clusterName(cluster) };
  const ahead = {
    path: `${cluster}/${inside}/${name}`,
    cluster: getCluster(tables, record.name),
    items: getAutoscalers(tables, [refIn(record, namespace(inside), name)]),
  };
  // Where the cluster or the caller is refused, nobody asks for them any more.
  ahead.cluster.catch(() => undefined);
  ahead.items.catch(() => undefined);
  return ahead;
};

const aheadOf = ({ ahead, tables }: QueryContext, query: AutoscalerQuery): AheadOne | undefined => {
  const { cluster, namespace: inside, name } = splitName(query);
  const { one } = ahead ?? {};
  return one?.path === `${cluster}/${inside}/${name}` ? one : readAhead(tables, query);
};

/**
 * Finds the autoscaler with this name. With its namespace, its item of each cluster is read, a
 * hundred to a request; without, the indexes of names are, and then the items of that name. Throws
 * `service.unknown` with the nearest name, `service.ambiguous` with the matches,
 * `store.unreadable`.
 */
export const findAutoscaler = async (
  context: QueryContext,
  query: AutoscalerQuery,
): Promise<LocatedAutoscaler> => {
  const wanted = splitName(query);
  const inside = optionalNamespace(wanted.namespace);
  // With cluster and namespace the name is read directly, as a rule.
  const ahead = aheadOf(context, query);
  const { clusters, isEdited } =
    ahead && wanted.cluster !== undefined
      ? { clusters: [await findCluster(context, wanted.cluster, ahead)], isEdited: true }
      : await fleetNamed(context, wanted.cluster);
  const refs =
    inside === undefined ? [] : clusters.map((cluster) => refIn(cluster, inside, wanted.name));
  const direct = await located(context, clusters, refs, ahead?.items);
  if (direct.length === 1 && direct[0]) return direct[0];
  const names =
    direct.length > 1 ? [] : await knownNames(context, clusters, { inside, consistent: isEdited });
  const named = names.filter(({ name }) => name === wanted.name);
  const matches = direct.length > 1 ? direct : await located(context, clusters, named);
  if (matches.length === 1 && matches[0]) return matches[0];
  if (matches.length > 1) throw ambiguous(wanted.name, matches);
  throw notFound(
    `autoscaler "${wanted.name}"${scopeText(wanted)}`,
    wanted.name,
    new Set(names.map(({ name }) => name)),
  );
};

const refIn = (
  { name: cluster }: Pick<ClusterRecord, "name">,
  inside: Namespace,
  name: string,
): AutoscalerRef => {
  return { cluster, namespace: inside, name: autoscalerName(name) };
};

const located = async (
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  refs: readonly AutoscalerRef[],
  ahead?: ReturnType<typeof getAutoscalers>,
): Promise<readonly LocatedAutoscaler[]> => {
  const visible = refs.filter(({ cluster, namespace: inside }) => sees(context, cluster, inside));
  const items =
    visible.length === 0 ? [] : await (ahead ?? getAutoscalers(context.tables, visible));
  const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]));
  return visible.flatMap((ref, at) => {
    const [item, cluster] = [items[at], byName.get(ref.cluster)];
    return item && cluster ? [{ cluster, record: mustRead(ref.cluster, item) }] : [];
  });
};

/** The autoscalers of a cluster or a namespace that the caller may look at. */
export async function* visibleAutoscalers(
  ...[context, cluster, inside, part]: Listing
): AsyncGenerator<AutoscalerItem> {
  for await (const item of listAutoscalers(context.tables, cluster, inside, part))
    if (sees(context, cluster, item.kind === "read" ? item.record.namespace : item.namespace))
      yield item;
}

type Listing = [
  context: QueryContext,
  cluster: ClusterName,
  inside?: Namespace | undefined,
  part?: ListPart,
];

export const optionalNamespace = (text: string | undefined): Namespace | undefined =>
  text === undefined ? undefined : namespace(text);

/**
 * The record of an item. Only the name of an unreadable item is known: throws `store.unreadable`.
 */
export const mustRead = (cluster: string, item: AutoscalerItem): AutoscalerRecord => {
  if (item.kind === "read") return item.record;
  const { namespace: inNamespace, name, message } = item;
  const words = `Cannot read autoscaler "${inNamespace}/${name}" in cluster "${cluster}": ${message}`;
  throw new TidemarkError("store.unreadable", words, { cluster, namespace: inNamespace, name });
};

const scopeText = ({ namespace: inNamespace, cluster }: AutoscalerQuery): string =>
  `${inNamespace === undefined ? "" : ` in namespace "${inNamespace}"`}${cluster === undefined ? "" : `${inNamespace === undefined ? " in" : " of"} cluster "${cluster}"`}`;

const notFound = (what: string, name: string, known: Iterable<string>): TidemarkError => {
  const near = nearestName(name, known);
  return unknown(
    `Cannot find ${what}: ${near === undefined ? "no object has that name" : `the nearest name is "${near}"`}`,
    { name, nearest: near },
  );
};

const ambiguous = (name: string, matches: readonly LocatedAutoscaler[]): TidemarkError => {
  const paths = matches.map(({ record }) => `${record.cluster}/${record.namespace}/${record.name}`);
  const shown = paths.slice(0, SHOWN_MATCHES).map((path) => `"${path}"`);
  const more = paths.length > SHOWN_MATCHES ? ` and ${paths.length - SHOWN_MATCHES} more` : "";
  const words = `it is one of ${shown.join(", ")}${more}; give its namespace or cluster`;
  return new TidemarkError("service.ambiguous", `Cannot choose autoscaler "${name}": ${words}`, {
    name,
    matches: paths,
  });
};
