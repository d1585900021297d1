import { billOf } from "../../lib/answers/cost/bill.ts";
import { dollars, fleetOf } from "../../docs/figures/cost-tables.ts";
import { unitsFor } from "../../lib/answers/cost/sync-units.ts";
import {
  FULL_CPU_GB,
  STOP_READ_UNITS,
  SYNC_MEMORY_GB,
  SYNC_WAIT_MS,
} from "../../lib/answers/cost/units.ts";

export interface PlayedFleet {
  readonly clusters: number;
  readonly autoscalers: number;
  /** Own CPU of a warm sync. */
  readonly syncCpuMs: number;
}

const PERIOD_SECONDS = 15;
const CHANGING = 0.01;
/**
 * serverless.yml, and the limits of AWS: strong reads and writes a second of one partition key,
 * concurrent executions of an account.
 */
const MAXIMUM_CONCURRENCY = 50;
const KEY_READ_UNITS = 3_000;
const KEY_WRITE_UNITS = 1_000;
const ACCOUNT_CONCURRENCY = 1_000;

interface Use {
  readonly limit: string;
  readonly used: number;
  readonly most: number;
}

const concurrencyOf = ({
  clusters,
  syncCpuMs,
}: Pick<PlayedFleet, "clusters" | "syncCpuMs">): number =>
  (clusters / PERIOD_SECONDS) *
  ((syncCpuMs * (FULL_CPU_GB / SYNC_MEMORY_GB) + SYNC_WAIT_MS) / 1_000);

/**
 * How much of each limit the fleet would use on AWS at a period of 15 s, the most used one first.
 */
export const usesOf = ({ clusters, autoscalers, syncCpuMs }: PlayedFleet): readonly Use[] => {
  const syncsASecond = clusters / PERIOD_SECONDS;
  const concurrency = concurrencyOf({ clusters, syncCpuMs });
  const { journalWriteUnits } = unitsFor({
    autoscalers,
    changing: CHANGING,
    periodSeconds: PERIOD_SECONDS,
    environments: 1,
  });
  const uses = [
    { limit: "maximumConcurrency", used: concurrency, most: MAXIMUM_CONCURRENCY },
    { limit: "concurrent executions of the account", used: concurrency, most: ACCOUNT_CONCURRENCY },
    {
      limit: "reads of the key of the fleet, units a second",
      used: syncsASecond * STOP_READ_UNITS,
      most: KEY_READ_UNITS,
    },
    {
      limit: "writes of the key of a journal, units a second",
      used: journalWriteUnits / PERIOD_SECONDS,
      most: KEY_WRITE_UNITS,
    },
  ];
  return uses.toSorted((one, other) => other.used / other.most - one.used / one.most);
};

export const projectionText = (fleet: PlayedFleet): string => {
  const uses = usesOf(fleet).map(
    ({ limit, used, most }) =>
      `${limit}: ${used.toFixed(1)} of ${most} (${((used / most) * 100).toFixed(1)} %)`,
  );
  const units = unitsFor({
    autoscalers: fleet.autoscalers,
    changing: CHANGING,
    periodSeconds: PERIOD_SECONDS,
    environments: Math.max(1, Math.ceil(concurrencyOf(fleet))),
  });
  const { firstMonth, afterYear } = billOf(
    fleetOf(fleet.clusters, fleet.clusters * fleet.autoscalers),
  );
  return [
    `On AWS at a period of ${PERIOD_SECONDS} s, ${CHANGING * 100} % changing; the most used limit first: ${uses.join("; ")}`,
    `A sync takes ${(units.stateWriteUnits + units.journalWriteUnits).toFixed(1)} write units and ${units.readUnits.toFixed(1)} read units; the fleet costs $${dollars(firstMonth)} in the first month and $${dollars(afterYear)} with 13 months of history`,
  ].join("\n");
};
