import * as z from "zod";
import { type KubeObject, valueAtPath } from "./list-selectors.ts";
import { badRequest, expired } from "./status.ts";
import { asList, asObject, asText, isObject, type Json } from "../../rules/model/json.ts";
import type { Resource } from "./served-resources.ts";

export interface PageRequest {
  readonly items: readonly KubeObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

/**
 * A list as it is now: what it is asked for (its path and selectors), its version and all its items
 * in the order of their keys.
 */
export interface Listing {
  readonly of: string;
  readonly version: number;
  readonly items: readonly KubeObject[];
}

type Current = Omit<Listing, "items"> & { readonly items: () => Listing["items"] };

const Token = z.object({ v: z.literal("meta.k8s.io/v1"), rv: z.int(), start: z.string() });
/** The version in a token that goes on in the list as it then is. */
const INCONSISTENT = -1;
/**
 * Lists that are kept for clients that read further pages. A real server also drops them after
 * minutes.
 */
const KEPT_LISTS = 16;

/**
 * Cuts lists into pages. All pages of a list show it as of its first page, however the cluster
 * moves meanwhile; a list that was dropped is a 410 with a token for the rest as it is now, an
 * invalid token a 400.
 */
export class Pages {
  readonly #kept = new Map<string, Listing>();

  /**
   * `items` gives the objects as they are now. It is not called for a further page of a list that
   * is kept.
   */
  page({ of, version, items }: Current, query: URLSearchParams): PageRequest {
    const limit = limitOf(query);
    const token = query.get("continue");
    if (token) return this.#cut(...this.#resume({ of, version, items }, token), limit);
    // A list at version "0" may come from a cache, and has no pages.
    return this.#cut(
      { of, version, items: items() },
      "",
      query.get("resourceVersion") === "0" ? Number.POSITIVE_INFINITY : limit,
    );
  }

  #resume({ of, version, items }: Current, token: string): [Listing, string] {
    const { rv, start } = parseToken(token);
    const kept = this.#kept.get(`${of}@${rv}`);
    if (kept) return [kept, start];
    if (rv === INCONSISTENT || rv === version) return [{ of, version, items: items() }, start];
    throw expired(tokenOf(INCONSISTENT, start));
  }

  #cut(listing: Listing, start: string, limit: number): PageRequest {
    const from = start === "" ? 0 : firstAfter(listing.items, start);
    const items = listing.items.slice(from, from + limit);
    const left = listing.items.length - from - items.length;
    const last = items.at(-1);
    const resourceVersion = String(listing.version);
    if (left === 0 || !last) return { items, metadata: { resourceVersion } };
    this.#keep(listing);
    return {
      items,
      metadata: {
        resourceVersion,
        continue: tokenOf(listing.version, keyOf(last)),
        remainingItemCount: left,
      },
    };
  }

  #keep(listing: Listing): void {
    const key = `${listing.of}@${listing.version}`;
    this.#kept.delete(key);
    this.#kept.set(key, listing);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_LISTS && oldest !== undefined) this.#kept.delete(oldest);
  }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** Where the items begin whose keys come after `start`, in items in the order of their keys. */
const firstAfter = (items: readonly KubeObject[], start: string): number => {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const item = items[middle];
    if (item && keyOf(item) > start) to = middle;
    else from = middle + 1;
  }
  return from;
};

/**
 * Orders objects as their keys are ordered, which paging relies on. A list has thousands of
 * objects, and mostly they are in order already.
 */
export const inKeyOrder = (objects: readonly KubeObject[]): readonly KubeObject[] => {
  let before = "";
  const areInOrder = objects.every((object) => {
    const key = keyOf(object);
    const isAfter = before < key;
    before = key;
    return isAfter;
  });
  if (areInOrder) return objects;
  const keyed = objects.map((object) => ({ key: keyOf(object), object }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ object }) => object);
};

const limitOf = (query: URLSearchParams): number => {
  const text = query.get("limit") ?? "0";
  if (!/^-?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text) > 0 ? Number(text) : Number.POSITIVE_INFINITY;
};

const tokenOf = (rv: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv, start })).toString("base64url");

const parseToken = (text: string): z.infer<typeof Token> => {
  try {
    return Token.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
  } catch {
    // All invalid tokens get the same answer, because this server gave none of them.
    throw badRequest("continue key is not valid: it was not given by this server");
  }
};

type Cell = (object: KubeObject) => string | number;

/** A number that a real server leaves out when it is 0. */
const count =
  (path: string): Cell =>
  (object) =>
    Number(valueAtPath(object, path) ?? 0);

const podStatus: Cell = (object) => {
  if (valueAtPath(object, "metadata.deletionTimestamp") !== undefined) return "Terminating";
  const phase = String(valueAtPath(object, "status.phase"));
  return phase === "Pending" && valueAtPath(object, "status.startTime") !== undefined
    ? "ContainerCreating"
    : phase;
};

/** A field of the object; empty where it is absent. */
const field =
  (path: string): Cell =>
  (object) => {
    const value = valueAtPath(object, path);
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : "";
  };

const ready: Cell = (object) => {
  const conditions = valueAtPath(object, "status.conditions");
  const condition = Array.isArray(conditions)
    ? conditions.findIndex((each) => isObject(each) && each["type"] === "Ready")
    : -1;
  return field(`status.conditions.${condition}.reason`)(object);
};

/** Metrics that kubectl shows of an HPA; the others are counted. */
const HPA_TARGETS_SHOWN = 2;
const UNKNOWN = "<unknown>";

