import { clientFor } from "../../lib/cluster/connect.ts";
import { insertByStatement } from "../../lib/store/history/item.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/store/records/autoscalers.ts";
import { putCluster } from "../../lib/store/records/clusters.ts";
import { PURE_PART } from "../../lib/sync/decide/pure-part.ts";
import { sync } from "../../lib/sync/sync.ts";
import { DEFAULT_TIMING } from "../../lib/plan/message.ts";
import { warmCache } from "../../lib/sync/load/warm-cache.ts";
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
  sync: [["sync/sync.ts", "sync"]],
  timing: [
    ["plan/message.ts", "DEFAULT_TIMING"],
    ["plan/timing.ts", "DEFAULT_TIMING"],
    ["sync/timing.ts", "DEFAULT_TIMING"],
  ],
  warmCache: [
    ["sync/load/warm-cache.ts", "warmCache"],
    ["sync/warm-cache.ts", "warmCache"],
  ],
  rules: [
    ["sync/decide/pure-part.ts", "PURE_PART"],
    ["sync/pure-part.ts", "PURE_PART"],
    ["sync/rules.ts", "RULES"],
  ],
  clientFor: [["cluster/connect.ts", "clientFor"]],
  insertByStatement: [
    ["store/history/item.ts", "insertByStatement"],
    ["store/history/insert.ts", "insertByStatement"],
  ],
  putCluster: [["store/records/clusters.ts", "putCluster"]],
  putAutoscaler: [["store/records/autoscalers.ts", "putAutoscaler"]],
  raiseSpecVersion: [["store/records/autoscalers.ts", "raiseSpecVersion"]],
} as const;

export const checkoutOf = async (folder: string): Promise<Checkout> => {
  const code = (await exportsIn(folder, PARTS)) as unknown as Checkout;
  // Earlier checkouts have the connection in the record, and read no cluster without it.
  const connection = { kind: "kubeconfig", path: "not-used" };
  const putting: typeof putCluster = (tables, record, expected) =>
    code.putCluster(tables, { connection, ...record } as typeof record, expected);
  return { ...code, putCluster: putting };
};
