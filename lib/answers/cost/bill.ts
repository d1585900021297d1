import { MONTH_SECONDS, PRICES } from "./prices.ts";
import { cpuMsOf, projectedUnitsADay, unitsFor } from "./sync-units.ts";
import * as UNITS from "./units.ts";

/** What a bill is made for. */
export interface BilledFleet {
  readonly clusters: number;
  /** In all clusters together, spread evenly. */
  readonly autoscalers: number;
  readonly periodSeconds: number;
  /** Share of the autoscalers that change what they remember in one sync, 0 to 1. */
  readonly changing: number;
  /** Scales of one autoscaler in a day. */
  readonly scalesADay: number;
  /** Clusters that are reached by a secret. */
  readonly secrets: number;
  readonly clusterMetrics: keyof typeof UNITS.CLUSTER_METRIC_COUNTS;
  /** People and screens that watch all of the fleet (`get -w`) all day; absent is none. */
  readonly readers?: number;
  /** Seconds between two scrapes of all of `/metrics`; absent is no scrape. */
  readonly scrapeSeconds?: number;
}

/** What counts where nobody says otherwise. */
export const ASSUMED = { periodSeconds: 15, changing: 0.01, scalesADay: 10 } as const;

export const PARTS = [
  "Lambda",
  "SQS",
  "Scheduler",
  "DynamoDB",
  "logs",
  "metrics",
  "alarms",
  "secrets",
  "history",
] as const;
export type BillPart = (typeof PARTS)[number];

export interface Bill {
  /**
   * Dollars a month by part. `history` is what is stored of scale events after 13 months; it begins
   * at zero.
   */
  readonly parts: Readonly<Record<BillPart, number>>;
  /**
   * Of `readers` and `scrapeSeconds`, beside the parts; absent where there are none. Both sums have
   * it.
   */
  readonly readers?: number;
  /** In the first month: all parts but the history. */
  readonly firstMonth: number;
  readonly afterYear: number;
}

const GB = 1e9;
const MINUTES = MONTH_SECONDS / 60;
const DAYS = MONTH_SECONDS / 86_400;

/** The dollars of a month of a stack with one partition for each cluster. */
export const billOf = (fleet: BilledFleet): Bill => {
  const syncs = (fleet.clusters * MONTH_SECONDS) / fleet.periodSeconds;
  const scales = fleet.autoscalers * fleet.scalesADay * DAYS;
  const parts: Record<BillPart, number> = {
    Lambda: lambda(fleet, syncs),
    SQS: (syncs * UNITS.SQS_REQUESTS + UNITS.IDLE_POLLS) * PRICES.sqsRequest,
    Scheduler: MINUTES * PRICES.schedulerCall,
    DynamoDB: dynamoDb(fleet, syncs, scales),
    logs:
      (((syncs + MINUTES) * (UNITS.METRIC_LINE_BYTES + UNITS.PLATFORM_LINE_BYTES) +
        scales * UNITS.SCALE_LINES_BYTES) /
        GB) *
      PRICES.logGb,
    metrics:
      (UNITS.FLEET_METRICS + UNITS.CLUSTER_METRIC_COUNTS[fleet.clusterMetrics] * fleet.clusters) *
      PRICES.customMetric,
    alarms: UNITS.ALARM_METRICS * PRICES.alarmMetric,
    secrets:
      fleet.secrets *
      (PRICES.secret + environmentsOf(fleet) * UNITS.SECRET_READS_A_MONTH * PRICES.secretCall),
    history:
      ((scales * UNITS.EVENT_ITEMS * UNITS.EVENT_BYTES * UNITS.EVENT_MONTHS) / GB) *
      PRICES.storedGb,
  };
  const reading = readersOf(fleet);
  const afterYear = PARTS.reduce((sum, part) => sum + parts[part], reading);
  return {
    parts,
    ...(reading > 0 && { readers: reading }),
    firstMonth: afterYear - parts.history,
    afterYear,
  };
};

/** One cluster as a bill sees it. A partition counts as a cluster: each has syncs of its own. */
export interface BilledCluster extends Pick<BilledFleet, "autoscalers" | "periodSeconds"> {
  readonly partitions: number;
  readonly hasSecret: boolean;
}

/**
 * The dollars a month that one cluster adds to the bill of a stack, without what a stack without
 * clusters costs and without history.
 */