/** The column TARGETS of an HPA, as the printer of Kubernetes has it. */
const hpaTargets: Cell = (object) => {
  const metrics = asList(valueAtPath(object, "spec.metrics")).map(asObject);
  const current = asList(valueAtPath(object, "status.currentMetrics")).map(asObject);
  if (metrics.length === 0) return "<none>";
  const texts = metrics.map((metric, at) => hpaTarget(metric, current[at] ?? {}));
  const more = texts.length - HPA_TARGETS_SHOWN;
  const shown = texts.slice(0, HPA_TARGETS_SHOWN).join(", ");
  return more > 0 ? `${shown} + ${more} more...` : shown;
};

const hpaTarget = (metric: Json, current: Json): string => {
  const type = asText(metric["type"]);
  const part = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const source = asObject(metric[part]);
  const wanted = asObject(source["target"]);
  const found = asObject(asObject(current[part])["current"]);
  const name = type === "Resource" || type === "ContainerResource" ? `${source["name"]}: ` : "";
  if (wanted["averageUtilization"] !== undefined) {
    const value = found["averageUtilization"];
    return `${name}${value === undefined ? UNKNOWN : `${value}%`}/${wanted["averageUtilization"]}%`;
  }
  const isAverage = wanted["averageValue"] !== undefined;
  const member = isAverage ? "averageValue" : "value";
  const suffix = isAverage && (type === "Object" || type === "External") ? " (avg)" : "";
  return `${name}${found[member] ?? UNKNOWN}/${wanted[member]}${suffix}`;
};

/** What stands between NAME and AGE. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, Cell>>>> = {
  Deployment: {
    Ready: (object) => `${count("status.readyReplicas")(object)}/${count("spec.replicas")(object)}`,
    "Up-to-date": count("status.updatedReplicas"),
    Available: count("status.availableReplicas"),
  },
  ReplicaSet: {
    Desired: count("spec.replicas"),
    Current: count("status.replicas"),
    Ready: count("status.readyReplicas"),
  },
  Pod: {
    Ready: (object) =>
      valueAtPath(object, "status.containerStatuses.0.ready") === true ? "1/1" : "0/1",
    Status: podStatus,
    Restarts: () => 0,
  },
  PodAutoscaler: {
    Reference: field("spec.scaleTargetRef.name"),
    Targets: field("status.targets"),
    MinPods: field("spec.minReplicas"),
    MaxPods: field("spec.maxReplicas"),
    Replicas: field("status.currentReplicas"),
    Why: ready,
  },
  HorizontalPodAutoscaler: {
    Reference: (object) =>
      `${field("spec.scaleTargetRef.kind")(object)}/${field("spec.scaleTargetRef.name")(object)}`,
    Targets: hpaTargets,
    MinPods: (object) => field("spec.minReplicas")(object) || "<unset>",
    MaxPods: field("spec.maxReplicas"),
    Replicas: count("status.currentReplicas"),
  },
  WatermarkPodAutoscaler: {
    Value: field("status.currentMetrics.0.external.currentValue"),
    "High Watermark": field("spec.metrics.0.external.highWatermark"),
    "Low Watermark": field("spec.metrics.0.external.lowWatermark"),
    "Min Replicas": field("spec.minReplicas"),
    "Max Replicas": field("spec.maxReplicas"),
    "Dry-run": field("spec.dryRun"),
  },
  Event: {
    Type: field("type"),
    Reason: field("reason"),
    Object: field("involvedObject.name"),
    Message: field("message"),
  },
  Namespace: { Status: (object) => String(valueAtPath(object, "status.phase")) },
};

/** True for clients that let the server lay out what people read, as kubectl does. */
export const wantsTable = (accept: string): boolean =>
  accept
    .split(",")
    .some(
      (type) =>
        /;as=Table\b/.test(type) && /;g=meta\.k8s\.io\b/.test(type) && /;v=v1(;|$)/.test(type),
    );

/** Objects as rows. Ages are by the cluster's own clock, which the client's may be far from. */
export const table = (
  { kind }: Resource,
  objects: readonly KubeObject[],
  metadata: unknown,
  nowMs: number,
) => {
  const between = Object.entries(COLUMNS[kind] ?? {});
  const names = ["Name", ...between.map(([name]) => name), "Age"];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: names.map((name) => ({
      name,
      type: "string",
      format: name === "Name" ? "name" : "",
      description: "",
      priority: 0,
    })),
    rows: objects.map((object) => ({
      cells: [
        object.metadata.name,
        ...between.map(([, cell]) => cell(object)),
        ageOf(object, nowMs),
      ],
      object: {
        kind: "PartialObjectMetadata",
        apiVersion: "meta.k8s.io/v1",
        metadata: object.metadata,
      },
    })),
  };
};

const AGE_UNITS = [
  { letter: "d", ms: 86_400_000, from: 2 },
  { letter: "h", ms: 3_600_000, from: 3 },
  { letter: "m", ms: 60_000, from: 2 },
] as const;

const ageOf = (object: KubeObject, nowMs: number): string => {
  const ageMs = nowMs - Date.parse(String(valueAtPath(object, "metadata.creationTimestamp")));
  if (Number.isNaN(ageMs)) return "<unknown>";
  const unit = AGE_UNITS.find(({ ms, from }) => ageMs >= ms * from);
  return unit ? `${Math.floor(ageMs / unit.ms)}${unit.letter}` : `${Math.floor(ageMs / 1000)}s`;
};
