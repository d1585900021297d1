import type { Namespace } from "../../../rules/model/ids.ts";
import type { ObserveLimits, Watched } from "../cluster-client.ts";
import {
  MAX_NAMESPACED_LISTS,
  HEAVY_BYTES,
  HEAVY_SHARE,
  MAX_HEAVY_NAMESPACES,
} from "../request-limits.ts";
import { isLate, readList } from "../list.ts";
import type { ApiSession } from "../scale.ts";
import type { CallBudget } from "../transport/budget.ts";
import { heaviest } from "../../turns/shares.ts";
import type { NamespaceCalls } from "./namespace-calls.ts";
import type { Listed, ListOf } from "../read-page.ts";

/** The scope of one LIST: a namespace; absent means the whole cluster. */
export interface Scope {
  readonly namespace?: Namespace;
  /** True for a namespace that is read by itself, after all others. */
  readonly isHeavy?: true;
  /** The namespaces that a LIST of the whole cluster leaves out. */
  readonly without?: ReadonlySet<Namespace>;
}

/**
 * The LISTs that cover these namespaces. Where the partition is the whole cluster, one LIST covers
 * all; but a few namespaces are listed one by one, because they may be small in a large cluster. In
 * both cases the number of LISTs does not grow with autoscalers. Heavy namespaces have LISTs of
 * their own, and the one of the whole cluster leaves them out.
 */
export const scopesFor = (
  needed: ReadonlySet<Namespace>,
  limits: Pick<ObserveLimits, "namespaces">,
  heavy: ReadonlySet<Namespace> = new Set(),
): readonly Scope[] => {
  if (needed.size === 0) return [];
  const own = [...needed]
    .toSorted()
    .map((namespace): Scope => ({ namespace, ...(heavy.has(namespace) && { isHeavy: true }) }));
  if (limits.namespaces !== "all" || needed.size <= MAX_NAMESPACED_LISTS) return own;
  const ofHeavy = own.filter(({ isHeavy }) => isHeavy);
  const shared: Scope = heavy.size > 0 ? { without: heavy } : {};
  return ofHeavy.length === needed.size ? ofHeavy : [shared, ...ofHeavy];
};

export const covers = ({ namespace: own, without }: Scope, namespace: Namespace): boolean =>
  own === undefined ? without?.has(namespace) !== true : own === namespace;

/**
 * The namespaces that had much more than their share of an answer in the last sync. A warm client
 * reads them after all others were decided and scaled, so that one namespace lengthens no sync of
 * the others but the first of an environment.
 */
export interface HeavyNamespaces {
  /**
   * The heavy ones of a LIST, by the path of all its namespaces; or of the questions of namespaces.
   */
  readonly of: (subject: string) => ReadonlySet<Namespace>;
  /**
   * Remembers the bytes of these namespaces. "all": other namespaces that are not heavy are
   * forgotten.
   */
  readonly learn: (
    subject: string,
    bytes: ReadonlyMap<Namespace, number>,
    of: "all" | "some",
  ) => void;
  /**
   * From now on all namespaces of this LIST are read together: its server knows no field selector.
   */
  readonly giveUp: (subject: string) => void;
  readonly mayLeaveOut: (subject: string) => boolean;
}

/** The subject of custom and external metrics, which are asked for each namespace. */
export const QUESTIONS = "questions";

export const heavyNamespaces = (): HeavyNamespaces => {
  const weights = new Map<string, ReadonlyMap<Namespace, number>>();
  const heavy = new Map<string, ReadonlySet<Namespace>>();
  const givenUp = new Set<string>();
  return {
    of: (subject) => heavy.get(subject) ?? NONE,
    learn: (subject, bytes, of) => {
      if (givenUp.has(subject)) return;
      // A heavy namespace that no autoscaler needs any more is left out for good, because no LIST
      // of its own says anything else of it.
      const before = [...(weights.get(subject) ?? [])].filter(
        ([namespace]) => of === "some" || heavy.get(subject)?.has(namespace),
      );
      const known = new Map([...before, ...bytes]);
      weights.set(subject, known);
      heavy.set(subject, heaviest(known, { ...HEAVY_NAMESPACES, least: HEAVY_BYTES }));
    },
    giveUp: (subject) => {
      givenUp.add(subject);
      heavy.delete(subject);
    },
    mayLeaveOut: (subject) => !givenUp.has(subject),
  };
};

const NONE: ReadonlySet<Namespace> = new Set();

/** Which namespaces are heavy: those with more than a tenth of what all have together. */
export const HEAVY_NAMESPACES = { part: HEAVY_SHARE, flows: MAX_HEAVY_NAMESPACES } as const;

/**
 * How often the rules of an autoscaler look at each of its pods: to select them, and once for each
 * metric. A spec that is not as its type says must stop its own rules only.
 */
export const looksPerPod = (spec: Watched["spec"]): number =>
  1 + ("metrics" in spec && Array.isArray(spec.metrics) ? spec.metrics.length : 0);

