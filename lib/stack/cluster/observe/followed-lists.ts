import { asObject, asText, type Json } from "../../../rules/model/json.ts";
import { strangeName } from "../../../rules/model/kubernetes-names.ts";
import {
  WATCHED_EVENT_OBJECTS,
  WATCHED_MS,
  WATCHED_OBJECTS_MIN,
  WATCHED_PARTS_MAX,
} from "../request-limits.ts";
import type { CallBudget } from "../transport/budget.ts";
import type { Transport } from "../transport/transport.ts";
import type { WatchEvent } from "../wire/watch.ts";
import type { WireKind } from "../wire/message.ts";

/*
 *  sync          LIST ───────── WATCH ──── WATCH ──── WATCH ─── … five minutes … ─── LIST
 *  version       17             17         19         19
 *  comes         5,000 objects  2 events   none       3 events
 */

/**
 * The objects of the last whole LIST with all that watches have told since, as the informer of a
 * controller has them. A LIST of a large cluster is a megabyte each time, and nearly all of it is
 * what the last one said.
 *
 * Each watch asks from the version of the last event that was read. So a late event is not lost: it
 * comes a sync later. On doubt, list: a watch that fails, an object that none can be, a version
 * that the server has dropped, and five minutes all end in a LIST of the same sync. After a watch
 * that fails (no right, a proxy that holds the answer back) there is none for five minutes.
 */
interface FollowedList<Item> {
  version: string;
  /** By namespace and name, in the order of a LIST. */
  objects: Map<string, Item>;
  readonly listedMs: number;
  /** Elements of lists and maps in them. */
  readonly parts: number;
}

/** A LIST that may be followed. */
export interface Following<Item> {
  /** Where its objects are kept. */
  readonly key: string;
  readonly path: string;
  /** The field selector of the LIST; empty for all objects. */
  readonly fields: string;
  /** The only namespace that needs it (transport/budget.ts). */
  readonly flow?: string | undefined;
  readonly resource: string;
  readonly protobuf: WireKind;
  readonly read: (raw: Json) => Item;
  /** False where `read` would make something else of the same object now. */
  readonly isSame: (item: Item) => boolean;
}

export interface FollowedLists {
  /** All objects as they are now; `undefined` where a LIST must say it. */
  readonly follow: <Item>(
    transport: Pick<Transport, "get">,
    what: Following<Item>,
    budget: CallBudget,
  ) => Promise<readonly Item[] | undefined>;
  /** The objects of a whole LIST, in its order, with the version that they show. */
  readonly keep: <Item>(
    key: string,
    list: {
      readonly version: string;
      readonly objects: ReadonlyMap<string, Item>;
      readonly parts: number;
    },
  ) => void;
  readonly isFollowed: (key: string) => boolean;
  /** The next reading is a LIST. */
  readonly forget: (key: string) => void;
}

/** The order of a LIST: the one of the keys in etcd. */
export const keyOfObject = (metadata: Json): string =>
  `${asText(metadata["namespace"])}/${asText(metadata["name"])}`;

/** The lists of all clients, the least recently kept first. */
const lists = new Set<FollowedList<unknown>>();

const boundAll = (): void => {
  let parts = [...lists].reduce((sum, one) => sum + one.parts, 0);
  for (const one of lists) {
    if (parts <= WATCHED_PARTS_MAX) return;
    parts -= one.parts;
    drop(one);
  }
};

const drop = (list: FollowedList<unknown>): void => {
  lists.delete(list);
  list.objects = new Map();
};

