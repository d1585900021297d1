import type { Warning } from "../../fields/problem.ts";

/** Warns of a time shorter than a sync period, because a sync can only measure in periods. */
export const shortWindow = (field: string, seconds: number | undefined, syncPeriodSeconds: number): readonly Warning[] =>
  seconds !== undefined && seconds > 0 && seconds < syncPeriodSeconds
    ? [
        {
          field,
          message: `${seconds} s are shorter than the sync period of ${syncPeriodSeconds} s, so the next sync comes after it`,
          fix: `write ${syncPeriodSeconds} or more`,
        },
      ]
    : [];
