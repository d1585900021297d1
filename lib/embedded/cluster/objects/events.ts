import { asObject, isObject, type Json } from "../../../rules/model/json.ts";
import { isoTime } from "../kube-objects.ts";
import type { KubeObject } from "../list-selectors.ts";
import { drawUid } from "../definition.ts";
import {
  conflictStatus,
  invalidObject,
  methodNotAllowed,
  notFound,
  unsupportedMediaType,
} from "../status.ts";
import { mergePatched, type ObjectRequest } from "./object-requests.ts";

interface KeptEvent {
  readonly event: KubeObject;
  readonly untilMs: number;
}

export type EventRequest = Pick<
  ObjectRequest,
  "method" | "contentType" | "body" | "namespace" | "name" | "nowMs"
>;

/** An API server keeps Events for an hour. */
const KEPT_MS = 3_600_000;
/** The oldest go first, so that a program that writes Events does not fill the memory. */
const EVENTS_MAX = 2_000;
const MERGE = "application/merge-patch+json";
const EVENTS = { group: "events.k8s.io", resource: "events" } as const;

/**
 * The Events of the simulated cluster, only in memory: as in a real cluster they are gone after an
 * hour.
 */
export class ClusterEvents {
  readonly #seed: number;
  readonly #byKey = new Map<string, KeptEvent>();
  #version = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  get version(): number {
    return this.#version;
  }

  /** In the form of events.k8s.io/v1. */
  all(nowMs: number): readonly KubeObject[] {
    return [...this.#byKey.values()]
      .filter(({ untilMs }) => untilMs > nowMs)
      .map(({ event }) => event);
  }

  write(request: EventRequest): Json {
    const { method, namespace, nowMs } = request;
    const written = asObject(request.body);
    const name = request.name ?? asObject(written["metadata"])["name"];
    if (typeof name !== "string" || name === "")
      throw invalidObject({ ...EVENTS, kind: "Event", name: "" }, [
        { field: "metadata.name", detail: "", fix: "a name is required" },
      ]);
    const key = `${namespace}/${name}`;
    const before = this.#kept(key, nowMs);
    const wanted =
      method === "POST" ? created(before, written, name) : patched(before, request, name);
    this.#version++;
    const identity = before?.metadata ?? {
      uid: drawUid(this.#seed, key, this.#version),
      creationTimestamp: isoTime(nowMs),
    };
    const event = {
      ...wanted,
      metadata: { ...identity, name, namespace, resourceVersion: String(this.#version) },
    };
    this.#keep(key, { event, untilMs: nowMs + KEPT_MS });
    return { ...event, apiVersion: "events.k8s.io/v1", kind: "Event" };
  }

  #kept(key: string, nowMs: number): KubeObject | undefined {
    const kept = this.#byKey.get(key);
    return kept && kept.untilMs > nowMs ? kept.event : undefined;
  }

  #keep(key: string, kept: KeptEvent): void {
    this.#byKey.delete(key);
    this.#byKey.set(key, kept);
    const [oldest] = this.#byKey.keys();
    if (this.#byKey.size > EVENTS_MAX && oldest !== undefined) this.#byKey.delete(oldest);
  }
}

const created = (before: KubeObject | undefined, written: Json, name: string): Json => {
  if (before) throw conflictStatus(EVENTS, name, "it exists already", "AlreadyExists");
  return written;
};

const patched = (
  before: KubeObject | undefined,
  { method, contentType, body }: EventRequest,
  name: string,
): Json => {
  if (method !== "PATCH") throw methodNotAllowed();
  if (contentType !== MERGE) throw unsupportedMediaType([MERGE]);
  if (!before) throw notFound(EVENTS, name);
  return asObject(mergePatched(before, body));
};

/** An Event in the form of the core API, which `kubectl describe` reads. */
export const coreEvent = (event: KubeObject): KubeObject => {
  const { regarding, note, reportingController, reportingInstance, eventTime, series, ...rest } =
    event;
  const { count = 1, lastObservedTime = eventTime } = isObject(series) ? series : {};
  const [firstTimestamp, lastTimestamp] = [eventTime, lastObservedTime].map((time) =>
    typeof time === "string" ? isoTime(Date.parse(time)) : null,
  );
  return {
    ...rest,
    involvedObject: regarding,
    message: note,
    source: { component: reportingController },
    reportingComponent: reportingController,
    reportingInstance,
    eventTime,
    firstTimestamp,
    lastTimestamp,
    count,
    ...(series !== undefined && { series }),
  };
};
