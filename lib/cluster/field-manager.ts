import type { ClusterRecord } from "../model/records.ts";
import { asList, asObject, asText, type Json } from "../model/read/json.ts";

/** The name of releases that did not yet tell stacks apart, and of clusters that such a release has added. */
const WITHOUT_UID = "tidemark";
const SCALE = "scale";

/**
 * The name under which the API server records the writes of one cluster record (`metadata.managedFields`). It never changes: the uid is made when the cluster is added, is stored with it, and
 * moves with the table. So two stacks have different names, and two records of one stack too. A table that was restored or copied gets another name when it is adopted.
 */
export const fieldManagerOf = ({ uid, restoredAs }: Pick<ClusterRecord, "uid" | "restoredAs">): string =>
  [WITHOUT_UID, uid, restoredAs].filter((part) => part !== undefined).join("-");

/** True of the name of any Tidemark, of this stack or another one. */
export const isOfTidemark = (manager: string): boolean => manager.startsWith(`${WITHOUT_UID}-`);

/**
 * The Tidemark that made the last change of the count, by the metadata of a workload; undefined where another program or a person made it, or the answer does not say so. The API server
 * removes the entry of a scale as soon as another writer changes the count. The entry of a scale has no time.
 */
export const lastScaledBy = (metadata: Json): string | undefined => {
  for (const raw of asList(metadata["managedFields"])) {
    const { manager, subresource } = asObject(raw);
    const name = asText(manager);
    if (subresource === SCALE && isOfTidemark(name)) return name;
  }
  return undefined;
};
