import type { WireKind, KnownItems } from "./wire/message.ts";
import { type Json, asText, asObject, asName, isObject } from "../../rules/model/json.ts";
import type { UnchangedItems } from "./list-memory.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import { strangeName } from "../../rules/model/kubernetes-names.ts";
import type { ApiFailure } from "../../rules/model/observation.ts";
import type { Transport } from "./transport/transport.ts";
import type { CallBudget } from "./transport/budget.ts";
import { MAX_ANSWER_BYTES, SLOW_PAGE_MS } from "./request-limits.ts";
import type { ApiRequest, CutItem } from "./transport/send.ts";

export interface ListOf<Item> {
  readonly path: string;
  readonly resource: string;
  /**
   * The list, where it may come as protobuf: `read` then gets the same objects, with only the
   * fields of the kind's table.
   */
  readonly protobuf?: WireKind;
  /**
   * Converts one raw object, or leaves it out. It must keep nothing: the page that it is of may
   * turn out to be broken.
   */
  readonly read: (raw: Json) => Item | undefined;
  /**
   * Keeps what `read` has made of each object for the next LIST (list-memory.ts). `isSame` is true
   * where `read` would make the same of the same bytes now; otherwise they are read again.
   */
  readonly unchanged?: {
    readonly begin: () => UnchangedItems;
    readonly isSame: (item: Item) => boolean;
  };
  /**
   * Gets the items of each whole page, and how many objects it had. Then the LIST itself collects
   * nothing.
   */
  readonly onPage?: (items: readonly Item[], objects: number) => void;
  /**
   * Called at the beginning and when the LIST starts again: it must drop what `onPage` has
   * collected.
   */
  readonly begin?: () => void;
  /** What `read` keeps of an object is small, whatever the object holds. */
  readonly light?: boolean;
  /** Objects of the first page, where fewer than a full page may be enough. */
  readonly firstLimit?: number;
  /** False for APIs that ignore the limit and answer in one piece (metrics.k8s.io). */
  readonly paged?: boolean;
  /**
   * Gets the bytes of each namespace in each page that was read, passed over objects included, and
   * of what has come of one that was late.
   */
  readonly weigh?: (bytes: ReadonlyMap<string, number>) => void;
  /**
   * Ends the LIST where a page is slow, by the bytes of each namespace that have come of it. It has
   * failed then as one that was late.
   */
  readonly endsEarly?: (bytes: ReadonlyMap<string, number>) => boolean;
  /** The namespaces whose objects the server leaves out. */
  readonly without?: ReadonlySet<string> | undefined;
  /** The only namespace that needs the LIST (transport/budget.ts). */
  readonly flow?: string | undefined;
  /**
   * Called after each page; true stops the LIST early. `remaining` is the estimate of the server of
   * the objects that follow.
   */
  readonly enough?: (remaining: number | undefined) => boolean;
}

export type Listed<Item> =
  | {
      readonly kind: "listed";
      readonly items: readonly Item[];
      /** False when `enough` stopped it. */
      readonly complete: boolean;
      /** Estimate of the server of the objects that follow. */
      readonly remaining: number | undefined;
      /**
       * The resourceVersion of the state that all pages show, where the LIST has ended and the
       * server says it.
       */
      readonly version?: string | undefined;
      /**
       * Objects that are there and are too large to be read. What needs one of them holds; the
       * others go on.
       */
      readonly passedOver: readonly PassedOver[];
    }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

