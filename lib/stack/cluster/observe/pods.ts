import type { Namespace } from "../../../rules/model/ids.ts";
import { type LabelIndex, labelIndex } from "../../../rules/model/selector.ts";
import type { Answer, ApiFailure, Pod, PodMetrics } from "../../../rules/model/observation.ts";
import type { MetricQuery } from "../../../rules/model/query.ts";
import { asObject, asText, type Json } from "../../../rules/model/json.ts";
import type { Asking } from "../../../rules/sources/source.ts";
import { isTooLarge, passedOverFailure } from "../list.ts";
import { inNamespace, segment } from "../discovery.ts";
import { readPod, POD_LIST, POD_METRICS_LIST } from "../read/pods.ts";
import type { CallBudget } from "../transport/budget.ts";
import type { WireKind } from "../wire/message.ts";
import { keyOfObject } from "./followed-lists.ts";
import { listScope, covers, type Scope, type ScopeRead, scopesFor } from "./scopes.ts";
import type { Observing } from "./workloads.ts";
import type { Listed } from "../read-page.ts";

/**
 * The answers by namespace. A namespace that was not requested is absent, and a heavy one until it
 * is read.
 */
export type ByNamespace<Item> = ReadonlyMap<Namespace, Answer<LabelIndex<Item>>>;

/**
 * Reads the pods of these namespaces, with the fields that rules use. It ends when those are read
 * that all namespaces share. Heavy ones are added as they come. `missing`: how many pods of each
 * target its workload counts that are not among the answers.
 *
 * A watch shows its changes a moment after they are made. So where it has left out pods that a
 * workload counts, all are listed: rules that see too few of the pods would shrink the workload.
 */
export const observePods = async (
  observing: Observing,
  namespaces: ReadonlySet<Namespace>,
  missing: (pods: ByNamespace<Pod>) => ReadonlyMap<string, number>,
): Promise<ByNamespace<Pod>> => {
  const { followed, uncounted } = observing.memory;
  const read = async (): Promise<Followable<ByNamespace<Pod>>> => {
    let isFollowed = false;
    const items = await byNamespace(observing, namespaces, ({ namespace }) => ({
      path: `/api/v1${inNamespace(namespace)}/pods`,
      resource: "pods",
      protobuf: POD_LIST,
      convert: readPod,
      lasting: {
        onFollowed: () => {
          isFollowed = true;
        },
      },
    }));
    return { items, isFollowed };
  };
  const listed = ({ items }: Followable<ByNamespace<Pod>>): ByNamespace<Pod> => {
    uncounted.clear();
    if (followed.isFollowed(PODS)) for (const each of missing(items)) uncounted.set(...each);
    return items;
  };
  const first = await read();
  if (!first.isFollowed) return listed(first);
  const isWhole = [...missing(first.items)].every(
    ([target, pods]) => pods <= (uncounted.get(target) ?? 0),
  );
  if (isWhole) return first.items;
  followed.forget(PODS);
  return listed(await read());
};

const PODS = "/api/v1/pods";

interface Followable<Items> {
  readonly items: Items;
  /** True where a watch has told what is new. */
  readonly isFollowed: boolean;
}

type PodMetricsAsking = Extract<Asking<MetricQuery>, { readonly way: "list" }>;

/**
 * Reads the PodMetrics of these namespaces. metrics-server ignores the limit and answers in one
 * piece.
 */
export const listPodMetrics = async (
  observing: Observing,
  asking: PodMetricsAsking,
  namespaces: ReadonlySet<Namespace>,
): Promise<ByNamespace<PodMetrics>> => {
  if (namespaces.size === 0) return new Map();
  const { group, versions } = asking.request;
  const base = await listBase(observing, group, versions);
  const answers = await podMetricsAt(observing, asking, { namespaces, base });
  if (!isAbsent(answers)) return answers;
  forgetVersion(observing, group);
  const other = await listBase(observing, group, versions);
  // Asked again only where discovery names another version. Otherwise the 404 stands, and a metric
  // that is missing lets nothing shrink.
  return other === base ? answers : podMetricsAt(observing, asking, { namespaces, base: other });
};

const podMetricsAt = (
  observing: Observing,
  { request, read }: PodMetricsAsking,
  { namespaces, base }: { readonly namespaces: ReadonlySet<Namespace>; readonly base: string },
): Promise<ByNamespace<PodMetrics>> =>
  byNamespace(observing, namespaces, ({ namespace }) => ({
    path: `${base}${inNamespace(namespace)}/${request.path.map(segment).join("/")}`,
    resource: `${request.resource}.${request.group}`,
    protobuf: POD_METRICS_LIST,
    paged: false,
    convert: read,
  }));

