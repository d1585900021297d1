import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type { OutsideEventRecord, StoredWindows } from "../../../rules/model/scale-records.ts";
import { MINUTE_MS } from "../../../rules/model/time-text.ts";
import type { OutsideSeries } from "../../../rules/model/windows.ts";
import type { Verdict } from "../hand-over.ts";
import { CHANGED_BESIDE } from "../scale/scale-event.ts";

/**
 * Changes of one series are not further apart. Tools that set a count again do so every few seconds
 * or minutes, most of them every ten at the latest; and so long after its last change a fight is
 * over.
 */
export const SERIES_APART_MS = 20 * MINUTE_MS;

/** So many changes are a fight. A person who takes a count in hand sets it once or twice. */
export const CONTESTED_FROM = 4;

/**
 * The changes by others after this sync. What others do while a hold keeps the rules from acting is
 * no fight, and neither is what another controller did before a takeover.
 */
export const outsideAfter = (
  before: OutsideSeries | undefined,
  event: OutsideEventRecord | undefined,
  verdict: Verdict | undefined,
): OutsideSeries | undefined => {
  if (!event || event.reason === CHANGED_BESIDE || isHeldBack(verdict)) return before;
  const { settledMs: atMs, by } = event;
  const goesOn = before !== undefined && atMs - before.lastMs < SERIES_APART_MS;
  return {
    changes: goesOn ? before.changes + 1 : 1,
    firstMs: goesOn ? before.firstMs : atMs,
    lastMs: atMs,
    ...(by !== undefined && { by }),
  };
};

const isHeldBack = (verdict: Verdict | undefined): boolean =>
  verdict?.kind === "hold" && verdict.withoutHold !== undefined;

/** The changes of a count that is fought over; undefined where the rules cannot act either. */
export const contestedIn = (
  verdict: Verdict,
  entries: ReadonlyMap<AutoscalerUid, StoredWindows>,
  nowMs: number,
): OutsideSeries | undefined => {
  if (verdict.kind === "unevaluated" || isHeldBack(verdict)) return undefined;
  const series = entries.get(verdict.autoscaler.record.uid)?.outside;
  return series && series.changes >= CONTESTED_FROM && nowMs - series.lastMs < SERIES_APART_MS
    ? series
    : undefined;
};