export interface PassedOver {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Where a page begins, and how many objects it may have; 0 for the name of the one object that
 * stands there.
 */
export interface PageAt {
  readonly token: string | undefined;
  readonly limit: number;
  /** True once a page of this LIST was too large. Its pages then grow step by step. */
  readonly shrunk: boolean;
}

export interface ReadObjectsPage<Item> {
  readonly kind: "page";
  readonly items: readonly Item[];
  /** Those that were left out included. */
  readonly objects: number;
  readonly next: string | undefined;
  readonly remaining: number | undefined;
  readonly version: string | undefined;
  readonly passedOver: readonly PassedOver[];
  /**
   * Of the unpacked answer; as many as an answer may have, where the object in it was passed over.
   */
  readonly bytes: number;
  /** The bytes of the objects of each namespace. */
  readonly weights: ReadonlyMap<string, number>;
}

export type PageAnswer<Item> = ReadObjectsPage<Item> | Extract<Listed<never>, { kind: "failed" }>;

/**
 * Reads one page. Its objects are converted while it is decoded, so that they are not held all at
 * once; of JSON they are.
 */
export const readListPage = async <Item>(
  transport: Pick<Transport, "get">,
  what: ListOf<Item>,
  at: PageAt & { readonly unchanged: UnchangedItems | undefined },
  budget: CallBudget,
): Promise<PageAnswer<Item>> => {
  const items: Item[] = [];
  const passedOver: PassedOver[] = [];
  const [weights, cut] = [new Map<string, number>(), new Map<string, number>()];
  const { endsEarly } = what;
  let objects = 0;
  const count = (namespace: string, bytes: number): void => {
    objects++;
    if (what.weigh) weights.set(namespace, (weights.get(namespace) ?? 0) + bytes);
  };
  let newest: { readonly made: Item; readonly namespace: string } | undefined;
  let strange: Strange;
  const onItem = (raw: Json, bytes: number): void => {
    const metadata = asObject(raw["metadata"]);
    const namespace = asText(metadata["namespace"]);
    count(namespace, bytes);
    strange ??= strangeName(metadata);
    if (strange) return;
    const made = what.read(raw);
    if (made !== undefined) items.push(made);
    newest = made === undefined ? undefined : { made, namespace };
  };
  const onPassedOver = (raw: Json, bytes: number): void => {
    const metadata = asObject(raw["metadata"]);
    count(asText(metadata["namespace"]), bytes);
    strange ??= strangeName(metadata);
    passedOver.push(nameOf(raw));
  };
  const known =
    at.unchanged && knownItems(at.unchanged, { what, count, items, newest: () => newest });
  const answer = await transport.get(
    {
      ...requestOf(what, at),
      ...{ onItem, onPassedOver },
      onCut: (...item) => addTo(cut, item),
      ...(endsEarly && {
        early: {
          afterMs: SLOW_PAGE_MS,
          ends: (come) => {
            const bytes = new Map<string, number>();
            for (const item of come) addTo(bytes, item);
            return endsEarly(bytes);
          },
        },
      }),
      ...(known && { unchanged: known }),
    },
    budget,
  );
  if (answer.kind === "failed") {
    // What has come of a page that was late may say which namespace is why.
    what.weigh?.(cut);
    return answer;
  }
  const raws = answer.streamed ? [] : objectsOf(answer.body);
  // On doubt, the read has failed: an answer without its items would look like an empty cluster.
  if (raws === undefined) return malformed(what, "the answer has no list of items");
  for (const raw of raws) onItem(raw, 0);
  if (strange) return malformed(what, strangeState(strange));
  return {
    kind: "page",
    items,
    objects,
    passedOver,
    bytes: answer.bytes,
    weights,
    ...restOf(answer.body),
  };
};

const addTo = (weights: Map<string, number>, [named, bytes]: CutItem): void => {
  const namespace = asText(asObject(named["metadata"])["namespace"]);
  weights.set(namespace, (weights.get(namespace) ?? 0) + bytes);
};

type Strange = ReturnType<typeof strangeName>;

/**
 * On doubt, the read has failed: a server that gives names which none can have is broken or
 * hostile, and what else it says of its objects is no reason to act.
 */
const strangeState = ([what, text]: NonNullable<Strange>): string =>
  `the answer has an object with the ${what} "${foreignText(text)}", which Kubernetes does not allow`;

/** The items of the last LIST for the decoder. */
const knownItems = <Item>(
  unchanged: UnchangedItems,
  {
    what,
    count,
    items,
    newest,
  }: {
    readonly what: ListOf<Item>;
    readonly count: (namespace: string, bytes: number) => void;
    readonly items: Item[];
    readonly newest: () => { readonly made: Item; readonly namespace: string } | undefined;
  },
): KnownItems => ({
  give: (hash, bytes) => {
    const known = unchanged.find(hash);
    const made = known?.made as Item;
    if (!known || !what.unchanged?.isSame(made)) return undefined;
    count(known.namespace, bytes);
    items.push(made);
    return known.parts;
  },
  keep: (hash, bytes, parts) => {
    const made = newest();
    if (made) unchanged.keep(hash, { ...made, parts }, bytes);
  },
});

/**
 * Asks for the name of one object whose page cannot be read, and for the token of the one behind
 * it.
 */
export const readName = async <Item>(
  transport: Pick<Transport, "get">,
  what: ListOf<Item>,
  at: PageAt,
  budget: CallBudget,
): Promise<PageAnswer<Item>> => {
  const { path, resource } = what;
  const answer = await transport.get(
    {
      path,
      resource,
      query: pageQuery(what, { ...at, limit: 1 }),
      metadataOnly: true,
      ...(what.flow !== undefined && { flow: what.flow }),
    },
    budget,
  );
  if (answer.kind === "failed") return answer;
  const raws = objectsOf(answer.body);
  if (raws === undefined) return malformed(what, "the answer has no list of items");
  const strange = raws.map((raw) => strangeName(asObject(raw["metadata"]))).find(Boolean);
  if (strange) return malformed(what, strangeState(strange));
  const passedOver = raws.map(nameOf);
  const weights = new Map(passedOver.map(({ namespace }) => [namespace, MAX_ANSWER_BYTES]));
  return {
    kind: "page",
    items: [],
    objects: raws.length,
    passedOver,
    bytes: MAX_ANSWER_BYTES,
    weights,
    ...restOf(answer.body),
  };
};

const nameOf = (raw: Json): PassedOver => {
  const { namespace, name } = asObject(raw["metadata"]);
  return { namespace: asName(namespace), name: asName(name) };
};

const restOf = (body: Json): Pick<ReadObjectsPage<unknown>, "next" | "remaining" | "version"> => {
  const {
    continue: next,
    remainingItemCount: remaining,
    resourceVersion: version,
  } = asObject(body["metadata"]);
  return {
    version: typeof version === "string" && version !== "" ? version : undefined,
    next: typeof next === "string" && next !== "" ? next : undefined,
    remaining: typeof remaining === "number" ? remaining : undefined,
  };
};

/** The objects of a list. A server in Go may write an empty list as null. */
const objectsOf = ({ items, kind }: Json): readonly Json[] | undefined => {
  if (Array.isArray(items)) return items.every(isObject) ? items : undefined;
  return items === null && typeof kind === "string" && kind.endsWith("List") ? [] : undefined;
};

const requestOf = (
  what: Omit<ListOf<unknown>, "onPage" | "read" | "unchanged">,
  at: PageAt,
): ApiRequest => ({
  path: what.path,
  resource: what.resource,
  query: pageQuery(what, at),
  ...(what.protobuf && { protobuf: what.protobuf }),
  ...(what.light && { light: true }),
  ...(what.flow !== undefined && { flow: what.flow }),
});

const pageQuery = (
  what: Pick<ListOf<unknown>, "paged" | "without">,
  { token, limit }: PageAt,
): Record<string, string> => {
  const fields = fieldsOf(what);
  return {
    ...(fields !== "" && { fieldSelector: fields }),
    ...(what.paged !== false && {
      limit: String(limit),
      ...(token !== undefined && { continue: token }),
    }),
  };
};

/** The field selector that leaves namespaces out. API servers know these fields of every kind. */
export const fieldsOf = ({ without = NO_NAMESPACES }: Pick<ListOf<unknown>, "without">): string =>
  [...without].map((namespace) => `metadata.namespace!=${namespace}`).join(",");

const NO_NAMESPACES: ReadonlySet<string> = new Set();

export const malformed = (
  what: { readonly resource: string },
  state: string,
): Extract<Listed<never>, { kind: "failed" }> => ({
  kind: "failed",
  failure: {
    code: 0,
    reason: "MalformedAnswer",
    message: `Cannot list ${what.resource}: ${state}`,
  },
});