const isAbsent = (answers: ByNamespace<PodMetrics>): boolean =>
  [...answers.values()].some((answer) => answer.kind === "failed" && answer.failure.code === 404);

interface PodList<Item> {
  readonly path: string;
  readonly resource: string;
  readonly protobuf: WireKind;
  readonly paged?: boolean;
  readonly convert: (raw: Json) => Item | undefined;
  /**
   * An object stays the same for many syncs. Objects of metrics-server are new each time.
   * `onFollowed` is called where only what has changed was read.
   */
  readonly lasting?: { readonly onFollowed: () => void };
}

type Labelled = { readonly labels: Readonly<Record<string, string>> };

const byNamespace = async <Item extends Labelled>(
  observing: Observing,
  namespaces: ReadonlySet<Namespace>,
  source: (scope: Scope) => PodList<Item>,
): Promise<ByNamespace<Item>> => {
  const answers = new Map<Namespace, Answer<LabelIndex<Item>>>();
  const read = async (scope: Scope, budget: CallBudget): Promise<void> => {
    const podList = source(scope);
    const coveredBy = (of: Scope) =>
      new Set([...namespaces].filter((namespace) => covers(of, namespace)));
    const gathering: Gathering<Item> = { gathered: new Map(), shown: shownInOrder() };
    const { listed, ...whole } = await listInto(
      { ...observing, budget },
      { podList, whole: source({}).path, scope },
      coveredBy(scope),
      gathering,
    );
    readLate(whole.heavy);
    const covered = coveredBy(whole.scope);
    // One tenant's objects may be more than an answer may have, and no page can be smaller. Each
    // namespace is then read, or fails, by itself.
    if (
      listed.kind === "failed" &&
      isTooLarge(listed.failure) &&
      podList.paged === false &&
      scope.namespace === undefined
    ) {
      await Promise.all([...covered].map((namespace) => read({ namespace }, budget)));
      return;
    }
    const failureOf = failures(podList.resource, listed, gathering);
    for (const namespace of covered) {
      const failure = failureOf(namespace);
      answers.set(
        namespace,
        failure
          ? { kind: "failed", failure }
          : { kind: "answered", items: labelIndex(gathering.gathered.get(namespace) ?? []) },
      );
    }
  };
  const readLate = (heavy: readonly Scope[]): void => {
    for (const scope of heavy)
      if (scope.namespace !== undefined && namespaces.has(scope.namespace))
        observing.calls.listLate(scope.namespace, (budget) => read(scope, budget));
  };
  const scopes = scopesFor(
    namespaces,
    observing.limits,
    observing.memory.heavy.of(source({}).path),
  );
  readLate(scopes.filter(({ isHeavy }) => isHeavy));
  await Promise.all(
    scopes.filter(({ isHeavy }) => !isHeavy).map((scope) => read(scope, observing.budget)),
  );
  return answers;
};

/**
 * Why the objects of a namespace are not all read. On doubt, the metric is missing: a pod that was
 * passed over may be one of any autoscaler of its namespace. The other namespaces are whole.
 */
const failures = (
  resource: string,
  listed: Listed<unknown>,
  { shown }: Pick<Gathering<unknown>, "shown">,
): ((namespace: Namespace) => ApiFailure | undefined) => {
  if (listed.kind === "failed")
    return (namespace) => (shown.whole(namespace) ? undefined : listed.failure);
  const passedOver = new Map(listed.passedOver.map((object) => [object.namespace, object]));
  return (namespace) => {
    const unread = passedOver.get(namespace);
    return unread && passedOverFailure(resource, unread);
  };
};

/**
 * The namespaces that a LIST has shown completely when it fails between two pages. Pages are in
 * order of namespace and name: after an object of the next namespace, the one before is complete. A
 * LIST that returns to a namespace has another order, so that none counts as complete.
 */
const shownInOrder = (): {
  readonly begin: () => void;
  readonly see: (namespace: string) => void;
  readonly whole: (namespace: string) => boolean;
} => {
  const past = new Set<string>();
  let current: string | undefined;
  let ordered = true;
  return {
    begin: () => {
      past.clear();
      current = undefined;
      ordered = true;
    },
    see: (namespace) => {
      if (namespace === current) return;
      if (current !== undefined) past.add(current);
      if (past.has(namespace)) ordered = false;
      current = namespace;
    },
    whole: (namespace) => ordered && past.has(namespace),
  };
};

interface Gathering<Item> {
  readonly gathered: Map<string, Item[]>;
  readonly shown: ReturnType<typeof shownInOrder>;
}

/** An object with its namespace; without an item where nothing is asked about the namespace. */
interface Placed<Item> {
  readonly namespace: string;
  /** Its place in a LIST (keyOfObject). */
  readonly key: string;
  readonly item?: Item;
}

