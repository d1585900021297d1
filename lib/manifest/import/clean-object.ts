import { isObject } from "../../model/is-object.ts";
import type { Json } from "../json.ts";

/** Annotations of tools about how an object got into its cluster. Applied elsewhere they would be wrong. */
const TOOL_ANNOTATION = /^(?:kubectl\.kubernetes\.io\/|autoscaling\.alpha\.kubernetes\.io\/|meta\.helm\.sh\/|argocd\.argoproj\.io\/tracking-id$)/;

/** An object of a cluster as a person would write it: without status and without what the server and its tools have added to the metadata. */
export const cleanObject = (raw: Json, dropped: RegExp = TOOL_ANNOTATION): Json => {
  const { apiVersion, kind, spec } = raw;
  return { apiVersion, kind, metadata: cleanMetadata(raw, dropped), spec };
};

export const cleanMetadata = ({ metadata }: Json, dropped: RegExp = TOOL_ANNOTATION): Json => {
  const { name, namespace, labels, annotations } = isObject(metadata) ? metadata : {};
  const kept = Object.fromEntries(
    Object.entries(isObject(annotations) ? annotations : {}).filter(([key]) => !TOOL_ANNOTATION.test(key) && !dropped.test(key)),
  );
  return {
    name,
    namespace,
    ...(isObject(labels) && Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(kept).length > 0 && { annotations: kept }),
  };
};
