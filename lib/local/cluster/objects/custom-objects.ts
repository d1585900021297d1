import { isDeepStrictEqual } from "node:util";
import type { SpecKind } from "../../../model/spec-kinds.ts";
import { isoTime } from "../kube-objects.ts";
import type { KubeObject } from "../list-selectors.ts";
import { drawUid } from "../random-draws.ts";
import { ObjectChanges } from "./object-changes.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One write by a client, as fields of the object that it leaves. */
export interface ObjectWrite {
  readonly kind: SpecKind["kind"];
  readonly namespace: string;
  readonly name: string;
  /** Written as `metadata.managedFields[].manager`. */
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly nowMs: number;
}

/** An autoscaler as an object of the cluster. */
export interface CustomObject extends KubeObject {
  readonly kind: SpecKind["kind"];
  readonly metadata: KubeObject["metadata"] & { readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
}

/** What the file of the objects holds. */
export interface KeptObjects {
  readonly version: number;
  readonly objects: readonly CustomObject[];
}

/** Statuses are not kept at each write, so versions after a kill begin far above those that clients may have seen. */
const VERSIONS_BETWEEN_STARTS = 1_000_000;

/** The autoscalers that people keep in the simulated cluster, with one counter of versions. No controller follows them. */
export class CustomObjects {
  readonly #seed: number;
  readonly #byKey: Map<string, CustomObject>;
  readonly changes: ObjectChanges<CustomObject>;
  #version: number;

  constructor(seed: number, kept: KeptObjects = { version: 0, objects: [] }) {
    this.#seed = seed;
    this.#version = kept.version === 0 ? 0 : kept.version + VERSIONS_BETWEEN_STARTS;
    this.#byKey = new Map(kept.objects.map((object) => [keyOf(object.kind, object.metadata), object]));
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

  /** Stores the spec, labels and annotations. The generation counts changes of the spec; a write that changes nothing leaves the version. */
  store(write: ObjectWrite, fields: { readonly spec: unknown; readonly labels: Fields; readonly annotations: Fields }): CustomObject {
    const before = this.find(write);
    const { kind, namespace, name, nowMs } = write;
    const { spec, labels, annotations } = fields;
    const old = before?.metadata;
    const isSame = before && isDeepStrictEqual([spec, labels, annotations], [before["spec"], old?.labels ?? {}, old?.["annotations"] ?? {}]);
    if (isSame) return before;
    const generation = Number(old?.["generation"] ?? 0) + (before && isDeepStrictEqual(spec, before["spec"]) ? 0 : 1);
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
        managedFields: managedAfter(before, write),
      },
      spec,
    });
  }

  /** Replaces the status. It leaves the generation. */
  storeStatus(write: ObjectWrite, before: CustomObject, status: Fields): CustomObject {
    if (isDeepStrictEqual(status, before["status"])) return before;
    const managedFields = managedAfter(before, write, "status");
    return this.#put({ ...before, metadata: { ...before.metadata, resourceVersion: this.#nextVersion(), managedFields }, status });
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

const keyOf = (kind: string, { namespace, name }: { readonly namespace: string; readonly name: string }): string => `${kind}/${namespace}/${name}`;

/** One entry for each writer and subresource, with the time of its last change. Which fields it wrote is not kept. */
const managedAfter = (before: CustomObject | undefined, { manager, operation, nowMs }: ObjectWrite, subresource?: string): readonly Fields[] => {
  const entries = (before?.metadata["managedFields"] ?? []) as readonly Fields[];
  const others = entries.filter((entry) => entry["manager"] !== manager || entry["subresource"] !== subresource);
  return [...others, { manager, operation, time: isoTime(nowMs), fieldsType: "FieldsV1", fieldsV1: {}, ...(subresource && { subresource }) }];
};
