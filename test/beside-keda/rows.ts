import type { AutoscalerView } from "../../lib/answers/views/autoscaler.ts";
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
  /**
   * The count that Tidemark wants; undefined where its metric was missing, because it then holds
   * whatever count there is.
   */
  readonly own: number | undefined;
  readonly state: string;
  readonly because: string | undefined;
}

export const rowOf = (sample: number, load: number, view: AutoscalerView): Row => ({
  workload: view.name as WorkloadName,
  sample,
  load,
  current: view.currentReplicas,
  keda: view.rivals?.find((rival) => rival.desiredReplicas !== undefined)?.desiredReplicas,
  own: isMeasured(view) ? view.desiredReplicas : undefined,
  state: view.state,
  because: view.decision?.reason,
});

const isMeasured = ({ metrics }: AutoscalerView): boolean =>
  metrics.length > 0 && metrics.every(({ kind }) => kind !== "failed" && kind !== "unmeasured");

const isEqual = ({ own, keda }: Row): boolean => own !== undefined && own === keda;

const share = (rows: readonly Row[]): string => {
  const equal = rows.filter(isEqual).length;
  return `${equal} of ${rows.length} (${rows.length === 0 ? "-" : ((100 * equal) / rows.length).toFixed(2)} %)`;
};

/** The figures of a run, and every sync in which the two differ with the syncs around it. */
export const resultOf = (
  rows: readonly Row[],
  samples: number,
): { readonly text: string; readonly agreed: number } => {
  const hour = rows.filter(({ sample }) => sample < samples);
  const lines = WORKLOADS.flatMap((name) => {
    const of = rows.filter(({ workload }) => workload === name);
    const inHour = of.filter(({ sample }) => sample < samples);
    const counts = new Set(inHour.map(({ keda }) => keda)).size;
    return [
      `${name}: the same count in ${share(inHour)} syncs of the hour, in which KEDA had ${counts} counts; in ${share(of.slice(inHour.length))} of the rest and the start after it`,
      ...edgesOf(of.slice(inHour.length)).map((edge) => `  ${edge}`),
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

const firstSample = (rows: readonly Row[], isIt: (row: Row) => boolean): string => {
  const row = rows.find(isIt);
  return row === undefined ? "no sample" : `sample ${row.sample} (${row.current ?? "?"} run)`;
};

/**
 * When each let the workload rest, and when each started it again: KEDA by the pods that it sets,
 * as its HPA does not go to 0.
 */
const edgesOf = (rows: readonly Row[]): readonly string[] => {
  const from = rows.findIndex(({ load }) => load > 0);
  const [rest, start] = [rows.slice(0, from), rows.slice(from)];
  return [
    `no load from ${firstSample(rows, ({ load }) => load === 0)}: Tidemark wants 0 in ${firstSample(rest, ({ own }) => own === 0)}, KEDA has set 0 in ${firstSample(rest, ({ current }) => current === 0)}`,
    `load again from ${firstSample(start, () => true)}: Tidemark wants pods in ${firstSample(start, ({ own = 0 }) => own > 0)}, KEDA has set some in ${firstSample(start, ({ current = 0 }) => current > 0)}`,
  ];
};

const wordsOf = ({ load, current, keda, own, because }: Row): string =>
  `load ${load}, runs ${current ?? "-"}, KEDA ${keda ?? "-"}, Tidemark ${own ?? "-"} (${because ?? "-"})`;
