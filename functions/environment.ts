/**
 * Environment variables of each function. The template sets exactly these, and a test compares them.
 *
 * - `TIDEMARK_STATE_TABLE`, `TIDEMARK_HISTORY_TABLE`: names of the two tables.
 * - `TIDEMARK_CONNECT_URL`: the URL of `connect`, which `api` gives to callers that connect a cluster.
 * - `TIDEMARK_SYNC_QUEUE_URL`: the queue between `schedule` and `sync`. `api` and `connect` send the first messages of an added or divided cluster there.
 * - `TIDEMARK_CLUSTER_METRICS`: `few`, `all` or `none` (lib/report/sync-metrics.ts).
 */
export const ENVIRONMENT = {
  schedule: ["TIDEMARK_STATE_TABLE", "TIDEMARK_SYNC_QUEUE_URL"],
  sync: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE", "TIDEMARK_CLUSTER_METRICS"],
  api: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE", "TIDEMARK_CONNECT_URL", "TIDEMARK_SYNC_QUEUE_URL"],
  connect: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE", "TIDEMARK_SYNC_QUEUE_URL"],
  view: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE"],
} as const;

/** Reads the variables of a function. Throws a RangeError that names each missing one. */
export const environmentOf = <Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> => {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new RangeError(`Cannot start: ${missing.join(", ")} must be set in the environment`);
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""])) as Record<Name, string>;
};
