import type { ClusterClient } from "../cluster/port.ts";
import { isTidemarkError } from "../model/errors.ts";
import { foreignWords } from "../model/foreign-words.ts";
import type { ClusterRecord } from "../model/records.ts";
import type { SyncPorts } from "./sync-ports.ts";

export type Connected = { readonly kind: "connected"; readonly client: ClusterClient } | { readonly kind: "failed"; readonly message: string };

/** Fails to a hold: a cluster without access cannot be observed, so that its autoscalers hold and say why. */
export const connected = async (ports: SyncPorts, cluster: ClusterRecord): Promise<Connected> => {
  try {
    return { kind: "connected", client: await ports.connect(cluster) };
  } catch (error) {
    // A TidemarkError has a sentence of ours. The text of any other error is foreign: libraries quote the input that they were given.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", message: isTidemarkError(error) ? message : foreignWords(message) };
  }
};
