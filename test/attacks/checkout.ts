import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { clientFor } from "../../lib/cluster/connect.ts";
import { insertByStatement } from "../../lib/store/history/insert.ts";
import { putAutoscaler, raiseSpecVersion } from "../../lib/store/records/autoscalers.ts";
import { putCluster } from "../../lib/store/records/clusters.ts";
import { PURE_PART } from "../../lib/sync/decide/pure-part.ts";
import { sync } from "../../lib/sync/sync.ts";
import { DEFAULT_TIMING } from "../../lib/plan/timing.ts";
import { warmCache } from "../../lib/sync/load/warm-cache.ts";

/** The code of this checkout. An earlier one beside it has the same parts in the same form. Each checkout stores its own records. */
export const HERE = {
  ...{ sync, rules: PURE_PART, timing: DEFAULT_TIMING, warmCache, clientFor },
  ...{ insertByStatement, putCluster, putAutoscaler, raiseSpecVersion },
} as const;

export type Checkout = typeof HERE;

const FILES = ["sync/sync", "sync/timing", "sync/warm-cache", "cluster/connect", "store/history/insert", "store/records/clusters"] as const;

export const checkoutOf = async (folder: string): Promise<Checkout> => {
  // Checkouts before 0.2.0 have another name for it.
  const pure = existsSync(join(folder, "lib/sync/decide/pure-part.ts")) ? "sync/pure-part" : "sync/rules";
  const files = [...FILES, "store/records/autoscalers", pure];
  const parts: readonly object[] = await Promise.all(files.map((file) => import(pathToFileURL(join(folder, `lib/${file}.ts`)).href)));
  const { PURE_PART: rules, RULES, DEFAULT_TIMING: timing, ...code } = Object.assign({}, ...parts);
  // Earlier checkouts have the connection in the record, and read no cluster without it.
  const connection = { kind: "kubeconfig", path: "not-used" };
  const putting: typeof putCluster = (tables, record, expected) => code.putCluster(tables, { connection, ...record }, expected);
  return { ...code, timing, rules: rules ?? RULES, putCluster: putting };
};