/** What was read of a LIST: a scope of all namespaces may have left out heavy ones. */
export interface ScopeRead<Item> {
  readonly listed: Listed<Item>;
  readonly scope: Scope;
  /** The scopes of the namespaces that it has left out, which its reader reads later. */
  readonly heavy: readonly (Scope & { readonly namespace: Namespace })[];
}

interface ScopeReading {
  readonly session: Pick<ApiSession, "transport">;
  readonly memory: { readonly heavy: HeavyNamespaces };
}

type ScopeOf = { readonly whole: string; readonly scope: Scope };
type ListWhat<Item> = Omit<ListOf<Item>, "flow" | "weigh" | "without" | "endsEarly">;

/**
 * Reads the LIST of a scope, and learns which of its namespaces are heavy. `whole` is its path for
 * all namespaces. Where a LIST of all namespaces is slow because of some that are heavy, it begins
 * again without them, so that the others are whole also in the first sync of an environment.
 *
 *     aaa-tenant ▓▓▓▓▓▓▓▓ … a second: its bytes are most of what has come
 *     without it          ▓▓ all others        later: aaa-tenant ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
 */
export const listScope = async <Item>(
  reading: ScopeReading,
  of: ScopeOf,
  what: ListWhat<Item>,
  budget: CallBudget,
): Promise<ScopeRead<Item>> => {
  const { whole } = of;
  const { heavy } = reading.memory;
  const leftOut: Namespace[] = [];
  for (let { scope } = of, early = 0; ; early++) {
    const mayEnd =
      scope.namespace === undefined && early < EARLY_ENDS_MAX && heavy.mayLeaveOut(whole);
    const listed = await listOf(reading, { whole, scope, mayEnd }, what, budget);
    const isSlow = mayEnd && listed.kind === "failed" && isLate(listed.failure);
    const found = isSlow ? [...heavy.of(whole)].filter((one) => covers(scope, one)) : [];
    if (found.length === 0)
      return {
        listed,
        scope,
        heavy: leftOut.map((namespace) => ({ namespace, isHeavy: true })),
      };
    leftOut.push(...found);
    scope = { without: new Set([...(scope.without ?? []), ...found]) };
  }
};

/** How often a LIST begins again in one sync, a second each. Heavy namespaces come one by one. */
const EARLY_ENDS_MAX = 2;

const listOf = async <Item>(
  { session, memory }: ScopeReading,
  { whole, scope, mayEnd }: ScopeOf & { readonly mayEnd: boolean },
  what: ListWhat<Item>,
  budget: CallBudget,
): Promise<Listed<Item>> => {
  const weights = new Map<Namespace, number>();
  const weighed: ListOf<Item> = {
    ...what,
    ...(scope.isHeavy && { flow: scope.namespace }),
    begin: () => {
      weights.clear();
      what.begin?.();
    },
    weigh: (page) => {
      for (const [namespace, bytes] of page)
        weights.set(namespace as Namespace, (weights.get(namespace as Namespace) ?? 0) + bytes);
    },
  };
  const listed = await readList(
    session.transport,
    {
      ...weighed,
      without: scope.without,
      ...(mayEnd && {
        endsEarly: (page) => heaviest(page, { ...HEAVY_NAMESPACES, least: HEAVY_BYTES }).size > 0,
      }),
    },
    budget,
  );
  if (listed.kind === "failed" && listed.failure.code === BAD_REQUEST && scope.without) {
    memory.heavy.giveUp(whole);
    return readList(session.transport, weighed, budget);
  }
  const isWhole = listed.kind === "listed" && listed.complete;
  if (isWhole && scope.namespace !== undefined && !weights.has(scope.namespace))
    weights.set(scope.namespace, 0);
  // Also from the pages of a LIST that failed: where one namespace is why it takes too long, the
  // next sync leaves that namespace out.
  memory.heavy.learn(whole, weights, isWhole && scope.namespace === undefined ? "all" : "some");
  return listed;
};

/** The LISTs of heavy namespaces, which are read after all others were decided. */
export interface LateLists {
  readonly add: (namespace: Namespace, read: (budget: CallBudget) => Promise<void>) => void;
  /** False while a LIST of the namespace is not read yet. */
  readonly areRead: (namespace: Namespace) => boolean;
}

export const lateLists = (calls: Pick<NamespaceCalls, "listLate">): LateLists => {
  const unread = new Map<Namespace, number>();
  const count = (namespace: Namespace, by: number): void =>
    void unread.set(namespace, (unread.get(namespace) ?? 0) + by);
  return {
    add: (namespace, read) => {
      count(namespace, 1);
      calls.listLate(namespace, async (budget) => {
        await read(budget);
        count(namespace, -1);
      });
    },
    areRead: (namespace) => (unread.get(namespace) ?? 0) === 0,
  };
};

const BAD_REQUEST = 400;
