import { METADATA } from "../metadata.ts";
import { anything, objectOf, text } from "../shape.ts";
import type { ReadForm } from "./reading.ts";
import { V2_SPEC_FIELDS } from "./v2-shape.ts";

/** `status` is what a manifest read back from a cluster brings along; it is dropped. */
export const HEAD = { apiVersion: text, kind: text, metadata: METADATA, status: anything } as const;

const V2 = objectOf({ ...HEAD, spec: objectOf(V2_SPEC_FIELDS) });

/** autoscaling/v2 and v2beta2. */
export const readV2: ReadForm = (document, reading) => {
  const read = V2(document, "", reading);
  const { spec } = read ?? {};
  return { metadata: read?.metadata, spec: spec ?? {}, constraints: spec?.constraints, thresholds: spec, sourceOf: () => undefined };
};
