import type { Namespace } from "../../../rules/model/ids.ts";
import { type LabelIndex, labelIndex } from "../../../rules/model/selector.ts";
import type { Answer } from "../../../rules/model/observation.ts";
import { asObject, asText, type Json } from "../../../rules/model/json.ts";
import { fieldsOf, type Listed } from "../read-page.ts";
import type { CallBudget } from "../transport/budget.ts";
import type { WireKind } from "../wire/message.ts";
import { keyOfObject } from "./followed-lists.ts";
import { listScope, type Scope, type ScopeRead } from "./scopes.ts";
import type { Observing } from "./workloads.ts";

/**
 * The answers by namespace. A namespace that was not requested is absent, and a heavy one until it
 * is read.
 */
export type ByNamespace<Item> = ReadonlyMap<Namespace, Answer<LabelIndex<Item>>>;

export interface PodList<Item> {
  readonly path: string;
  readonly resource: string;
  readonly protobuf: WireKind;
  readonly paged?: boolean;
  readonly convert: (raw: Json) => Item | undefined;
  /**
   * An object stays the same for many syncs, so that changes are added to those of the last LIST.
   * Objects of metrics-server are new each time. `missing` counts objects that must be there.
   */
  readonly lasting?: { readonly missing: (read: ByNamespace<Item>) => ReadonlyMap<string, number> };
}

export type Labelled = { readonly labels: Readonly<Record<string, string>> };

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

export interface Gathering<Item> {
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

export const answerOf = <Item extends Labelled>(
  { gathered }: Pick<Gathering<Item>, "gathered">,
  namespace: Namespace,
): Extract<Answer<LabelIndex<Item>>, { kind: "answered" }> => ({
  kind: "answered",
  items: labelIndex(gathered.get(namespace) ?? []),
});

interface ReadingScope<Item> {
  readonly podList: PodList<Item>;
  readonly whole: string;
  readonly scope: Scope;
}

/**
 * Reads a scope: what has changed since its last LIST, or all of it.
 *
 * A watch shows a change a moment after it is made. So where it has left out objects that must be
 * there, all are listed: rules that see too few of the pods would shrink the workload. What a LIST
 * does not show either is counted by nobody, and is not looked for again.
 */
export const readScope = async <Item extends Labelled>(
  observing: Observing,
  of: ReadingScope<Item>,
  coveredBy: (scope: Scope) => ReadonlySet<Namespace>,
): Promise<ScopeRead<Placed<Item>> & { readonly gathering: Gathering<Item> }> => {
  const gathering: Gathering<Item> = { gathered: new Map(), shown: shownInOrder() };
  const { lasting, path } = of.podList;
  const covered = coveredBy(of.scope);
  if (!lasting) return { ...(await listInto(observing, of, covered, gathering)), gathering };
  const { followed, uncounted } = observing.memory;
  const missing = (scope: Scope): ReadonlyMap<string, number> =>
    lasting.missing(
      new Map([...coveredBy(scope)].map((each) => [each, answerOf(gathering, each)])),
    );
  const key = keyOfList(path, of.scope);
  if (await followInto(observing, of, covered, gathering)) {
    const known = uncounted.get(key);
    const isWhole = [...missing(of.scope)].every(
      ([target, count]) => count <= (known?.get(target) ?? 0),
    );
    if (isWhole)
      return { listed: { ...WHOLE_LIST, items: [] }, scope: of.scope, heavy: [], gathering };
    followed.forget(key);
  }
  const scopeRead = await listInto(observing, of, covered, gathering);
  const keyOfRead = keyOfList(path, scopeRead.scope);
  if (followed.isFollowed(keyOfRead)) uncounted.set(keyOfRead, missing(scopeRead.scope));
  return { ...scopeRead, gathering };
};

/** The same objects in each sync. */
const keyOfList = (path: string, scope: Scope): string => [path, fieldsOf(scope)].join("?");

/** How the objects of a list are read, and where they go. */
const placing = <Item>(
  { convert }: PodList<Item>,
  namespaces: ReadonlySet<string>,
  { gathered, shown }: Gathering<Item>,
) => ({
  read: (raw: Json): Placed<Item> => {
    const metadata = asObject(raw["metadata"]);
    const namespace = asText(metadata["namespace"]);
    const item = namespaces.has(namespace) ? convert(raw) : undefined;
    return { namespace, key: keyOfObject(metadata), ...(item && { item }) };
  },
  isSame: ({ namespace, item }: Placed<Item>): boolean =>
    namespaces.has(namespace) === (item !== undefined),
  begin: (): void => {
    gathered.clear();
    shown.begin();
  },
  onPage: (objects: readonly Placed<Item>[]): void => {
    for (const { namespace, item } of objects) {
      shown.see(namespace);
      if (item === undefined) continue;
      const known = gathered.get(namespace);
      if (known) known.push(item);
      else gathered.set(namespace, [item]);
    }
  },
});

/** Gathers the objects of the last LIST with what has changed since. False: all must be listed. */
const followInto = async <Item>(
  { memory, session, budget }: Observing,
  { podList, scope }: ReadingScope<Item>,
  namespaces: ReadonlySet<string>,
  gathering: Gathering<Item>,
): Promise<boolean> => {
  const { path, resource, protobuf } = podList;
  const { read, isSame, onPage } = placing(podList, namespaces, gathering);
  const key = keyOfList(path, scope);
  const fields = fieldsOf(scope);
  const what = { key, path, resource, protobuf, fields, read, isSame };
  const objects = await memory.followed.follow(
    session.transport,
    { ...what, ...(scope.isHeavy && { flow: scope.namespace }) },
    budget,
  );
  if (objects) onPage(objects);
  return objects !== undefined;
};

/**
 * Adds each object to the list of its namespace when its page arrives. Objects of other namespaces
 * are not converted.
 */
const listInto = async <Item>(
  observing: Observing,
  { podList, ...of }: ReadingScope<Item>,
  namespaces: ReadonlySet<string>,
  gathering: Gathering<Item>,
): Promise<ScopeRead<Placed<Item>>> => {
  const { path, resource, protobuf, paged, lasting } = podList;
  const { read, isSame, begin, onPage } = placing(podList, namespaces, gathering);
  const { memory } = observing;
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
        begin();
        seen.clear();
      },
      read,
      onPage: (page) => {
        onPage(page);
        if (lasting) for (const object of page) seen.set(object.key, object);
      },
    },
    budget,
  );
  const { listed, scope } = scopeRead;
  const version = lasting && versionOf(listed);
  if (version !== undefined)
    memory.followed.keep(keyOfList(path, scope), { version, objects: seen, parts: parts() });
  return scopeRead;
};

/** The version of a LIST that has shown all objects. */
const versionOf = (listed: Listed<unknown>): string | undefined =>
  listed.kind === "listed" && listed.complete && listed.passedOver.length === 0
    ? listed.version
    : undefined;

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
