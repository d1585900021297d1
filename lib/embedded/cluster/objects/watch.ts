import type { ServerResponse } from "node:http";
import type { Located, ServedRequest } from "../api-request.ts";
import { selectObjects } from "../list-selectors.ts";
import { inKeyOrder, table, wantsTable } from "../list-answer.ts";
import { groupVersion } from "../served-resources.ts";
import type { Simulation } from "../simulation.ts";
import { expiredVersion, methodNotAllowed, tooManyWatches } from "../status.ts";
import type { CustomObject, ObjectChange } from "./custom-objects.ts";
import type { ObjectStore } from "./object-requests.ts";

const MILLISECONDS = 1_000;
/** A client that does not read is cut off, and lists again. */
const WAITING_BYTES_MAX = 2 ** 20;

export interface StreamParts {
  /** How long it lasts, in real time. */
  readonly seconds: number;
  readonly first: readonly object[];
  /** Reports each later event, until the returned function is called. */
  readonly follow: (send: (event: object) => void) => () => void;
}

/**
 * The answer to a watch: events as lines of JSON, until the time has passed or the client closes.
 */
export class EventStream {
  readonly #parts: StreamParts;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  sendTo(response: ServerResponse): void {
    const { seconds, first, follow } = this.#parts;
    response.writeHead(200, {
      "content-type": "application/json",
      "cache-control": "no-cache, private",
    });
    response.flushHeaders();
    const send = (event: object): void => {
      response.write(`${JSON.stringify(event)}\n`);
      if (response.writableLength > WAITING_BYTES_MAX) response.destroy();
    };
    first.forEach(send);
    const unfollow = follow(send);
    const timer = setTimeout(() => response.end(), seconds * MILLISECONDS);
    response.once("close", () => {
      clearTimeout(timer);
      unfollow();
    });
  }
}

type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** So that a client which forgets its watches does not fill the memory. */
const WATCHES_MAX = 100;
/** A client begins a new watch then, as with a real server. */
const WATCH_SECONDS_MAX = 1_800;

export const isWatch = (query: URLSearchParams): boolean =>
  query.has("watch") && query.get("watch") !== "false" && query.get("watch") !== "0";

/**
 * Follows the autoscalers of a list: an event for each change after the version that the client
 * has, or for each object and then for each change where it has none. Throws 410 for a version
 * whose changes are not kept, so that the client lists again. Other kinds cannot be followed.
 */
export const watchObjects = (
  simulation: Pick<Simulation, "now">,
  { objects }: ObjectStore,
  located: Located,
  request: ServedRequest,
): EventStream => {
  const { resource } = located;
  const { custom } = resource;
  if (request.method !== "GET" || !custom)
    throw methodNotAllowed(`watch is not supported on resources of kind "${resource.resource}"`);
  if (objects.changes.followers >= WATCHES_MAX) throw tooManyWatches(WATCHES_MAX);
  const select = selectionOf(located, request);
  const eventOf = (type: EventType, object: CustomObject): object => ({
    type,
    object: shown(located, object, request, simulation.now()),
  });
  const eventsOf = (change: ObjectChange<CustomObject>): readonly object[] => {
    const [before, after] = [select(change.before), select(change.after)];
    if (after) return [eventOf(before ? "MODIFIED" : "ADDED", after)];
    return before
      ? [
          eventOf("DELETED", {
            ...before,
            metadata: { ...before.metadata, resourceVersion: String(change.version) },
          }),
        ]
      : [];
  };
  const sinceVersion = Number(request.query.get("resourceVersion") || 0);
  const missed = sinceVersion === 0 ? undefined : objects.changes.after(sinceVersion);
  if (sinceVersion > 0 && !missed) throw expiredVersion(sinceVersion);
  const first = missed
    ? missed.flatMap(eventsOf)
    : inKeyOrder(objects.all().filter((object) => select(object))).map((object) =>
        eventOf("ADDED", object as CustomObject),
      );
  return new EventStream({
    seconds: Math.min(
      Number(request.query.get("timeoutSeconds")) || WATCH_SECONDS_MAX,
      WATCH_SECONDS_MAX,
    ),
    first: [...first, ...endOfFirst(located, request, objects.version)],
    follow: (send) => objects.changes.follow((change) => eventsOf(change).forEach(send)),
  });
};

/** The object where it is one of the list, by kind, namespace and selectors. */
const selectionOf =
  ({ resource, namespace }: Located, { query }: ServedRequest) =>
  (object: CustomObject | undefined): CustomObject | undefined => {
    if (
      object?.kind !== resource.kind ||
      (namespace !== undefined && object.metadata.namespace !== namespace)
    )
      return undefined;
    return selectObjects([object], query, resource.fields).length === 1 ? object : undefined;
  };

const shown = (
  { resource }: Located,
  object: CustomObject,
  { accept }: ServedRequest,
  nowMs: number,
): object =>
  wantsTable(accept)
    ? table(resource, [object], {}, nowMs)
    : { ...object, apiVersion: groupVersion(resource) };

/** A client that lets its watch begin with all objects waits for this mark behind them. */
const endOfFirst = (
  { resource }: Located,
  { query }: ServedRequest,
  version: number,
): readonly object[] => {
  if (query.get("sendInitialEvents") !== "true") return [];
  const metadata = {
    resourceVersion: String(version),
    annotations: { "k8s.io/initial-events-end": "true" },
  };
  return [
    {
      type: "BOOKMARK",
      object: { kind: resource.kind, apiVersion: groupVersion(resource), metadata },
    },
  ];
};