/**
 * Adds each object to the list of its namespace when its page arrives. Objects of other namespaces
 * are not converted. Of a LIST that is followed only the changes are read.
 */
const listInto = async <Item>(
  observing: Observing,
  {
    podList,
    ...of
  }: { readonly podList: PodList<Item>; readonly whole: string; readonly scope: Scope },
  namespaces: ReadonlySet<string>,
  { gathered, shown }: Gathering<Item>,
): Promise<ScopeRead<Placed<Item>>> => {
  const { path, resource, protobuf, paged, convert, lasting } = podList;
  const { memory, session } = observing;
  const read = (raw: Json): Placed<Item> => {
    const metadata = asObject(raw["metadata"]);
    const namespace = asText(metadata["namespace"]);
    const item = namespaces.has(namespace) ? convert(raw) : undefined;
    return { namespace, key: keyOfObject(metadata), ...(item && { item }) };
  };
  const isSame = ({ namespace, item }: Placed<Item>): boolean =>
    namespaces.has(namespace) === (item !== undefined);
  const onPage = (objects: readonly Placed<Item>[]): void => {
    for (const { namespace, item } of objects) {
      shown.see(namespace);
      if (item === undefined) continue;
      const known = gathered.get(namespace);
      if (known) known.push(item);
      else gathered.set(namespace, [item]);
    }
  };
  const isOfAll = ({ namespace, without }: Scope): boolean =>
    namespace === undefined && without === undefined;
  const mayFollow = lasting !== undefined && isOfAll(of.scope);
  const objects =
    mayFollow &&
    (await memory.followed.follow(
      session.transport,
      { path, resource, protobuf, read, isSame },
      observing.budget,
    ));
  if (objects) {
    lasting?.onFollowed();
    onPage(objects);
    return { listed: { ...WHOLE_LIST, items: [] }, scope: of.scope, heavy: [] };
  }
  const seen = new Map<string, Placed<Item>>();
  const { budget, parts } = countingParts(observing.budget);
  const scopeRead = await listScope<Placed<Item>>(
    observing,
    of,
    {
      path,
      resource,
      protobuf,
      ...(paged !== undefined && { paged }),
      ...(lasting && { unchanged: { begin: () => memory.unchanged.begin(path), isSame } }),
      begin: () => {
        gathered.clear();
        shown.begin();
        seen.clear();
      },
      read,
      onPage: (page) => {
        onPage(page);
        if (mayFollow) for (const object of page) seen.set(object.key, object);
      },
    },
    budget,
  );
  const { listed, scope } = scopeRead;
  if (mayFollow && isOfAll(scope) && listed.kind === "listed" && listed.version !== undefined)
    if (listed.complete && listed.passedOver.length === 0)
      memory.followed.keep(path, { version: listed.version, objects: seen, parts: parts() });
  return scopeRead;
};

const WHOLE_LIST = { kind: "listed", complete: true, remaining: 0, passedOver: [] } as const;

/** The same budget, and the values of answers that were kept of it since. */
const countingParts = (
  budget: CallBudget,
): { readonly budget: CallBudget; readonly parts: () => number } => {
  let parts = 0;
  return {
    parts: () => parts,
    budget: {
      ...budget,
      keep: (more) => {
        const isKept = budget.keep(more);
        if (isKept) parts += more;
        return isKept;
      },
      free: (fewer) => {
        parts -= fewer;
        budget.free(fewer);
      },
    },
  };
};

/** The newest version of a group that both sides know. */
export const newestOf = (known: readonly string[], served: readonly string[]): string | undefined =>
  known.find((version) => served.includes(version));

/**
 * The path of the newest served version of a group whose objects are listed. Discovery is asked
 * once for a warm client. While discovery fails or shows no such group the oldest version is asked,
 * so that a missing API fails with the answer of its server.
 */
const listBase = async (
  { session, budget, memory }: Observing,
  group: string,
  versions: readonly string[],
): Promise<string> => {
  const known = memory.metricVersions.get(group);
  if (known !== undefined) return `/apis/${group}/${known}`;
  const served = await session.discovery.groupVersions(group, budget);
  const newest = served.kind === "found" ? newestOf(versions, served.value) : undefined;
  if (newest !== undefined) memory.metricVersions.set(group, newest);
  return `/apis/${group}/${newest ?? versions.at(-1)}`;
};

/**
 * Forgets the version after a 404: its server was replaced by one of another version. Discovery is
 * asked again.
 */
const forgetVersion = ({ session, memory }: Observing, group: string): void => {
  if (memory.metricVersions.delete(group)) session.discovery.forget(group);
};
