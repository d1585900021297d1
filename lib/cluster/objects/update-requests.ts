import { createHash } from "node:crypto";
import { objectPath } from "../paths.ts";
import type { ApiRequest } from "../transport/send.ts";
import type { NewEvent, ObjectUpdate, UpdatedObject } from "./object-update.ts";

/** The request of one update. */
export type UpdateRequest = ApiRequest & { readonly method: "PATCH" | "POST"; readonly body: unknown };

const APPLY_PATCH = "application/apply-patch+yaml";
const MERGE_PATCH = "application/merge-patch+json";
const EVENTS = "events.events.k8s.io";
/** Limits of an Event of events.k8s.io/v1. */
const NOTE_BYTES_MAX = 1_024;
const REASON_CHARACTERS_MAX = 128;
const NAME_CHARACTERS_MAX = 220;
const HASH_CHARACTERS = 16;

export const updateRequest = (update: ObjectUpdate, fieldManager: string): UpdateRequest =>
  update.kind === "status" ? statusRequest(update, fieldManager) : eventRequest(update, fieldManager);

/** Raises the count of an Event that is there. */
export const repeatRequest = ({ about, event }: Extract<ObjectUpdate, { kind: "event" }>, count: number, fieldManager: string): UpdateRequest => ({
  method: "PATCH",
  path: `${eventsPath(about)}/${encodeURIComponent(eventNameOf(about, event))}`,
  resource: EVENTS,
  query: { fieldManager },
  contentType: MERGE_PATCH,
  body: { series: { count, lastObservedTime: microTime(event.atMs) } },
});

/**
 * A server-side apply. Its resourceVersion is a precondition, because an apply of a status does not compare uids: an object that was edited, or deleted and made anew, since the LIST is left
 * to the next sync. It takes fields from an earlier manager, which is no controller any more.
 */
const statusRequest = ({ about, status }: Extract<ObjectUpdate, { kind: "status" }>, fieldManager: string): UpdateRequest => {
  const { of, namespace, name, uid, resourceVersion } = about;
  const { group, version, plural, apiVersion, kind } = of;
  const resource = `${plural}.${group}`;
  return {
    method: "PATCH",
    path: `${objectPath({ base: `/apis/${group}/${version}`, plural, resource }, namespace, name)}/status`,
    resource: `${resource}/status`,
    query: { fieldManager, force: "true" },
    contentType: APPLY_PATCH,
    body: { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, status },
  };
};

/** The name is made from the id, so that a repeat meets the Event that is there already. */
const eventRequest = ({ about, event }: Extract<ObjectUpdate, { kind: "event" }>, fieldManager: string): UpdateRequest => {
  const { namespace } = about;
  return {
    method: "POST",
    path: eventsPath(about),
    resource: EVENTS,
    query: { fieldManager },
    body: {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: eventNameOf(about, event), namespace },
      eventTime: microTime(event.atMs),
      reportingController: "tidemark.dev/tidemark",
      reportingInstance: fieldManager,
      action: "Scale",
      type: event.type,
      reason: event.reason.slice(0, REASON_CHARACTERS_MAX) || "Unknown",
      note: cut(event.note),
      regarding: regarding(about),
    },
  };
};

const eventsPath = ({ namespace }: UpdatedObject): string => `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;

const eventNameOf = ({ name }: UpdatedObject, { id }: NewEvent): string =>
  `${name.slice(0, NAME_CHARACTERS_MAX)}.${createHash("sha256").update(id).digest("hex").slice(0, HASH_CHARACTERS)}`;

/** RFC 3339 in microseconds. */
const microTime = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, -1)}000Z`;

const regarding = ({ of, namespace, name, uid }: UpdatedObject) => ({ apiVersion: of.apiVersion, kind: of.kind, namespace, name, uid });

/** Cut between characters, and never inside one. */
const cut = (note: string): string => {
  if (Buffer.byteLength(note) <= NOTE_BYTES_MAX) return note;
  const characters = [...note];
  let [bytes, kept] = [Buffer.byteLength("…"), 0];
  for (const character of characters) {
    bytes += Buffer.byteLength(character);
    if (bytes > NOTE_BYTES_MAX) break;
    kept += 1;
  }
  return `${characters.slice(0, kept).join("")}…`;
};
