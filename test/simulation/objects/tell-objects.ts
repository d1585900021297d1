import type { ObjectUpdate, WriteBackCounts } from "../../../lib/stack/cluster/cluster-client.ts";
import type { ObjectStore } from "./object-store.ts";

/**
 * Writes the status of each object that still has the version that was read. Events leave no trace
 * in an object.
 */
export const tellNow = (store: ObjectStore, tellings: readonly ObjectUpdate[]): WriteBackCounts => {
  let failed = 0;
  for (const telling of tellings) {
    const { about } = telling;
    const ref = { kind: about.of.kind, namespace: about.namespace, name: about.name };
    if (telling.kind === "event") continue;
    const object = store.get(ref);
    if (object?.uid === about.uid && String(object.resourceVersion) === about.resourceVersion)
      store.touch(ref, { status: telling.status });
    else failed++;
  }
  return { written: tellings.length - failed, failed, left: 0 };
};
