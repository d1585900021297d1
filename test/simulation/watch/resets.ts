import { decodePage } from "../../../lib/stack/store/pages/codec.ts";
import type { Invocation } from "../invocation.ts";
import type { Item } from "./head.ts";
import type { Ledger } from "./ledger.ts";
import type { StoredWindows } from "../../../lib/rules/model/scale-records.ts";

/** The name of the scale that a reset of a page assumes, or the adoption of restored tables. */
export const isOfReset = (eventId: string): boolean =>
  eventId.startsWith("reset") || eventId.startsWith("adopt");

/**
 * An assumed scale of a reset gives room to no direction: it may have been made at any time
 * (policy/unknown-past.ts).
 */
const isAssumed = ({ windows: { memory } }: StoredWindows): boolean =>
  memory.recommendations === null &&
  memory.scaleUps.some(
    ({ earliestMs, eventId = "" }) => earliestMs === 0 && !eventId.includes(":outside-"),
  );

/**
 * A person wrote a page. Where that was a reset, what was recorded before is gone by its own rule,
 * and everything that the rules allow counts as done at that instant. A write that lands once the
 * table has answered the page to a sync changes nothing for this sync. It counts for the next, if
 * the head still names the page. That a sync has asked for the page is not enough: it may stand
 * still before its request.
 */
export const watchReset = (ledger: Ledger, after: Item): void => {
  const partition = after["pk"]?.S ?? "";
  if (ledger.holders.get(partition)?.pagesRead.has(after["sk"]?.S ?? "") === true)
    ledger.lateResets.set(partition, after);
  else countReset(ledger, after);
};

/**
 * The table answers a page to a sync: one that reads it again, because its first answer was lost,
 * reads what was written since.
 */
export const watchPageRead = (ledger: Ledger, by: Invocation, pk: string, sk: string): void => {
  by.pagesRead.add(sk);
  const late = ledger.lateResets.get(pk);
  if (ledger.holders.get(pk) !== by || late?.["sk"]?.S !== sk) return;
  ledger.lateResets.delete(pk);
  countReset(ledger, late);
};

/** At a claim: a late write to a page that the head names is what this sync will read. */
export const watchLateReset = (ledger: Ledger, head: Item): void => {
  const partition = head["pk"]?.S ?? "";
  const page = ledger.lateResets.get(partition);
  ledger.lateResets.delete(partition);
  if (page && Number(page["sk"]?.S?.split("#")[1]) === Number(head["pageGeneration"]?.N))
    countReset(ledger, page);
};

const countReset = (ledger: Ledger, after: Item): void => {
  const page = decodePage(after["body"]?.B ?? new Uint8Array());
  if (page.kind === "unreadable") return;
  for (const [uid, entry] of page.entries) {
    const { lastScaleMs = 0 } = entry.windows.status;
    if (!isAssumed(entry) || ledger.resetMs.get(uid) === lastScaleMs) continue;
    ledger.resetMs.set(uid, lastScaleMs);
    ledger.settledMs.set(uid, Math.max(ledger.settledMs.get(uid) ?? 0, lastScaleMs));
    ledger.leftMs.set(uid, Math.max(ledger.leftMs.get(uid) ?? 0, lastScaleMs));
    ledger.recommendations.set(uid, []);
    ledger.rivals.answered.delete(uid);
    ledger.rivals.shown.delete(uid);
    for (const effect of ledger.effects.get(uid) ?? []) effect.forgettable = true;
  }
};
