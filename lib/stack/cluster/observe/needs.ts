import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import type { Neighbour, QuestionKey, ScaleRead } from "../../../rules/model/observation.ts";
import { type MetricQuery, type Questions, queryKey } from "../../../rules/model/query.ts";
import type { Selector } from "../../../rules/model/selector.ts";
import { parseSelector } from "../../../rules/model/selector-text.ts";
import { isRegistered, LISTED } from "../../../rules/sources/sources.ts";
import type { Watched } from "../cluster-client.ts";
import { mapYielding } from "../map-yielding.ts";
import { isListed } from "./ask.ts";
import { type Scales, targetKey } from "./workloads.ts";

/** The queries for all autoscalers of one namespace, without duplicates. */
export interface NamespaceNeeds {
  readonly namespace: Namespace;
  readonly pods: boolean;
  /** The autoscalers whose decision does not depend on pods. */
  readonly withoutPods: ReadonlySet<AutoscalerUid>;
  /** The queries that LISTs of many namespaces answer. */
  readonly listed: ReadonlyMap<QuestionKey, MetricQuery>;
  /** The queries that are asked for this namespace only. */
  readonly queries: ReadonlyMap<QuestionKey, MetricQuery>;
  /** The keys of its own among `queries`, for each autoscaler that has some. */
  readonly own: ReadonlyMap<AutoscalerUid, readonly QuestionKey[]>;
  /**
   * The autoscalers of the namespace with a selector of their last sync. Those in a dry run are
   * left out, because they write nothing.
   */
  readonly neighbours: readonly Neighbour[];
}

/**
 * With more neighbours than this the pods are listed without a check whether selectors can overlap.
 */
const MAX_NEIGHBOURS_COMPARED = 50;

const EVERY_LIST: ReadonlyMap<QuestionKey, MetricQuery> = new Map(
  LISTED.map((query) => [queryKey(query), query]),
);

/** Namespaces that are looked at in one turn of the event loop. Most have a few autoscalers. */
const NAMESPACES_A_TURN = 20;

/**
 * The queries of each namespace that has an autoscaler. An autoscaler whose scale could not be read
 * has none, because its decision ends there (hpa.md 2.4 step 1). While a scale is still being read,
 * the LISTs of its namespace are needed, because its rules may ask for them.
 */
export const needsOf = async (
  watched: readonly Watched[],
  scales: Scales,
): Promise<readonly NamespaceNeeds[]> => {
  const overlaps = overlapTest();
  const keyOf = keysOnce();
  const unread = new Set<Namespace>();
  const asking = await mapYielding(watched, (autoscaler) => {
    const scale = scales.get(
      targetKey({ namespace: autoscaler.namespace, target: autoscaler.spec.target }),
    );
    if (scale === undefined) unread.add(autoscaler.namespace);
    return scale?.kind === "read"
      ? { autoscaler, scale, asks: autoscaler.questions(scale) }
      : undefined;
  });
  const askingByNamespace = Map.groupBy(
    asking.filter((question) => question !== undefined),
    ({ autoscaler }) => autoscaler.namespace,
  );
  const groups = [...Map.groupBy(watched, ({ namespace }) => namespace)];
  return mapYielding(
    groups,
    ([namespace, group]) => {
      const needs = needsOfNamespace(namespace, group, {
        asking: askingByNamespace.get(namespace) ?? [],
        overlaps,
        keyOf,
      });
      return unread.has(namespace) ? { ...needs, pods: true, listed: EVERY_LIST } : needs;
    },
    NAMESPACES_A_TURN,
  );
};

interface Asking {
  readonly autoscaler: Watched;
  readonly scale: ScaleRead;
  readonly asks: Questions;
}

const needsOfNamespace = (
  namespace: Namespace,
  group: readonly Watched[],
  {
    asking,
    overlaps,
    keyOf,
  }: {
    readonly asking: readonly Asking[];
    readonly overlaps: OverlapTest;
    readonly keyOf: typeof queryKey;
  },
): NamespaceNeeds => {
  const neighbours = group.flatMap(({ name, selector, spec }) =>
    selector === undefined || spec.dryRun ? [] : [{ name, selector }],
  );
  const needPods = asking.filter(
    ({ autoscaler, scale, asks }) =>
      asks.pods || (asksAnything(asks) && overlaps(autoscaler, scale, neighbours)),
  );
  const own = new Map<AutoscalerUid, readonly QuestionKey[]>();
  const listed = new Map<QuestionKey, MetricQuery>();
  const queries = new Map<QuestionKey, MetricQuery>();
  for (const { autoscaler, asks } of asking) {
    const keys: QuestionKey[] = [];
    for (const query of new Set(asks.metrics)) {
      // The sync asks the registered sources, beside this observation
      // (lib/stack/sync/observe/ask-sources.ts).
      if (isRegistered(query)) continue;
      const key = keyOf(query);
      if (isListed(query)) listed.set(key, query);
      else {
        queries.set(key, query);
        keys.push(key);
      }
    }
    if (keys.length > 0) own.set(autoscaler.uid, keys);
  }
  const needing = new Set(needPods.map(({ autoscaler }) => autoscaler.uid));
  return {
    namespace,
    neighbours,
    withoutPods: new Set(
      asking.flatMap(({ autoscaler }) => (needing.has(autoscaler.uid) ? [] : [autoscaler.uid])),
    ),
    pods: needPods.length > 0,
    listed,
    queries,
    own,
  };
};

/** The key of each query, made once: all metrics of resources ask the same query. */
const keysOnce = (): typeof queryKey => {
  const keys = new Map<MetricQuery, QuestionKey>();
  return (query) => {
    const known = keys.get(query) ?? queryKey(query);
    keys.set(query, known);
    return known;
  };
};

const asksAnything = ({ pods, metrics }: Questions): boolean => pods || metrics.length > 0;

/**
 * False only where no pod can match both selectors. Then the check of overlap (hpa.md 2.5 step 3)
 * has the same result without pods.
 */
type OverlapTest = (
  autoscaler: Pick<Watched, "name">,
  scale: Pick<ScaleRead, "selector">,
  neighbours: readonly Neighbour[],
) => boolean;

/** Each selector is parsed once, however many neighbours it is compared with. */
const overlapTest = (): OverlapTest => {
  const selectors = new Map<string, Pinned>();
  const parsed = (text: string): Pinned => {
    const known = selectors.get(text) ?? pinnedIn(text);
    selectors.set(text, known);
    return known;
  };
  return (autoscaler, scale, neighbours) => {
    if (neighbours.length > MAX_NEIGHBOURS_COMPARED + 1) return true;
    const others = neighbours.filter(({ name }) => name !== autoscaler.name);
    if (others.length > MAX_NEIGHBOURS_COMPARED) return true;
    const own = parsed(scale.selector);
    return others.some(({ selector }) => !exclude(own, parsed(selector)));
  };
};

/** The value that a selector requires of each label of which it requires one. */
type Pinned = ReadonlyMap<string, string | undefined>;

const pinnedIn = (text: string): Pinned => {
  const reading = parseSelector(text);
  const selector: Selector = reading.kind === "selector" ? reading.selector : [];
  return new Map(
    selector.flatMap(({ key, operator, values }) =>
      operator === "=" ? [[key, values[0]] as const] : [],
    ),
  );
};

/** True when both selectors require a value of the same label, and the values differ. */
const exclude = (one: Pinned, other: Pinned): boolean => {
  if (one.size > other.size) return exclude(other, one);
  for (const [key, value] of one) if (other.has(key) && other.get(key) !== value) return true;
  return false;
};
