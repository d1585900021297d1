/**
 * Environment variables of each function. The template sets exactly these, and a test compares them.
 *
 * - `TIDEMARK_STATE_TABLE`, `TIDEMARK_HISTORY_TABLE`: names of the two tables.
 * - `TIDEMARK_CONNECT_URL`: the URL of `connect`, told to callers of `api`.
 * - `TIDEMARK_SYNC_QUEUE_URL`: the queue between `schedule` and `sync`; `api` and `connect` plan a cluster there that was just added or divided.
 */
export const ENVIRONMENT = {
  schedule: ["TIDEMARK_STATE_TABLE", "TIDEMARK_SYNC_QUEUE_URL"],
  sync: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE"],
  api: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE", "TIDEMARK_CONNECT_URL", "TIDEMARK_SYNC_QUEUE_URL"],
  connect: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE", "TIDEMARK_SYNC_QUEUE_URL"],
  view: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE"],
} as const;

/** The values of a function's variables. Throws a RangeError that names every one that is missing. */
export const environmentOf = <Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> => {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new RangeError(`Cannot start: ${missing.join(", ")} must be set in the environment`);
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""])) as Record<Name, string>;
};
