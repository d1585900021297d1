import type { SpecListing, SpecObject } from "../../cluster/cluster-client.ts";
import type { Because } from "../../../rules/model/decision.ts";
import { asObject, jsonIn } from "../../../rules/model/json.ts";
import type {
  AutoscalerRecord,
  ClusterOrigin,
  ClusterRecord,
} from "../../../rules/model/records.ts";
import type { SpecKind } from "../../../rules/model/spec.ts";
import { editWaits, madeAnewSoon, objectOlder, objectTooLarge } from "../../report/holds.ts";
import type { KnownSpec } from "../hand-over.ts";

export interface ListedObject {
  readonly of: SpecKind;
  readonly object: SpecObject;
}

/** What the LISTs say of one autoscaler. */
export type Finding =
  /** Its object is what it was. */
  | ({ readonly kind: "same"; readonly spec: KnownSpec } & ListedObject)
  /**
   * Its object must be stored. Without `spec` the autoscaler is new. `isNewObject`: the object is
   * another one of the same name.
   */
  | ({
      readonly kind: "store";
      readonly spec?: KnownSpec;
      readonly manifest: string;
      readonly isNewObject: boolean;
    } & ListedObject)
  /**
   * Its object was edited again too soon after its last stored change: the stored spec is followed
   * until the newest one is stored.
   */
  | ({
      readonly kind: "waits";
      readonly spec: KnownSpec;
      readonly manifest: string;
      readonly because: Because;
    } & ListedObject)
  /** Its object was deleted. `ends`: an earlier sync has seen that too. */
  | {
      readonly kind: "gone";
      readonly spec: KnownSpec;
      readonly ends: boolean;
      readonly because: Because;
    }
  /** It must not act: what its object says is not known, or cannot be used. */
  | {
      readonly kind: "held";
      readonly spec: KnownSpec;
      readonly because: Because;
      readonly olderSinceMs?: number;
    };

/** What the LISTs are compared with. */
export interface ComparedWith {
  readonly cluster: ClusterRecord;
  readonly nowMs: number;
}

export type Listings = readonly SpecListing[];

/**
 * Most bytes of a manifest that is stored. A change of it has the manifest before and after, which
 * may be all that it shrinks to. An item of the table has 400 KB.
 */
export const MANIFEST_BYTES_MAX = 90_000;

/**
 * At most one change of an object is stored in this time: the newest that there is at its end. So
 * an object that is edited all the time costs no more than this.
 */
export const STORED_EVERY_MS = 60_000;

/**
 * From when on the next change of an object may be stored; undefined where that is now. A time of
 * storing that has not come yet is of a wrong clock, and counts for nothing.
 */
export const waitsUntilMs = (
  { storedMs }: Pick<ClusterOrigin, "storedMs">,
  nowMs: number,
): number | undefined =>
  storedMs !== undefined && Math.abs(nowMs - storedMs) < STORED_EVERY_MS
    ? storedMs + STORED_EVERY_MS
    : undefined;

/**
 * How long an object that shows an older generation holds. After a restored backup the old one is
 * the true one.
 */
const OLDER_MS = 5 * 60_000;

/** Why an object cannot be stored. */
export const tooLarge = ({ of, object }: ListedObject): Because =>
  objectTooLarge(of, manifestBytes(object.manifest), MANIFEST_BYTES_MAX);

export const manifestBytes = (manifest = ""): number => Buffer.byteLength(manifest);

/**
 * Compares an object with the stored record of its name and kind; undefined for a new object that
 * is too large to be stored.
 */
export const findingOf = (
  listed: ListedObject,
  spec: KnownSpec | undefined,
  at: ComparedWith,
): Finding | undefined => {
  const { object } = listed;
  const origin = spec?.record.origin;
  const isSame = origin?.uid === object.uid;
  const { manifest } = object;
  // The object has the version whose manifest is stored.
  if (manifest === undefined) return isSame && spec ? { kind: "same", spec, ...listed } : undefined;
  if (manifestBytes(manifest) > MANIFEST_BYTES_MAX)
    return spec && { kind: "held", spec, because: tooLarge(listed) };
  if (spec && origin && isSame)
    return findingOfEdited({ ...listed, manifest }, { spec, origin }, at);
  const untilMs = origin && waitsUntilMs(origin, at.nowMs);
  // On doubt, hold: the object that the stored spec is of is no more.
  if (spec && untilMs !== undefined)
    return { kind: "held", spec, because: madeAnewSoon(listed.of, untilMs) };
  return {
    kind: "store",
    ...listed,
    ...(spec && { spec }),
    manifest,
    isNewObject: origin !== undefined,
  };
};

/** Compares an object that may have been edited. */
const findingOfEdited = (
  { manifest, ...listed }: ListedObject & { readonly manifest: string },
  { spec, origin }: { readonly spec: KnownSpec; readonly origin: ClusterOrigin },
  { nowMs }: ComparedWith,
): Finding => {
  const { generation } = listed.object;
  const olderSinceMs = spec.olderSinceMs ?? nowMs;
  // On doubt, hold: an old answer may be of before an edit that made the limits smaller.
  const newest = Math.max(origin.generation, spec.shownGeneration ?? 0);
  if (generation < newest && nowMs - olderSinceMs < OLDER_MS)
    return {
      kind: "held",
      spec,
      because: objectOlder({ kind: origin.kind, generation: newest }, generation),
      olderSinceMs,
    };
  if (generation === origin.generation && manifest === spec.record.manifest)
    return { kind: "same", spec, ...listed };
  const untilMs = waitsUntilMs(origin, nowMs);
  if (untilMs === undefined)
    return { kind: "store", spec, ...listed, manifest, isNewObject: false };
  return {
    kind: "waits",
    spec,
    ...listed,
    manifest,
    because: editWaits(origin, { generation, untilMs }),
  };
};

/** The object as the record names it. */
export const originOf = ({ of, object }: ListedObject): ClusterOrigin => ({
  apiVersion: of.apiVersion,
  kind: of.kind,
  uid: object.uid,
  generation: object.generation,
});

/**
 * The kind of the manifest that people have stored, where it is one that can be read from a
 * cluster. A manifest that is no JSON is of no kind: its autoscaler is invalid, and holds.
 */
export const kindOfManifest = ({ manifest }: Pick<AutoscalerRecord, "manifest">): unknown =>
  asObject(jsonIn(manifest))["kind"];
