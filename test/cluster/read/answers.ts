import { readPod } from "../../../lib/stack/cluster/read/pods.ts";
import { foreignReason, foreignText } from "../../../lib/rules/model/foreign-text.ts";
import { asCount, asList, asObject, asText } from "../../../lib/rules/model/json.ts";
import type { ApiFailure, Pod } from "../../../lib/rules/model/observation.ts";

/** Items of a core/v1 PodList. */
export const readPods = (items: unknown): readonly Pod[] => asList(items).map(readPod);

/** A Status object, the answer of the API server to a refused call. */
export const readFailure = (raw: unknown): ApiFailure => {
  const status = asObject(raw);
  return {
    code: asCount(status["code"]) ?? 0,
    reason: foreignReason(asText(status["reason"])) ?? "",
    message: foreignText(asText(status["message"])),
  };
};
