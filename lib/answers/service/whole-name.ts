import { splitName } from "./find-autoscaler.ts";
import { invalid } from "./refusals.ts";
import type { AutoscalerCursor } from "./service.ts";

/** Only a whole name says without a search which partition is meant. */
export const wholeName = (text: string): AutoscalerCursor => {
  const { cluster, namespace, name } = splitName({ name: text });
  if (cluster !== undefined && namespace !== undefined) return { cluster, namespace, name };
  throw invalid(`Cannot read the name "${text}": wanted CLUSTER/NAMESPACE/NAME`, { name: text });
};
