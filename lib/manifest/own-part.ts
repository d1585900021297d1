import { isObject } from "../model/json.ts";

/** Fields of the metadata that only an API server sets. */
const SERVER_FIELDS: readonly string[] = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "managedFields",
  "ownerReferences",
  "finalizers",
];

/**
 * The part of a manifest that a person writes: without `status` and without the metadata that only an API server sets. A manifest that was read back (`get -o yaml`) has both. Stored, they
 * would be listed as changes, and take space.
 */
export const ownPart = (document: unknown): unknown =>
  isObject(document)
    ? Object.fromEntries(
        Object.entries(document).flatMap(([field, value]) =>
          field === "status" ? [] : [[field, field === "metadata" ? ownMetadata(value) : value]],
        ),
      )
    : document;

const ownMetadata = (metadata: unknown): unknown =>
  isObject(metadata) ? Object.fromEntries(Object.entries(metadata).filter(([field]) => !SERVER_FIELDS.includes(field))) : metadata;
