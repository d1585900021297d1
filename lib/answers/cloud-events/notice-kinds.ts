import type { NoticedAutoscaler, NoticeKind } from "../../rules/model/notices.ts";
import { LASTING_MS, type SummaryRow } from "../../rules/model/summary.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";

/** One kind of notice: an entry below, its words included. */
export interface NoticeRule {
  /** How long it must last. */
  readonly lastsMs: number;
  /**
   * Since when a row shows it: an instant, true where the row does not say since when, or undefined
   * where it does not show it. Absent for what is found of whole clusters only.
   */
  readonly since?: (row: SummaryRow) => number | true | undefined;
  readonly means: string;
  /** What follows the name of the autoscaler or the cluster. */
  readonly began: (found: Partial<NoticedAutoscaler>) => string;
  readonly ended: string;
}

const times = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;
const targetsText = ({ targets = [] }: Partial<NoticedAutoscaler>): string =>
  targets.length === 0 ? "" : ` (${targets.map(foreignText).join(", ")})`;

/** A hold that ends by itself within a few syncs is no news. */
const HELD_MS = 5 * MINUTE_MS;

export const NOTICE_RULES: Readonly<Record<NoticeKind, NoticeRule>> = {
  held: {
    lastsMs: HELD_MS,
    since: ({ heldBy }) => heldBy !== undefined || undefined,
    means: "something beside metrics and limits holds its count for five minutes: `heldBy`",
    began: ({ heldBy = "an unknown hold", reason = "" }) =>
      `held for 5 minutes by ${foreignText(heldBy)} (${foreignText(reason)})`,
    ended: "held no more",
  },
  flapBudget: {
    lastsMs: MINUTE_MS,
    since: ({ reason }) => reason === "FlapBudget" || undefined,
    means: "its `flapBudget` is spent for a minute, and keeps a smaller count from it",
    began: ({ current, desired }) =>
      `its flap budget is spent: it stays at ${current ?? "its count"}${desired === undefined || desired === current ? "" : `, and ${desired} is wanted`}`,
    ended: "its flap budget holds nothing back any more",
  },
  atMax: {
    lastsMs: LASTING_MS,
    since: ({ since }) => since?.atMax,
    means: "its metrics want more than its maximum in force for 15 minutes",
    began: (found) =>
      `at its maximum of ${found.max ?? found.current ?? "all replicas"} for 15 minutes, and its metrics want more${targetsText(found)}`,
    ended: "its metrics want no more than its maximum",
  },
  unmeasured: {
    lastsMs: LASTING_MS,
    since: ({ since }) => since?.unmeasured,
    means: "at least one of its metrics could not be read for 15 minutes",
    began: (found) =>
      `${times(found.missing ?? 1, "metric")} could not be read for 15 minutes; nothing shrinks meanwhile`,
    ended: "all its metrics are read again",
  },
  refused: {
    lastsMs: LASTING_MS,
    since: ({ since }) => since?.refused,
    means: "its scales were refused, and none was made, for 15 minutes",
    began: ({ current, desired }) =>
      `cannot scale for 15 minutes: it has ${current ?? "an unknown count"}, and ${desired ?? "another count"} is wanted`,
    ended: "it scales again, or wants no other count",
  },
  failing: {
    lastsMs: LASTING_MS,
    since: ({ since }) => since?.failing,
    means:
      "an autoscaler could not be decided for 15 minutes, or a cluster answers and nothing of it could be decided for five",
    began: ({ reason }) =>
      reason === undefined
        ? "it answers, and nothing could be decided for 5 minutes"
        : `not decided for 15 minutes (${foreignText(reason)})`,
    ended: "decided again",
  },
  unreachable: {
    lastsMs: 0,
    means: "no workload of a cluster could be read for five minutes",
    began: () => "it cannot be read for 5 minutes; nothing is scaled meanwhile",
    ended: "it is read again",
  },
};
