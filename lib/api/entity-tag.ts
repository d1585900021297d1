import type { AutoscalerVersion, EditCondition } from "../service/service.ts";

/** The entity tag of a stored autoscaler (RFC 9110, section 8.8.3). It changes with each edit, and not with the counts and metrics beside the manifest. */
export const entityTag = ({ uid, generation }: AutoscalerVersion): string => `"${uid}.${generation}"`;

/** The header If-Match of a condition. A header without tags is malformed, so an empty list is sent as a tag that no autoscaler has. */
export const ifMatchText = (condition: EditCondition): string => {
  if (condition === "exists") return "*";
  return condition.length === 0 ? '""' : condition.map(entityTag).join(", ");
};

/** True where the caller has an answer that shows the same (RFC 9110, section 13.1.2). The tag of a stored autoscaler is strong, and says nothing of the counts in an answer: only weak tags count. */
export const isHeld = (tag: string | undefined, ifNoneMatch: string | undefined): boolean =>
  tag?.startsWith("W/") === true && (ifNoneMatch ?? "").split(",").some((one) => one.trim() === tag);
