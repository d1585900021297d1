import type { DoctorRule } from "../patient.ts";

/** The share of the period from which on a sync has little room left. */
const NEARLY = 0.8;

/** True of a sync that nearly misses its period. */
export const nearlyMisses = (tookMs: number, periodMs: number): boolean =>
  tookMs >= NEARLY * periodMs;

export const SLOW_SYNC: DoctorRule = {
  name: "slow-sync",
  severity: "advice",
  finds: "the sync of its partition takes four fifths of its period or more",
  examine: ({ sync, syncPeriodMs }) => {
    if (!sync || !nearlyMisses(sync.tookMs, syncPeriodMs)) return [];
    return [
      {
        evidence: `the last sync of partition "${sync.partition}" took ${(sync.tookMs / 1_000).toFixed(1)} s of its period of ${syncPeriodMs / 1_000} s`,
        cost: "a sync that misses its period is left out, and every count follows a period later",
        change: {
          field: "the cluster",
          advice:
            "`tidemark cluster add NAME --replace --period` with a longer period, or `--partition` to divide it",
        },
      },
    ];
  },
};
