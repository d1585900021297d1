import { DAY_MS } from "../../../rules/model/time-text.ts";

/**
 * What one sync of a partition has and takes, as the mean of a day of syncs. It is an attribute of
 * the head, which every release writes anyway, and the bill of the stack is made from it.
 */
export interface MeanSync {
  readonly autoscalers: number;
  /** Autoscalers that changed what is remembered of them. */
  readonly changed: number;
  /** Counts of the workloads together. */
  readonly pods: number;
  /** Bytes that the cluster has sent. */
  readonly bytes: number;
  /** From the clock read after the claim until the release. */
  readonly tookMs: number;
}

/** A mean, and of how many syncs it is: at most those of a day. */
export interface MeanSyncs {
  readonly syncs: number;
  readonly mean: MeanSync;
}

const FIELDS = ["autoscalers", "changed", "pods", "bytes", "tookMs"] as const;

/** The mean with one sync more. Of more syncs than a day has, the newest one counts as one of these. */
export const meanWith = (
  before: MeanSyncs | undefined,
  sync: MeanSync,
  periodMs: number,
): MeanSyncs => {
  const most = Math.max(1, Math.round(DAY_MS / periodMs));
  const syncs = Math.min(most, (before?.syncs ?? 0) + 1);
  const of = (field: (typeof FIELDS)[number]): number => {
    const known = before?.mean[field] ?? 0;
    return known + (sync[field] - known) / syncs;
  };
  return {
    syncs,
    mean: {
      autoscalers: of("autoscalers"),
      changed: of("changed"),
      pods: of("pods"),
      bytes: of("bytes"),
      tookMs: of("tookMs"),
    },
  };
};

/** Digits that a mean keeps: a sync more of a day moves each of them still. */
const DIGITS = 7;

/** "5760 100 10.5 1200 327680 140.25": the syncs, and the means in the order of `FIELDS`. */
export const meanText = ({ syncs, mean }: MeanSyncs): string =>
  [syncs, ...FIELDS.map((field) => Number(mean[field].toPrecision(DIGITS)))].join(" ");

/** None where the text is no such text: nothing but a bill rests on it. */
export const meanOf = (text: string | undefined): MeanSyncs | undefined => {
  const numbers = (text ?? "").split(" ").map(Number);
  if (numbers.length !== FIELDS.length + 1 || !numbers.every((value) => value >= 0))
    return undefined;
  const [syncs = 0, autoscalers = 0, changed = 0, pods = 0, bytes = 0, tookMs = 0] = numbers;
  return { syncs, mean: { autoscalers, changed, pods, bytes, tookMs } };
};
