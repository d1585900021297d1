import { newestRunAt, type RecommendationRun } from "../../../lib/rules/model/windows.ts";
import type { DecideInput } from "../../../lib/rules/policy/decide.ts";
import { headKey } from "../../../lib/stack/store/table/keys.ts";
import type { Decided } from "../invocation.ts";
import { type KnownEffect, type Ledger, listed, type Recommendation } from "./ledger.ts";
import { rulesOf } from "./rules-of.ts";

const WINDOWS = "stabilization windows hold what was recommended, no more and no less";
/**
 * A run of evenly spaced recommendations stands for some that clocks and delays had spaced a little
 * less evenly: which of them are older than an instant is known as exactly as that. It matters to
 * their count alone; the end of every run that is in a window is exact.
 */
const SPACING_MS = 5_000;

interface WindowsMs {
  readonly upMs: number;
  readonly downMs: number;
  /**
   * A record exactly as old as the window has left it; without behavior it still counts (hpa.md
   * 3.8).
   */
  readonly includesEdge: boolean;
}

const windowsMsOf = (input: DecideInput): WindowsMs => {
  const { spec } = input;
  const includesEdge =
    spec.dialect !== "watermark" && spec.dialect !== "native" && spec.behavior === undefined;
  return {
    upMs: rulesOf(input, true).stabilizationMs,
    downMs: rulesOf(input, false).stabilizationMs,
    includesEdge,
  };
};

/**
 * Notes what a decision recommends, and holds the windows that it was given against what earlier
 * ones recommended.
 */
export const watchRecommendations = (ledger: Ledger, decided: Decided): void => {
  const { uid, input } = decided;
  if (input.spec.dialect === "watermark") return;
  const known = listed(ledger.recommendations, uid);
  const { upMs, downMs } = windowsMsOf(input);
  const longestMs = Math.max(upMs, downMs);
  // What has left the longest window may be used again by the controller's own rule, and does not
  // come back when a window is made longer.
  const kept = known.filter(({ nowMs }) => nowMs >= input.nowMs - longestMs);
  const leftMs = known.reduce(
    (latest, { nowMs }) => (nowMs < input.nowMs - longestMs ? Math.max(latest, nowMs) : latest),
    ledger.leftMs.get(uid) ?? 0,
  );
  ledger.leftMs.set(uid, leftMs);
  ledger.recommendations.set(uid, kept);
  // A worker that was overtaken decides on an old state, and is fenced off.
  if (ledger.holders.get(headKey(decided.by.message).pk) === decided.by)
    watchRuns(ledger, uid, input, {
      kept,
      leftMs,
      damaged: ledger.damaged.has(decided.by.message.cluster),
    });
  const made = madeBy(decided);
  kept.push(...made);
  const pending = ledger.pending.get(decided.by) ?? new Map<string, Recommendation[]>();
  pending.set(uid, made);
  ledger.pending.set(decided.by, pending);
};

/** The raw proposal that was stabilized, and the count that an empty list begins with. */
const madeBy = ({ input, decision }: Decided): Recommendation[] => {
  const { nowMs, windows } = input;
  const proposed = decision.steps.find(({ step }) => step === "stabilize")?.before;
  const seed = windows.memory.recommendations === null ? decision.from : undefined;
  return [seed, proposed].flatMap((replicas) =>
    replicas === undefined ? [] : [{ replicas, nowMs, counts: false }],
  );
};

interface Known {
  readonly kept: readonly Recommendation[];
  readonly leftMs: number;
  /**
   * A page of a partition of the cluster was damaged, and its autoscalers may be in another
   * partition by now: a sync that could read it from memory alone takes open runs to go on through
   * syncs that held, until the page is reset.
   */
  readonly damaged: boolean;
}

