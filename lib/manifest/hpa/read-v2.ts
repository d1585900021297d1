import { anything, objectOf, text } from "../../fields/shape.ts";
import { METADATA } from "../form.ts";
import type { ReadForm } from "./hpa-draft.ts";
import { V2_SPEC_FIELDS } from "./v2-shape.ts";

/** `status` comes with manifests that were read back from a cluster; it is dropped. */
export const HEAD = { apiVersion: text, kind: text, metadata: METADATA, status: anything } as const;

const V2 = objectOf({ ...HEAD, spec: objectOf(V2_SPEC_FIELDS) });

/** Reads autoscaling/v2 and v2beta2. */
export const readV2: ReadForm = (document, context) => {
  const read = V2(document, "", context);
  const { spec } = read ?? {};
  return { metadata: read?.metadata, spec: spec ?? {}, constraints: spec?.constraints, thresholds: spec, sourceOf: () => undefined };
};
