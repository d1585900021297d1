import type { AutoscalerView } from "../../lib/views/autoscaler.ts";
import { HOUR_SAMPLES } from "./load.ts";
import { WORKLOADS, type WorkloadName } from "./objects.ts";

/** One sync of a PodAutoscaler beside KEDA. */
export interface Row {
  readonly workload: WorkloadName;
  readonly sample: number;
  readonly load: number;
  /** The pods that the workload had. */
  readonly current: number | undefined;
  /** The count that the HPA of KEDA wants. */
  readonly keda: number | undefined;
  readonly own: number | undefined;
  readonly state: string;
  readonly because: string | undefined;
}

export const rowsOf = (sample: number, load: number, views: readonly AutoscalerView[]): readonly Row[] =>
  views.map(({ name, rivals, currentReplicas, desiredReplicas, state, decision }) => ({
    workload: name as WorkloadName,
    sample,
    load,
    current: currentReplicas,
    keda: rivals?.find((rival) => rival.desiredReplicas !== undefined)?.desiredReplicas,
    own: desiredReplicas,
    state,
    because: decision?.reason,
  }));

const isEqual = ({ own, keda }: Row): boolean => own !== undefined && own === keda;

const share = (rows: readonly Row[]): string => {
  const equal = rows.filter(isEqual).length;
  return `${equal} of ${rows.length} (${rows.length === 0 ? "-" : ((100 * equal) / rows.length).toFixed(2)} %)`;
};

/** The figures of a run, and every sync in which the two differ with the syncs around it. */
export const resultOf = (rows: readonly Row[]): { readonly text: string; readonly agreed: number } => {
  const hour = rows.filter(({ sample }) => sample < HOUR_SAMPLES);
  const lines = WORKLOADS.flatMap((name) => {
    const of = rows.filter(({ workload }) => workload === name);
    const inHour = of.filter(({ sample }) => sample < HOUR_SAMPLES);
    const counts = new Set(inHour.map(({ keda }) => keda)).size;
    return [
      `${name}: the same count in ${share(inHour)} syncs of the hour, in which KEDA had ${counts} counts; in ${share(of.slice(inHour.length))} of the rest and the start after it`,
      ...of.flatMap((row, at) =>
        isEqual(row)
          ? []
          : [
              `  sample ${row.sample}: ${of
                .slice(Math.max(0, at - 1), at + 2)
                .map(wordsOf)
                .join(" | ")}`,
            ],
      ),
    ];
  });
  return { text: lines.join("\n"), agreed: hour.filter(isEqual).length / Math.max(1, hour.length) };
};

const wordsOf = ({ load, current, keda, own, because }: Row): string =>
  `load ${load}, runs ${current ?? "-"}, KEDA ${keda ?? "-"}, Tidemark ${own ?? "-"} (${because ?? "-"})`;