const watchRuns = (
  ledger: Ledger,
  uid: string,
  { windows, nowMs }: DecideInput,
  { kept, leftMs, damaged }: Known,
): void => {
  const runs = windows.memory.recommendations ?? [];
  for (const { replicas, nowMs: atMs, counts } of kept) {
    // The same count recommended again later stands for it in every window that it is in.
    const held = runs.some((run) => run.replicas === replicas && atMs <= run.lastMs);
    if (counts && !held)
      ledger.violate(
        WINDOWS,
        `"${uid}" has lost the recommendation of ${replicas}, ${nowMs - atMs} ms ago`,
      );
  }
  if (damaged) return;
  const newest = runs[newestRunAt(runs)];
  for (const run of runs)
    if (run.lastMs > leftMs) watchRun(ledger, uid, run, { known: kept, newest: run === newest });
  watchCount(ledger, uid, runs, kept);
};

/**
 * A run ends with something that was recommended; the pieces of an older one with what was
 * recommended then or again later, which stands for them in every window.
 */
const watchRun = (
  ledger: Ledger,
  uid: string,
  { replicas, lastMs }: RecommendationRun,
  { known, newest }: { readonly known: readonly Recommendation[]; readonly newest: boolean },
): void => {
  const made = known.some(
    (one) => one.replicas === replicas && (newest ? one.nowMs === lastMs : one.nowMs > lastMs - 1),
  );
  if (!made)
    ledger.violate(
      WINDOWS,
      `"${uid}" remembers a recommendation of ${replicas} at ${timeOf(lastMs)} that was not made then; made were ${known.map((one) => `${one.replicas} at ${timeOf(one.nowMs)}${one.counts ? "" : "?"}`).join(", ")}`,
    );
};

const timeOf = (ms: number): string =>
  new Date(ms).toISOString().slice("2026-11-21T12:".length, -1);

/** No more of them than were made. */
const watchCount = (
  ledger: Ledger,
  uid: string,
  runs: readonly RecommendationRun[],
  kept: readonly Recommendation[],
): void => {
  const oldestMs = Math.min(...kept.map(({ nowMs }) => nowMs));
  const remembered = runs.reduce((sum, run) => sum + slotsAfter(run, oldestMs + SPACING_MS), 0);
  if (remembered > kept.length)
    ledger.violate(WINDOWS, `"${uid}" remembers ${remembered} recommendations of ${kept.length}`);
};

const slotsAfter = ({ firstMs, lastMs, stepMs }: RecommendationRun, afterMs: number): number => {
  if (lastMs <= afterMs) return 0;
  if (firstMs === lastMs) return 1;
  const from = Math.max(firstMs, afterMs);
  return Math.floor((lastMs - from) / (stepMs ?? lastMs - firstMs)) + 1;
};

/**
 * A count is lowered no further than the highest recommendation of the window, and raised no
 * further than the lowest of the other one.
 */
export const watchStabilization = (
  ledger: Ledger,
  { uid, from, to, id, decided }: KnownEffect,
): void => {
  const { nowMs, spec } = decided.input;
  if (spec.dialect === "watermark") return;
  const up = to > from;
  // Native counts are rounded up to the modulo after that.
  const modulo = spec.dialect === "native" && up ? spec.scaleUp.replicaModulo : 1;
  for (const { replicas, nowMs: atMs } of countingInside(ledger, uid, decided.input, up)) {
    if (
      up
        ? to > Math.ceil(Math.max(replicas, from) / modulo) * modulo
        : to < Math.min(replicas, from)
    ) {
      ledger.violate(
        WINDOWS,
        `"${id}" went from ${from} to ${to}, and ${replicas} were recommended ${nowMs - atMs} ms before`,
      );
    }
  }
};

const countingInside = (
  ledger: Ledger,
  uid: string,
  input: DecideInput,
  up: boolean,
): readonly Recommendation[] => {
  const { upMs, downMs, includesEdge } = windowsMsOf(input);
  const sinceMs = input.nowMs - (up ? upMs : downMs);
  const known = ledger.recommendations.get(uid) ?? [];
  return known.filter(
    ({ nowMs, counts }) =>
      counts && nowMs < input.nowMs && (includesEdge ? nowMs >= sinceMs : nowMs > sinceMs),
  );
};
