/**
 * What one sync takes, by the number of autoscalers of its partition, with the command that
 * measured it. Between the sizes the figures are interpolated. test/cost holds those that a test
 * can measure.
 */
export interface SyncUnits {
  readonly autoscalers: number;
  /**
   * CPU of the function in ms: `npm run bench -- cluster`, medians of 12 steady syncs against a
   * real API server.
   */
  readonly cpuMs: number;
  /** Strong reads of all manifests: `npm run bench -- cost`. */
  readonly reloadReadUnits: number;
}

export const SYNC_UNITS: readonly SyncUnits[] = [
  { autoscalers: 10, cpuMs: 21, reloadReadUnits: 2 },
  { autoscalers: 100, cpuMs: 31, reloadReadUnits: 14 },
  { autoscalers: 1_000, cpuMs: 151, reloadReadUnits: 135 },
];

/**
 * Autoscalers of a page of windows, and write units of one in a sync that changes it: `npm run
 * bench -- cost`, with random uids and values.
 */
export const WINDOWS_PAGE = { autoscalers: 12, writeUnits: 1 } as const;
/** A page of the journal holds ten pages of windows. */
export const JOURNAL_PAGE_AUTOSCALERS = 10 * WINDOWS_PAGE.autoscalers;

/**
 * Write units of one page of the journal with so many autoscalers, as the difference from an
 * earlier one, and of that one: `npm run bench -- cost`.
 */
export const JOURNAL_UNITS: readonly {
  readonly autoscalers: number;
  readonly difference: number;
  readonly whole: number;
  /** Of a page of changes in which all have changed. */
  readonly changed: number;
}[] = [
  { autoscalers: 10, difference: 1, whole: 1, changed: 1 },
  { autoscalers: 100, difference: 1, whole: 4, changed: 1 },
  { autoscalers: 112, difference: 1, whole: 4, changed: 1.45 },
];
/**
 * Write units of a day of one autoscaler for its samples and its pods: an item of both for every
 * six hours, and two where they do not fit into one. And of an item of quarters of an hour, which
 * some autoscalers share (lib/stack/projections). By the chance that an autoscaler changes what it
 * remembers in a sync: `test/cost/projected-units.test.ts`.
 */
export const PROJECTED_UNITS: {
  readonly samplesADay: readonly (readonly [changing: number, writeUnits: number])[];
  readonly quarter: readonly (readonly [changing: number, writeUnits: number])[];
} = {
  samplesADay: [
    [0.105, 4.1],
    [1, 8],
  ],
  quarter: [
    [0.01, 1],
    [0.105, 2],
  ],
};
/** Quarters of an hour in a day, and the windows pages whose autoscalers share an item of them. */
export const QUARTER_ITEMS = {
  aDay: 96,
  pagesAnItem: 5,
  pagesLeast: 5,
  pagesOfJournal: 10,
} as const;
/** Each environment inserts a page whole once in this time. */
export const JOURNAL_WHOLE_SECONDS = 3_600;
/**
 * Bytes of an item of the journal beside what it holds: its keys, and what DynamoDB adds to an item
 * that is stored. And bytes of each autoscaler in a difference, and in a page that is whole.
 */
export const JOURNAL_BYTES = { item: 300, difference: 6, whole: 29 } as const;
/**
 * Write units of the summary for readers, once a minute, with every number of every autoscaler
 * random: `test/store/summary.test.ts`.
 */
export const SUMMARY_UNITS: readonly (readonly [autoscalers: number, writeUnits: number])[] = [
  [10, 1],
  [100, 3],
  [1_000, 25],
];
/**
 * Autoscalers whose changes have room in a head; and beside them, of a larger partition, this share
 * of all. Where more change within a minute, the summary is written once more.
 */
export const SUMMARY_ROOM = { autoscalers: 12, share: 0.1 } as const;
/** Manifests that did not change are read again after this time, by each environment. */
export const RELOAD_SECONDS = 300;
/** The head is written twice by every sync. */
export const HEAD_WRITE_UNITS = 2;

/** The fleet and the cluster, read strongly by every sync. */
export const STOP_READ_UNITS = 2;

/**
 * Memory of the functions in serverless.yml, in GB. A function has one vCPU at 1,769 MB, and less
 * with less.
 */
export const SYNC_MEMORY_GB = 0.5;
export const SCHEDULE_MEMORY_GB = 0.25;
export const FULL_CPU_GB = 1_769 / 1_024;

/**
 * Assumption: time in which a sync waits for the cluster and the tables. Three rounds to a cluster
 * take 20 ms each, six to DynamoDB 5 ms each.
 */
export const SYNC_WAIT_MS = 90;
/** Assumption: one planning call, and ten messages of it. */
export const PLAN_MS = 100;
export const PLAN_BATCH_MS = 2;

/**
 * A planning call reads which minutes are planned, whether the fleet is frozen and which problems
 * were reported, and marks its own minute. The list of the clusters is left out, as a small fleet's
 * is one unit. To count problems it reads the head of each partition eventually.
 */
export const PLAN_UNITS = { read: 3, headRead: 0.5, write: 1 } as const;

/** A message is sent with nine others, received and deleted. */
export const SQS_REQUESTS = 2.1;
/** Pollers of the event source ask an empty queue: five of them every 20 s. */
export const IDLE_POLLS = 657_000;

/**
 * Bytes of the lines in a log: the metrics of a sync, what Lambda itself writes for a call (START,
 * END, REPORT), and the lines of a sync with one scale beside those.
 */
export const METRIC_LINE_BYTES = 310;
export const PLATFORM_LINE_BYTES = 290;
export const SCALE_LINES_BYTES = 950;

/** SyncLag, CompletedSyncs and ScalesApplied get a value in every hour. */
export const FLEET_METRICS = 3;
export const CLUSTER_METRIC_COUNTS = { none: 0, few: 1, all: 18 } as const;
/** Metrics that the alarms of infra/alarms.yml look at. */
export const ALARM_METRICS = 20;

/**
 * A scale event is two items. The bytes are of one item, with its keys and the 100 that DynamoDB
 * adds to an item that is stored.
 */
export const EVENT_ITEMS = 2;
export const EVENT_BYTES = 350;
export const EVENT_WRITE_UNITS = 1;
export const EVENT_MONTHS = 13;
export const JOURNAL_DAYS = 14;

/** Each of the environments reads a secret every five minutes. */
export const SECRET_READS_A_MONTH = 8_760;

/**
 * Seconds between two looks of `get -w`: `least` at first, `cluster` more for each cluster, and
 * never above `most` (lib/command/commands/get-watched.ts).
 */
export const LOOK_SECONDS = { least: 5, most: 15, cluster: 0.15 } as const;
/**
 * Read units of a look: grants, fleet and clusters; the head of each partition; and once a minute
 * its summary. `test/service/read-budgets.test.ts` counts them.
 */
export const LOOK_UNITS = { answer: 8, head: 0.5, summary: 0.5 } as const;
/**
 * Read units of a scrape of `/metrics`, for each partition: its head, and once a minute its
 * summary. `test/service/read-budgets.test.ts` counts them.
 */
export const SCRAPE_UNITS = { head: 1, summary: 0.5 } as const;
/** Assumption: seconds of a whole CPU of a look at heads, and of an autoscaler in a scrape. */
export const LOOK_CPU_SECONDS = 0.02;
export const SCRAPE_CPU_SECONDS = 0.00004;
