import { clientFor } from "../../lib/stack/cluster/connect.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { exportsIn } from "../simulation/beside/build.ts";

/**
 * The code of this checkout. An earlier one beside it has the same parts in the same form. Each
 * checkout stores its own records.
 */
export const HERE = {
  ...{ sync, rules: PURE_PART, timing: DEFAULT_TIMING, warmCache, clientFor },
  ...{ insertByStatement, putCluster, putAutoscaler, raiseSpecVersion },
} as const;

export type Checkout = typeof HERE;

/** Where each part is, the newest place first. */
const PARTS = {
  sync: [
    ["stack/sync/sync.ts", "sync"],
    ["sync/sync.ts", "sync"],
  ],
  timing: [
    ["stack/plan/message.ts", "DEFAULT_TIMING"],
    ["plan/message.ts", "DEFAULT_TIMING"],
    ["plan/timing.ts", "DEFAULT_TIMING"],
    ["sync/timing.ts", "DEFAULT_TIMING"],
  ],
  warmCache: [
    ["stack/sync/load/warm-cache.ts", "warmCache"],
    ["sync/load/warm-cache.ts", "warmCache"],
    ["sync/warm-cache.ts", "warmCache"],
  ],
  rules: [
    ["stack/sync/pure-part.ts", "PURE_PART"],
    ["stack/sync/decide/pure-part.ts", "PURE_PART"],
    ["sync/decide/pure-part.ts", "PURE_PART"],
    ["sync/pure-part.ts", "PURE_PART"],
    ["sync/rules.ts", "RULES"],
  ],
  clientFor: [
    ["stack/cluster/connect.ts", "clientFor"],
    ["cluster/connect.ts", "clientFor"],
  ],
  insertByStatement: [
    ["stack/store/history/item.ts", "insertByStatement"],
    ["store/history/item.ts", "insertByStatement"],
    ["store/history/insert.ts", "insertByStatement"],
  ],
  putCluster: [
    ["stack/store/records/clusters.ts", "putCluster"],
    ["store/records/clusters.ts", "putCluster"],
  ],
  putAutoscaler: [
    ["stack/store/records/autoscalers.ts", "putAutoscaler"],
    ["store/records/autoscalers.ts", "putAutoscaler"],
  ],
  raiseSpecVersion: [
    ["stack/store/records/autoscalers.ts", "raiseSpecVersion"],
    ["store/records/autoscalers.ts", "raiseSpecVersion"],
  ],
} as const;

export const checkoutOf = async (folder: string): Promise<Checkout> => {
  const code = (await exportsIn(folder, PARTS)) as unknown as Checkout;
  // Earlier checkouts have the connection in the record, and read no cluster without it.
  const connection = { kind: "kubeconfig", path: "not-used" };
  const putting: typeof putCluster = (tables, record, expected) =>
    code.putCluster(tables, { connection, ...record } as typeof record, expected);
  return { ...code, putCluster: putting };
};
