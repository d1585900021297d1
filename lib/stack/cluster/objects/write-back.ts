import { mapInTurns } from "../../turns/gate.ts";
import type { ApiSession } from "../scale.ts";
import type { WriteAnswer } from "../transport/transport.ts";
import { type Correlated, EventSeries } from "./event-series.ts";
import type {
  ObjectUpdate,
  WriteBackCounts,
  WriteBackLimits,
  NewEvent,
  UpdatedObject,
} from "../cluster-client.ts";
import { createHash } from "node:crypto";
import { objectPath } from "../discovery.ts";
import type { ApiRequest } from "../transport/send.ts";
import {
  NOT_FOUND,
  CONFLICT,
  FORBIDDEN,
  TOO_MANY_REQUESTS,
} from "../../../rules/model/http-status.ts";

const PARALLEL = 4;
/** One slow answer must not take the time of all others. */
const CALL_MS_MAX = 1_000;
/**
 * How long a client sends no such update after a refusal that would come again. The role for it is
 * optional.
 */
const QUIET_MS = 10 * 60_000;

export type WriteBack = (
  updates: readonly ObjectUpdate[],
  limits: WriteBackLimits,
) => Promise<WriteBackCounts>;

/** What one client remembers between syncs. */
interface Memory {
  readonly session: ApiSession;
  readonly clock: () => number;
  readonly series: EventSeries;
  /** Until when a right is not tried again, by subject. */
  readonly quietUntilMs: Map<string, number>;
}

/**
 * Writes statuses and Events to a cluster. No decision depends on them, so a failure is only
 * counted. An update that the API server refuses (no right, or a kind without status) is not sent
 * again for ten minutes. A busy API server ends the write-back of this sync.
 */
export const objectWriter = (session: ApiSession, clock: () => number): WriteBack => {
  const memory: Memory = { session, clock, series: new EventSeries(), quietUntilMs: new Map() };
  return async (updates, limits) => {
    const untilMs = session.elapsed() + limits.budgetMs;
    let calls = 0;
    let isBusy = false;
    const ask = async (request: UpdateRequest): Promise<WriteAnswer | undefined> => {
      const leftMs = untilMs - session.elapsed();
      if (isBusy || leftMs <= 0 || calls >= limits.callsMax) return undefined;
      calls += 1;
      const answer = await session.transport.edit(request, Math.min(leftMs, CALL_MS_MAX));
      isBusy ||= isBusyAnswer(answer);
      return answer;
    };
    const turns = {
      places: PARALLEL,
      elapsed: session.elapsed,
      flowOf: ({ about }: ObjectUpdate): string => about.namespace,
    };
    const outcomes = await mapInTurns(updates, turns, (update) => writeOne(memory, update, ask));
    const count = (wanted: keyof WriteBackCounts): number =>
      outcomes.filter((outcome) => outcome === wanted).length;
    return { written: count("written"), failed: count("failed"), left: count("left") };
  };
};

/** Sends a request, or gives undefined where there is no time and no room for it. */
type Ask = (request: UpdateRequest) => Promise<WriteAnswer | undefined>;

const writeOne = async (
  memory: Memory,
  update: ObjectUpdate,
  ask: Ask,
): Promise<keyof WriteBackCounts> => {
  if (isQuiet(memory, subjectOf(update))) return "left";
  return update.kind === "event"
    ? writeEvent(memory, update, ask)
    : writeStatus(memory, update, ask);
};

/**
 * A server-side apply with a field that the definition in the cluster does not have is refused
 * whole. So it is sent again without the newer fields, and they are tried again after ten minutes.
 */
const writeStatus = async (
  memory: Memory,
  update: Extract<ObjectUpdate, { kind: "status" }>,
  ask: Ask,
): Promise<keyof WriteBackCounts> => {
  const { status, newer = [], about } = update;
  const subject = `newer fields of ${about.of.plural}`;
  const { fieldManager } = memory.session;
  const older = {
    ...update,
    status: Object.fromEntries(Object.entries(status).filter(([field]) => !newer.includes(field))),
  };
  const isOlder = newer.length === 0 || isQuiet(memory, subject);
  const answer = await ask(updateRequest(isOlder ? older : update, fieldManager));
  if (isOlder || answer?.kind !== "failed" || !answer.failure.message.includes(UNKNOWN_FIELD))
    return outcomeOf(memory, subjectOf(update), answer);
  memory.quietUntilMs.set(subject, memory.clock() + QUIET_MS);
  return outcomeOf(memory, subjectOf(update), await ask(updateRequest(older, fieldManager)));
};
/** The words of structured-merge-diff in the refusal of an API server. */
const UNKNOWN_FIELD = "field not declared in schema";

/**
 * Creates the Event, or raises the count of the one that says the same. Where the API server has
 * deleted that one, it creates a new Event.
 */
