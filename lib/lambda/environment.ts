/** Variables of the three functions that answer people. */
const ANSWERING = [
  "TIDEMARK_STATE_TABLE",
  "TIDEMARK_HISTORY_TABLE",
  "TIDEMARK_SYNC_DEAD_LETTERS_URL",
  "TIDEMARK_TICK_DEAD_LETTERS_URL",
  "TIDEMARK_CALLED_BY",
] as const;

/** Variables of the two functions that renew and claim the leases of the fleet. */
const LEASES = ["TIDEMARK_WITNESS_TABLE", "TIDEMARK_TAKE_OVER_MINUTES"] as const;

/**
 * Environment variables of each function. The template sets exactly these, and a test compares
 * them.
 *
 * - `TIDEMARK_STATE_TABLE`, `TIDEMARK_HISTORY_TABLE`: names of the two tables.
 * - `TIDEMARK_CALLED_BY`: `url` or `invoke`, how people call the functions that answer them.
 * - `TIDEMARK_CONNECT_URL`: the URL of `connect`, or its ARN where it is invoked. `api` gives it to
 *   callers that connect a cluster.
 * - `TIDEMARK_SYNC_QUEUE_URL`: the queue between `schedule` and `sync`. `api` and `connect` send
 *   the first messages of an added or divided cluster there, and with `wake` the extra syncs.
 * - `TIDEMARK_SYNC_DEAD_LETTERS_URL`, `TIDEMARK_TICK_DEAD_LETTERS_URL`: the dead-letter queues,
 *   whose messages the status counts.
 * - `TIDEMARK_SYNC_FUNCTION`: the name of `sync`, which looks at clusters for `connect`.
 * - `TIDEMARK_ALARM_OWNERS`, `TIDEMARK_OWNER_TOPICS`: owners with commas between, and in the same
 *   order the ARNs of their SNS topics; or `none`.
 * - `TIDEMARK_ALARM_TOPIC`: the ARN of the SNS topic of the alarms, or `none`.
 * - `TIDEMARK_EXTERNAL_ID`: what `sync` gives when it assumes a role of another account, or `none`.
 * - `TIDEMARK_EVENT_BUS`: the name of the bus that events are put on, or `none`.
 * - `TIDEMARK_EVENTS_DEAD_LETTERS_URL`: the queue that keeps what cannot be put on it, or `none`.
 * - `TIDEMARK_AUDIT_BUCKET`: the bucket that audits are put into, or `none`.
 * - `TIDEMARK_WITNESS_TABLE`: the ARN of the table of a third region that has a lease of the fleet,
 *   or `none`.
 * - `TIDEMARK_TAKE_OVER_MINUTES`: after so many minutes without a lease a standby takes the fleet;
 *   with 0 it does not.
 * - `TIDEMARK_CLUSTER_METRICS`: `few`, `all` or `none` (lib/stack/report/sync-report.ts).
 */
export const ENVIRONMENT = {
  schedule: [
    "TIDEMARK_STATE_TABLE",
    "TIDEMARK_SYNC_QUEUE_URL",
    "TIDEMARK_ALARM_OWNERS",
    "TIDEMARK_OWNER_TOPICS",
    "TIDEMARK_ALARM_TOPIC",
    ...LEASES,
  ],
  sync: [
    "TIDEMARK_STATE_TABLE",
    "TIDEMARK_HISTORY_TABLE",
    "TIDEMARK_CLUSTER_METRICS",
    "TIDEMARK_EXTERNAL_ID",
  ],
  api: [...ANSWERING, "TIDEMARK_CONNECT_URL", "TIDEMARK_SYNC_QUEUE_URL"],
  connect: [...ANSWERING, "TIDEMARK_SYNC_QUEUE_URL", "TIDEMARK_SYNC_FUNCTION", ...LEASES],
  view: ANSWERING,
  wake: ["TIDEMARK_STATE_TABLE", "TIDEMARK_SYNC_QUEUE_URL"],
  events: [
    "TIDEMARK_STATE_TABLE",
    "TIDEMARK_HISTORY_TABLE",
    "TIDEMARK_EVENT_BUS",
    "TIDEMARK_EVENTS_DEAD_LETTERS_URL",
  ],
  audit: ["TIDEMARK_STATE_TABLE", "TIDEMARK_HISTORY_TABLE", "TIDEMARK_AUDIT_BUCKET"],
} as const;

/** Reads the variables of a function. Throws a RangeError that names each missing one. */
export const environmentOf = <Name extends string>(
  names: readonly Name[],
): Readonly<Record<Name, string>> => {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0)
    throw new RangeError(`Cannot start: ${missing.join(", ")} must be set in the environment`);
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""])) as Record<
    Name,
    string
  >;
};

/** The external id of the stack, as the options of a connection take it. */
export const externalIdIn = ({
  TIDEMARK_EXTERNAL_ID: id,
}: {
  readonly TIDEMARK_EXTERNAL_ID: string;
}): { readonly externalId?: string } => (id === "none" ? {} : { externalId: id });

/**
 * The entry of a function. It is built by the first event, so that importing its module needs no
 * environment.
 */
export const builtByFirst = <Event extends readonly unknown[], Answer>(
  build: () => (...event: Event) => Answer,
): ((...event: Event) => Answer) => {
  let built: ((...event: Event) => Answer) | undefined;
  return (...event) => {
    built ??= build();
    return built(...event);
  };
};