export const dollarsOfCluster = ({
  partitions,
  autoscalers,
  hasSecret,
  ...settings
}: BilledCluster): number => {
  const none = {
    ...ASSUMED,
    ...settings,
    clusterMetrics: "none",
    ...{ clusters: 0, autoscalers: 0, secrets: 0 },
  } as const;
  const own = { ...none, clusters: partitions, autoscalers, secrets: hasSecret ? 1 : 0 };
  return billOf(own).firstMonth - billOf(none).firstMonth;
};

/** A look and a scrape cost the heads of all partitions, and once a minute their summaries. */
const readersOf = (fleet: BilledFleet): number => {
  const { clusters, autoscalers, readers = 0, scrapeSeconds } = fleet;
  const everySeconds = Math.min(
    UNITS.LOOK_SECONDS.most,
    Math.max(UNITS.LOOK_SECONDS.least, clusters * UNITS.LOOK_SECONDS.cluster),
  );
  const looks = (readers * MONTH_SECONDS) / everySeconds;
  const scrapes = scrapeSeconds === undefined ? 0 : MONTH_SECONDS / scrapeSeconds;
  const lookUnits = UNITS.LOOK_UNITS.answer + clusters * UNITS.LOOK_UNITS.head;
  const units =
    looks * lookUnits +
    readers * MINUTES * clusters * UNITS.LOOK_UNITS.summary +
    scrapes * (UNITS.LOOK_UNITS.answer + clusters * UNITS.SCRAPE_UNITS.head) +
    Math.min(scrapes, MINUTES) * clusters * UNITS.SCRAPE_UNITS.summary;
  const seconds =
    looks * UNITS.LOOK_CPU_SECONDS +
    scrapes * (UNITS.LOOK_CPU_SECONDS + autoscalers * UNITS.SCRAPE_CPU_SECONDS);
  return (
    units * PRICES.readUnit +
    (looks + scrapes) * PRICES.lambdaRequest +
    seconds * UNITS.FULL_CPU_GB * PRICES.lambdaGbSecond
  );
};

const MS = 1_000;

const inCluster = ({ clusters, autoscalers }: BilledFleet): number =>
  autoscalers / Math.max(1, clusters);

const syncSeconds = (fleet: BilledFleet): number => {
  const cpuMs = cpuMsOf(inCluster(fleet));
  return (cpuMs * (UNITS.FULL_CPU_GB / UNITS.SYNC_MEMORY_GB) + UNITS.SYNC_WAIT_MS) / MS;
};

/** Environments of `sync` that are warm at a time. */
const environmentsOf = (fleet: BilledFleet): number =>
  Math.max(1, Math.ceil((fleet.clusters * syncSeconds(fleet)) / fleet.periodSeconds));

const lambda = (fleet: BilledFleet, syncs: number): number => {
  const messagesAMinute = syncs / MINUTES;
  const planSeconds = (UNITS.PLAN_MS + (messagesAMinute / 10) * UNITS.PLAN_BATCH_MS) / MS;
  const gbSeconds =
    syncs * syncSeconds(fleet) * UNITS.SYNC_MEMORY_GB +
    MINUTES * planSeconds * UNITS.SCHEDULE_MEMORY_GB;
  return (syncs + MINUTES) * PRICES.lambdaRequest + gbSeconds * PRICES.lambdaGbSecond;
};

const dynamoDb = (fleet: BilledFleet, syncs: number, scales: number): number => {
  const units = unitsFor({
    ...fleet,
    autoscalers: inCluster(fleet),
    environments: environmentsOf(fleet),
  });
  const { stateWriteUnits, summaryWriteUnits, journalWriteUnits, journalBytes, readUnits } = units;
  const writes =
    syncs * (stateWriteUnits + summaryWriteUnits + journalWriteUnits) +
    scales * (UNITS.EVENT_ITEMS * UNITS.EVENT_WRITE_UNITS + 1) +
    fleet.clusters * projectedUnitsADay(inCluster(fleet), fleet.changing) * DAYS;
  const journalGb = (syncs * journalBytes * (UNITS.JOURNAL_DAYS / DAYS)) / GB;
  const planReads = UNITS.PLAN_UNITS.read + fleet.clusters * UNITS.PLAN_UNITS.headRead;
  const planning =
    MINUTES * (UNITS.PLAN_UNITS.write * PRICES.writeUnit + planReads * PRICES.readUnit);
  return (
    writes * PRICES.writeUnit +
    syncs * readUnits * PRICES.readUnit +
    planning +
    journalGb * PRICES.storedGb
  );
};