const writeEvent = async (
  memory: Memory,
  update: Extract<ObjectUpdate, { kind: "event" }>,
  ask: Ask,
): Promise<keyof WriteBackCounts> => {
  const { series, session } = memory;
  const correlated = series.correlate(update.about, update.event);
  if (correlated.kind === "written") return "written";
  if (correlated.kind === "limited") return "left";
  const written = { ...update, event: correlated.event };
  if (correlated.kind === "create")
    return settledEvent(
      memory,
      update,
      correlated,
      await ask(updateRequest(written, session.fieldManager)),
    );
  const subject = `series ${update.about.namespace}`;
  if (isQuiet(memory, subject)) return "left";
  const answer = await ask(repeatRequest(written, correlated.count, session.fieldManager));
  if (answer?.kind === "failed" && answer.failure.code === NOT_FOUND) {
    series.forget(correlated.key);
    return settledEvent(
      memory,
      update,
      { ...correlated, kind: "create", event: update.event },
      await ask(updateRequest(update, session.fieldManager)),
    );
  }
  if (answer?.kind === "written") series.wrote(correlated);
  return outcomeOf(memory, subject, answer);
};

const settledEvent = (
  memory: Memory,
  update: ObjectUpdate,
  correlated: Extract<Correlated, { kind: "create" }>,
  answer: WriteAnswer | undefined,
): keyof WriteBackCounts => {
  // 409: the Event of this id is there already.
  const isThere = answer?.kind === "written" || answer?.failure.code === CONFLICT;
  if (isThere) memory.series.wrote(correlated);
  return isThere ? "written" : outcomeOf(memory, subjectOf(update), answer);
};

const isQuiet = ({ quietUntilMs, clock }: Memory, subject: string): boolean =>
  (quietUntilMs.get(subject) ?? 0) > clock();

const subjectOf = (update: ObjectUpdate): string =>
  update.kind === "event"
    ? `${EVENTS} ${update.about.namespace}`
    : `status ${update.about.of.plural} ${update.about.namespace}`;
const EVENTS = "events";

const isBusyAnswer = (answer: WriteAnswer): boolean =>
  answer.kind === "failed" &&
  (answer.failure.code === TOO_MANY_REQUESTS || answer.failure.code === 0);

const outcomeOf = (
  { quietUntilMs, clock }: Memory,
  subject: string,
  answer: WriteAnswer | undefined,
): keyof WriteBackCounts => {
  if (answer === undefined) return "left";
  if (answer.kind === "written") return "written";
  const { code } = answer.failure;
  // A server without events.k8s.io/v1 answers 404 to a new Event.
  if (code === FORBIDDEN || (subject.startsWith(EVENTS) && code === NOT_FOUND))
    quietUntilMs.set(subject, clock() + QUIET_MS);
  return "failed";
};

type UpdateRequest = ApiRequest & { readonly method: "PATCH" | "POST"; readonly body: unknown };

const APPLY_PATCH = "application/apply-patch+yaml";
const MERGE_PATCH = "application/merge-patch+json";
const EVENTS_RESOURCE = "events.events.k8s.io";
/** Limits of an Event of events.k8s.io/v1. */
const NOTE_BYTES_MAX = 1_024;
const REASON_CHARACTERS_MAX = 128;
const NAME_CHARACTERS_MAX = 220;
const HASH_CHARACTERS = 16;

const updateRequest = (update: ObjectUpdate, fieldManager: string): UpdateRequest =>
  update.kind === "status"
    ? statusRequest(update, fieldManager)
    : eventRequest(update, fieldManager);

/** Raises the count of an Event that is there. */
const repeatRequest = (
  { about, event }: Extract<ObjectUpdate, { kind: "event" }>,
  count: number,
  fieldManager: string,
): UpdateRequest => ({
  method: "PATCH",
  path: `${eventsPath(about)}/${encodeURIComponent(eventNameOf(about, event))}`,
  resource: EVENTS_RESOURCE,
  query: { fieldManager },
  contentType: MERGE_PATCH,
  body: { series: { count, lastObservedTime: microTime(event.atMs) } },
});

/**
 * A server-side apply. Its resourceVersion is a precondition, because an apply of a status does not
 * compare uids: an object that was edited, or deleted and made anew, since the LIST is left to the
 * next sync. It takes fields from an earlier manager, which is no controller any more.
 */
const statusRequest = (
  { about, status }: Extract<ObjectUpdate, { kind: "status" }>,
  fieldManager: string,
): UpdateRequest => {
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
const eventRequest = (
  { about, event }: Extract<ObjectUpdate, { kind: "event" }>,
  fieldManager: string,
): UpdateRequest => {
  const { namespace } = about;
  return {
    method: "POST",
    path: eventsPath(about),
    resource: EVENTS_RESOURCE,
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

const eventsPath = ({ namespace }: UpdatedObject): string =>
  `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;

const eventNameOf = ({ name }: UpdatedObject, { id }: NewEvent): string =>
  `${name.slice(0, NAME_CHARACTERS_MAX)}.${createHash("sha256").update(id).digest("hex").slice(0, HASH_CHARACTERS)}`;

/** RFC 3339 in microseconds. */
const microTime = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, -1)}000Z`;

const regarding = ({ of, namespace, name, uid }: UpdatedObject) => ({
  apiVersion: of.apiVersion,
  kind: of.kind,
  namespace,
  name,
  uid,
});

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
