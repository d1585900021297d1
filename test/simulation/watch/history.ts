import { eventOf } from "../../../lib/stack/store/history/events.ts";
import { historyItemOf } from "../../../lib/stack/store/history/item.ts";
import { CHANGE_SK_PREFIX } from "../../../lib/stack/store/table/keys.ts";
import { watchAhead } from "./clocks.ts";
import type { Item, ReadItem } from "./head.ts";
import type { KnownIntent, Ledger } from "./ledger.ts";
import { watchEventStep } from "./model-steps.ts";
import { watchOutside } from "./outside.ts";
import type { ScaleEventRecord } from "../../../lib/rules/model/scale-records.ts";

const ONE = "every intent ends in exactly one event";

/** Looks at everything that is inserted into history. */
export const watchHistory = (
  ledger: Ledger,
  before: Item | undefined,
  after: Item | undefined,
  read: ReadItem,
): void => {
  if (before || !after) {
    ledger.violate(ONE, "an item of history was changed or deleted");
    return;
  }
  const [pk, sk] = [after["pk"]?.S ?? "", after["sk"]?.S ?? ""];
  const isOwn = pk.startsWith("autoscaler#");
  if (isOwn && sk.startsWith(CHANGE_SK_PREFIX))
    ledger.objects.changes.add(sk.slice(CHANGE_SK_PREFIX.length));
  if ((isOwn && sk.startsWith("event#")) || pk.startsWith("day#"))
    watchTold(ledger, after, { isOwn, read });
};

const watchTold = (
  ledger: Ledger,
  after: Item,
  { isOwn, read }: { readonly isOwn: boolean; readonly read: ReadItem },
): void => {
  const event = eventOf(historyItemOf(after));
  if (event.outcome === "outside") {
    watchOutside(ledger, event, isOwn);
    return;
  }
  const known = ledger.intents.get(event.id);
  if (!known) ledger.violate(ONE, `the event "${event.id}" is of no intent that was ever stored`);
  else if (isOwn) {
    watchEventStep(ledger, known, event.outcome, read);
    watchEvent(ledger, known, event);
  } else watchDayEvent(ledger, known, event);
};

const addToSums = ({ totals }: Ledger, { uid, from, to }: ScaleEventRecord): void => {
  const sums = totals.get(uid) ?? { ups: 0, added: 0, downs: 0, removed: 0 };
  if (to > from) totals.set(uid, { ...sums, ups: sums.ups + 1, added: sums.added + to - from });
  if (to < from)
    totals.set(uid, { ...sums, downs: sums.downs + 1, removed: sums.removed + from - to });
};

const watchEvent = (ledger: Ledger, known: KnownIntent, event: ScaleEventRecord): void => {
  if (known.event) ledger.violate(ONE, `"${event.id}" has two`);
  known.event = event;
  watchAhead(ledger, event.settledMs, `settledMs of "${event.id}"`);
  if (event.outcome !== "refused") addToSums(ledger, event);
  if (event.outcome !== "refused")
    ledger.settledMs.set(
      event.uid,
      Math.max(ledger.settledMs.get(event.uid) ?? 0, event.settledMs),
    );
  if (event.outcome === "refused" && known.effects.length > 0) {
    ledger.violate(
      "every PUT that took effect has an event, applied or unknown",
      `"${event.id}" took effect before it was told as refused`,
    );
  }
};

const watchDayEvent = (ledger: Ledger, known: KnownIntent, event: ScaleEventRecord): void => {
  known.dayEvents++;
  if (known.dayEvents > 1) ledger.violate(ONE, `"${event.id}" is there twice under its day`);
  if (known.event?.outcome !== event.outcome)
    ledger.violate(ONE, `"${event.id}" is told in two ways`);
};

const remembered = (ledger: Ledger): readonly (readonly [string, KnownIntent])[] =>
  [...ledger.intents].filter(([, { forgotten }]) => !forgotten);

/**
 * At the end, when everything was settled: no intent without its one event, under its autoscaler
 * and under its day.
 */
export const watchEnd = (ledger: Ledger): void => {
  for (const [id, { event, dayEvents, open, effects }] of remembered(ledger)) {
    if (open) ledger.violate(ONE, `"${id}" is still open`);
    else if (!event || dayEvents !== 1)
      ledger.violate(ONE, `"${id}" has ${event ? 1 : 0}, and ${dayEvents} under its day`);
    else if (effects.length > 0 && event.outcome === "refused") {
      ledger.violate(
        "every PUT that took effect has an event, applied or unknown",
        `"${id}" took effect and ended as refused`,
      );
    }
  }
};
