import { isObject } from "../../model/is-object.ts";
import type { ClusterRecord } from "../../model/records.ts";
import type { SpecKind } from "../../model/spec-kinds.ts";
import { fieldManagerOf } from "../field-manager.ts";
import { asCount, asList, asName, asObject, asText, type Json } from "../../model/read/json.ts";
import { readTime } from "../../model/read/time.ts";
import type { SeenObject, SpecObject } from "./spec-listing.ts";

const STATUS = "status";

export interface ReadAs extends Pick<SpecKind, "annotations"> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly cluster: Pick<ClusterRecord, "uid">;
  /** The resourceVersion of the object with this uid whose manifest the caller has. */
  readonly knownVersion: (uid: string) => string | undefined;
}

/** Reads one object of a LIST; undefined for one that no API server gives: without name, namespace, uid or version. */
export const specObject = (raw: Json, as: ReadAs): SpecObject | undefined => {
  const metadata = asObject(raw["metadata"]);
  const [namespace, name, uid, resourceVersion] = ["namespace", "name", "uid", "resourceVersion"].map((field) => asText(metadata[field]));
  if (!namespace || !name || !uid || !resourceVersion) return undefined;
  const writers = asList(metadata["managedFields"]).map(asObject);
  const changedBy = managerOf(newest(writers.filter(({ subresource }) => asText(subresource) === "")));
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation: asCount(metadata["generation"]) ?? 0,
    deleting: asText(metadata["deletionTimestamp"]) !== "",
    ...(isObject(raw[STATUS]) && { status: raw[STATUS] }),
    ...(changedBy !== undefined && { changedBy }),
    ...statusWriter(writers, fieldManagerOf(as.cluster)),
    ...(as.knownVersion(uid) === resourceVersion ? {} : { manifest: manifestOf(raw, as) }),
  };
};

const statusWriter = (writers: readonly Json[], own: string): Pick<SeenObject, "statusBy"> => {
  const writer = newest(writers.filter((entry) => entry["subresource"] === STATUS && asText(entry["manager"]) !== own));
  const [manager, atMs] = [managerOf(writer), writer && readTime(writer["time"])];
  return manager === undefined || atMs === undefined ? {} : { statusBy: { manager, atMs } };
};

/** The entry with the latest time. RFC 3339 times of an API server are in UTC and whole seconds, so that they sort as text. */
const newest = (entries: readonly Json[]): Json | undefined => entries.toSorted((a, b) => (asText(a["time"]) < asText(b["time"]) ? 1 : -1))[0];

const managerOf = (entry: Json | undefined): string | undefined => (entry === undefined ? undefined : asName(entry["manager"]) || undefined);

/**
 * What rules or people read of an object: people choose by labels, and the rules of its kind read a few annotations. So 250 KB of foreign annotations are never stored, and an edit of them is no edit here.
 * The keys stay in the order of the answer, which an API server sorts. So equal objects give equal texts.
 */
const manifestOf = (raw: Json, { apiVersion, kind, annotations: read }: ReadAs): string => {
  const { name, namespace, labels, annotations } = asObject(raw["metadata"]);
  const kept = Object.entries(asObject(annotations)).filter(([key]) => read.includes(key));
  const metadata = { name, namespace, ...(labels !== undefined && { labels }), ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) };
  return JSON.stringify({ apiVersion, kind, metadata, spec: raw["spec"] });
};
