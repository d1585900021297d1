import type { Warning } from "../problem.ts";

/** What a sync finds only at its period cannot be timed more finely. */
export const shortWindow = (field: string, seconds: number | undefined, syncPeriodSeconds: number): readonly Warning[] =>
  seconds !== undefined && seconds > 0 && seconds < syncPeriodSeconds
    ? [
        {
          field,
          message: `${seconds} s are shorter than a sync period of ${syncPeriodSeconds} s: it is over by the next sync`,
          fix: `write ${syncPeriodSeconds} or more`,
        },
      ]
    : [];