/** `clock`: milliseconds of the wall clock, which runs on while the process is frozen. */
export const followedLists = (clock: () => number): FollowedLists => {
  const byKey = new Map<string, FollowedList<unknown>>();
  const failed = new Map<string, number>();
  const forget = (key: string): void => {
    const known = byKey.get(key);
    if (known) drop(known);
    byKey.delete(key);
  };
  /** After a clock was set back the age is not known. */
  const isYoung = (sinceMs: number, ttlMs: number): boolean => {
    const ageMs = clock() - sinceMs;
    return ageMs >= 0 && ageMs < ttlMs;
  };
  const freshOf = <Item>({ key, isSame }: Following<Item>): FollowedList<Item> | undefined => {
    const known = byKey.get(key) as FollowedList<Item> | undefined;
    if (!known) return undefined;
    const holds =
      lists.has(known as FollowedList<unknown>) &&
      isYoung(known.listedMs, WATCHED_MS) &&
      [...known.objects.values()].every(isSame);
    if (!holds) forget(key);
    return holds ? known : undefined;
  };
  const changed = async <Item>(
    known: FollowedList<Item>,
    transport: Pick<Transport, "get">,
    what: Following<Item>,
    budget: CallBudget,
  ): Promise<readonly Item[] | undefined> => {
    const watched = await watch(transport, what, { version: known.version, budget });
    if (watched.kind === "failed") failed.set(what.key, clock());
    if (watched.kind !== "events" || !areAdded(known, what, watched.events)) return undefined;
    const objects = [...known.objects.values()];
    // The next changes of a cluster that changes so much are cheaper in a LIST.
    if (watched.events.length * WATCHED_EVENT_OBJECTS > objects.length) forget(what.key);
    return objects;
  };
  return {
    follow: async (transport, what, budget) => {
      const known = freshOf(what);
      // What is held of the last sync counts as if it had come now.
      if (!known || !budget.keep(known.parts)) return undefined;
      const objects = await changed(known, transport, what, budget);
      if (objects) return objects;
      budget.free(known.parts);
      forget(what.key);
      return undefined;
    },
    keep: (key, { version, objects, parts }) => {
      forget(key);
      const failedMs = failed.get(key);
      if (failedMs !== undefined && isYoung(failedMs, WATCHED_MS)) return;
      if (objects.size <= WATCHED_OBJECTS_MIN || parts > WATCHED_PARTS_MAX) return;
      const list = { version, objects: new Map(objects), parts, listedMs: clock() };
      byKey.set(key, list);
      lists.add(list);
      boundAll();
    },
    isFollowed: (key) => byKey.has(key),
    forget,
  };
};

const GONE = 410;

type Watched =
  | { readonly kind: "events"; readonly events: readonly WatchEvent[] }
  /** The server has dropped the version: the state of a new LIST can be followed. */
  | { readonly kind: "ended" }
  | { readonly kind: "failed" };

const watch = async (
  transport: Pick<Transport, "get">,
  { path, resource, protobuf, fields, flow }: Omit<Following<unknown>, "read" | "isSame">,
  { version, budget }: { readonly version: string; readonly budget: CallBudget },
): Promise<Watched> => {
  const answer = await transport.get(
    {
      path,
      resource,
      protobuf,
      watch: true,
      // The server ends what this client has left without a word.
      query: {
        ...(fields !== "" && { fieldSelector: fields }),
        ...{ watch: "true", resourceVersion: version, timeoutSeconds: "5" },
      },
      ...(flow !== undefined && { flow }),
    },
    budget,
  );
  if (answer.kind === "failed")
    return answer.failure.code === GONE ? { kind: "ended" } : { kind: "failed" };
  return answer.body["ended"] === true
    ? { kind: "ended" }
    : { kind: "events", events: answer.body["events"] as readonly WatchEvent[] };
};

/** Adds events to a list, in their order. False where one is none: then nothing of it counts. */
const areAdded = <Item>(
  list: FollowedList<Item>,
  { read }: Following<Item>,
  events: readonly WatchEvent[],
): boolean => {
  let isSorted = true;
  for (const { type, object } of events) {
    const metadata = asObject(object["metadata"]);
    const version = asText(metadata["resourceVersion"]);
    if (version === "" || strangeName(metadata)) return false;
    const key = keyOfObject(metadata);
    isSorted &&= list.objects.has(key);
    if (type === "DELETED") list.objects.delete(key);
    else if (type === "ADDED" || type === "MODIFIED") list.objects.set(key, read(object));
    else return false;
    list.version = version;
  }
  if (!isSorted) list.objects = new Map([...list.objects].toSorted(inOrder));
  return true;
};

const inOrder = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  one < other ? -1 : Number(one > other);
