import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../../rules/model/json.ts";
import { SPEC_KINDS, type SpecKind } from "../../../rules/model/spec.ts";
import { isoTime } from "../kube-objects.ts";
import type { KubeObject } from "../list-selectors.ts";
import { drawUid } from "../definition.ts";

/** A kind of object that clients may write: an autoscaler of any controller. */
export interface KeptKind extends Pick<SpecKind, "apiVersion" | "group" | "version" | "plural"> {
  readonly kind: string;
}

const keptKind = (kind: string, group: string, version: string, plural: string): KeptKind => ({
  ...{ kind, group, version, plural },
  apiVersion: `${group}/${version}`,
});

export const HPA_KIND = keptKind(
  "HorizontalPodAutoscaler",
  "autoscaling",
  "v2",
  "horizontalpodautoscalers",
);
export const SCALED_OBJECT_KIND = keptKind("ScaledObject", "keda.sh", "v1alpha1", "scaledobjects");
export const KEPT_KINDS: readonly KeptKind[] = [...SPEC_KINDS, HPA_KIND, SCALED_OBJECT_KIND];

/** One write by a client, as fields of the object that it leaves. */
export interface ObjectWrite {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Written as `metadata.managedFields[].manager`. */
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly nowMs: number;
}

/** An autoscaler as an object of the cluster. */
export interface CustomObject extends KubeObject {
  readonly kind: string;
  readonly metadata: KubeObject["metadata"] & {
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** What the file of the objects holds. */
export interface KeptObjects {
  readonly version: number;
  readonly objects: readonly CustomObject[];
}

/**
 * Statuses are not kept at each write, so versions after a kill begin far above those that clients
 * may have seen.
 */
const VERSIONS_BETWEEN_STARTS = 1_000_000;

/** What an object holds beside its name, kind and status. */
interface ObjectFields {
  readonly spec: unknown;
  readonly labels: Json;
  readonly annotations: Json;
  readonly ownerReferences: readonly unknown[];
}

/** The autoscalers that the simulated cluster keeps, with one counter of versions. */
export class CustomObjects {
  readonly #seed: number;
  readonly #byKey: Map<string, CustomObject>;
  readonly changes: ObjectChanges<CustomObject>;
  #version: number;

  constructor(seed: number, kept: KeptObjects = { version: 0, objects: [] }) {
    this.#seed = seed;
    this.#version = kept.version === 0 ? 0 : kept.version + VERSIONS_BETWEEN_STARTS;
    this.#byKey = new Map(
      kept.objects.map((object) => [keyOf(object.kind, object.metadata), object]),
    );
    this.changes = new ObjectChanges(this.#version);
  }

  /** A copy on which a dry run is carried out. */
  copy(): CustomObjects {
    const copy = new CustomObjects(this.#seed, { version: 0, objects: this.all() });
    copy.#version = this.#version;
    return copy;
  }

  get version(): number {
    return this.#version;
  }

  all(): readonly CustomObject[] {
    return [...this.#byKey.values()];
  }

  kept(): KeptObjects {
    return { version: this.#version, objects: this.all() };
  }

  find(of: Pick<ObjectWrite, "kind" | "namespace" | "name">): CustomObject | undefined {
    return this.#byKey.get(keyOf(of.kind, of));
  }

  /**
   * Stores the spec, labels, annotations and owners. The generation counts changes of the spec; a
   * write that changes nothing leaves the version.
   */
  store(write: ObjectWrite, fields: ObjectFields): CustomObject {
    const before = this.find(write);
    const { kind, namespace, name, nowMs } = write;
    const { spec, labels, annotations, ownerReferences } = fields;
    const old = before?.metadata;
    if (before && isDeepStrictEqual(fields, fieldsIn(before))) return before;
    const generation =
      Number(old?.["generation"] ?? 0) +
      (before && isDeepStrictEqual(spec, before["spec"]) ? 0 : 1);
    return this.#put({
      ...before,
      kind,
      metadata: {
        name,
        namespace,
        uid: old?.uid ?? drawUid(this.#seed, namespace, name, kind, this.#version),
        resourceVersion: this.#nextVersion(),
        creationTimestamp: old?.["creationTimestamp"] ?? isoTime(nowMs),
        generation,
        ...(Object.keys(labels).length > 0 && { labels: labels as Record<string, string> }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...(ownerReferences.length > 0 && { ownerReferences }),
        managedFields: managedAfter(before, write),
      },
      spec,
    });
  }

  /** Replaces the status. It leaves the generation. */
  storeStatus(write: ObjectWrite, before: CustomObject, status: Json): CustomObject {
    if (isDeepStrictEqual(status, before["status"])) return before;
    const managedFields = managedAfter(before, write, "status");
    return this.#put({
      ...before,
      metadata: { ...before.metadata, resourceVersion: this.#nextVersion(), managedFields },
      status,
    });
  }

  delete(before: CustomObject): void {
    this.#nextVersion();
    this.#byKey.delete(keyOf(before.kind, before.metadata));
    this.changes.add({ version: this.#version, before });
  }

  #put(after: CustomObject): CustomObject {
    const key = keyOf(after.kind, after.metadata);
    const before = this.#byKey.get(key);
    this.#byKey.set(key, after);
    this.changes.add({ version: this.#version, after, ...(before && { before }) });
    return after;
  }

  #nextVersion(): string {
    this.#version++;
    return String(this.#version);
  }
}

const fieldsIn = ({ metadata, spec }: CustomObject): ObjectFields => ({
  spec,
  labels: metadata.labels ?? {},
  annotations: (metadata["annotations"] ?? {}) as Json,
  ownerReferences: (metadata["ownerReferences"] ?? []) as readonly unknown[],
});

const keyOf = (
  kind: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string => `${kind}/${namespace}/${name}`;

/**
 * One entry for each writer and subresource, with the time of its last change. Which fields it
 * wrote is not kept.
 */
const managedAfter = (
  before: CustomObject | undefined,
  { manager, operation, nowMs }: ObjectWrite,
  subresource?: string,
): readonly Json[] => {
  const entries = (before?.metadata["managedFields"] ?? []) as readonly Json[];
  const others = entries.filter(
    (entry) => entry["manager"] !== manager || entry["subresource"] !== subresource,
  );
  return [
    ...others,
    {
      manager,
      operation,
      time: isoTime(nowMs),
      fieldsType: "FieldsV1",
      fieldsV1: {},
      ...(subresource && { subresource }),
    },
  ];
};

/**
 * One change of an object, at a version of the cluster's objects. `before` and `after`: absent
 * where there was none, and where there is none any more.
 */
export interface ObjectChange<Kept> {
  readonly version: number;
  readonly before?: Kept;
  readonly after?: Kept;
}

type Follower<Kept> = (change: ObjectChange<Kept>) => void;

/** A client that is further behind lists again. */
const KEPT_CHANGES = 1_000;

/**
 * The latest changes, for clients that watch. They are kept in memory, so a watch of an earlier
 * start begins with a new list.
 */
class ObjectChanges<Kept> {
  readonly #followers = new Set<Follower<Kept>>();
  readonly #kept: ObjectChange<Kept>[] = [];
  /** Every later change is kept. */
  #sinceVersion: number;

  constructor(version: number) {
    this.#sinceVersion = version;
  }

  add(change: ObjectChange<Kept>): void {
    this.#kept.push(change);
    const dropped = this.#kept.length > KEPT_CHANGES ? this.#kept.shift() : undefined;
    if (dropped) this.#sinceVersion = dropped.version;
    for (const follower of this.#followers) follower(change);
  }

  /** The changes after a version. Undefined where some of them are not kept. */
  after(version: number): readonly ObjectChange<Kept>[] | undefined {
    return version < this.#sinceVersion
      ? undefined
      : this.#kept.filter((change) => change.version > version);
  }

  /** Reports each later change, until the returned function is called. */
  follow(follower: Follower<Kept>): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  get followers(): number {
    return this.#followers.size;
  }
}
