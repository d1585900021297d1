import { isDeepStrictEqual } from "node:util";
import {
  autoscalerUid,
  clusterName,
  type PartitionRef,
  partitionName,
} from "../../../lib/rules/model/ids.ts";
import { type DecodedPage, decodePage } from "../../../lib/stack/store/pages/codec.ts";
import { pageOf } from "../../../lib/stack/store/pages/plan.ts";
import { autoscalerKey, pageKey } from "../../../lib/stack/store/table/keys.ts";
import type { Item, ReadItem } from "./head.ts";
import type { KnownIntent, Ledger } from "./ledger.ts";
import { isOfOutside } from "./outside.ts";
import { isOfReset } from "./resets.ts";
import type { Intent, ScaleTotals } from "../../../lib/rules/model/scale-records.ts";

const COUNTS = "no PUT takes effect without an intent that every later holder counts";

const MADE = "windows count only scales that may have been made";

const TOTALS = "the totals of an autoscaler are the sums of its scale events";

const partitionOf = (head: Item): PartitionRef => {
  const [, cluster = "", partition = ""] = (head["pk"]?.S ?? "").split("#");
  return { cluster: clusterName(cluster), partition: partitionName(partition) };
};

const pageItem = (head: Item, index: number, read: ReadItem): Item | undefined => {
  const { pk, sk } = pageKey(partitionOf(head), Number(head["pageGeneration"]?.N ?? 0), index);
  return read(pk, sk);
};

/**
 * A release names the pages as they are: else the next holder goes by others than this one wrote.
 */
export const watchNamedPages = (ledger: Ledger, head: Item, read: ReadItem): void => {
  for (const [index, { N: named }] of (head["pages"]?.L ?? []).entries()) {
    const item = pageItem(head, index, read);
    const found = item?.["epoch"]?.N;
    if (found !== named)
      ledger.violate(
        COUNTS,
        `the head of ${head["pk"]?.S} names page ${index} of epoch ${named}, and it is of ${found}`,
      );
    watchMade(ledger, item?.["body"]?.B ?? NO_BYTES);
  }
};

/**
 * A page that the head names is there until another head names others: a holder that does not find
 * it holds its autoscalers for ever.
 */
export const watchPagesThere = (ledger: Ledger, head: Item, read: ReadItem): void => {
  for (const [index, { N: named }] of (head["pages"]?.L ?? []).entries()) {
    const found = pageItem(head, index, read)?.["epoch"]?.N;
    if (found === undefined)
      ledger.violate(
        COUNTS,
        `the head of ${head["pk"]?.S} names page ${index} of epoch ${named}, and it is gone`,
      );
  }
};

/**
 * What a freeze, a pause or a rival kept from being written is in no window: limits, forbidden
 * windows and the last scale are of PUTs that were sent and not refused.
 */
const watchMade = (ledger: Ledger, body: Uint8Array): void => {
  if (watched.has(body)) return;
  watched.add(body);
  const page = decoded(body);
  if (page.kind === "unreadable") return;
  for (const [uid, { windows }] of page.entries) {
    const { scaleUps, scaleDowns } = windows.memory;
    const unmade = [...scaleUps, ...scaleDowns].find(
      ({ eventId = "" }) =>
        !isOfReset(eventId) &&
        !isOfOutside(ledger, eventId) &&
        !ledger.damaged.has(eventId) &&
        (ledger.intents.get(eventId)?.event?.outcome ?? "refused") === "refused",
    );
    if (unmade) ledger.violate(MADE, `"${uid}" counts "${unmade.eventId}", which was never made`);
    const { lastScaleMs } = windows.status;
    if (lastScaleMs !== undefined && lastScaleMs > (ledger.settledMs.get(uid) ?? 0)) {
      ledger.violate(
        MADE,
        `"${uid}" was last scaled at ${new Date(lastScaleMs).toISOString()}, it says, and was not`,
      );
    }
  }
};
const watched = new WeakSet<Uint8Array>();

/** An intent that is cleared has its event, and its page counts it unless it was refused. */
export const watchClearedIntent = (
  ledger: Ledger,
  { intent, event, effects }: KnownIntent,
  head: Item,
  read: ReadItem,
): void => {
  const { id } = intent;
  if (!event)
    ledger.violate("every intent ends in exactly one event", `"${id}" was cleared and has none`);
  else if (event.outcome !== "refused")
    watchCountedOnPage(ledger, intent, event.settledMs, { head, read });
  else if (effects.length > 0) {
    ledger.violate(
      "every PUT that took effect has an event, applied or unknown",
      `"${id}" took effect and ended as refused`,
    );
  }
};

const SECOND_MS = 1_000;
const NO_BYTES = new Uint8Array();

/**
 * Bodies are never changed in place, and each is looked at for every intent that its release
 * clears: decoded once.
 */
const decoded = (body: Uint8Array): DecodedPage => {
  const known = pages.get(body) ?? decodePage(body);
  pages.set(body, known);
  return known;
};
const pages = new WeakMap<Uint8Array, DecodedPage>();

/**
 * The record of the autoscaler of an intent; absent where it was deleted, also where another one of
 * its name is there.
 */
export const recordOfIntent = (
  { uid, namespace, name }: Pick<Intent, "uid" | "namespace" | "name">,
  head: Item,
  read: ReadItem,
): Item | undefined => {
  const key = autoscalerKey({ ...partitionOf(head), namespace, name });
  const record = read(key.pk, key.sk);
  return record?.["uid"]?.S === uid && record["deletedMs"] === undefined ? record : undefined;
};

const watchCountedOnPage = (
  ledger: Ledger,
  { id, uid, namespace, name, from, ruled }: Intent,
  settledMs: number,
  { head, read }: { readonly head: Item; readonly read: ReadItem },
): void => {
  const index = pageOf(autoscalerUid(uid), Math.max(1, head["pages"]?.L?.length ?? 0));
  const page = decoded(pageItem(head, index, read)?.["body"]?.B ?? NO_BYTES);
  // A page that was damaged after it was written holds its autoscalers, until a reset counts
  // everything that may have been.
  if (page.kind === "unreadable") return;
  const entry = page.entries.get(uid);
  const windows = entry?.windows;
  // Windows of a deleted autoscaler limit nothing: a new one of its name has another uid.
  if (!recordOfIntent({ uid, namespace, name }, head, read)) return;
  if (!windows)
    ledger.violate(COUNTS, `"${id}" was cleared, and the page has no windows of its autoscaler`);
  // One dialect keeps whole seconds.
  const wholeMs = Math.floor(settledMs / SECOND_MS) * SECOND_MS;
  // Windows do not record what a bound of an override forced.
  if (windows && ruled !== from && (windows.status.lastScaleMs ?? 0) < wholeMs)
    ledger.violate(COUNTS, `"${id}" was cleared, and the page does not count it`);
  watchTotals(ledger, uid, entry?.totals);
};

/** Every scale of an autoscaler is counted once. A reset of its page begins again at zero. */
const watchTotals = (ledger: Ledger, uid: string, totals: ScaleTotals | undefined): void => {
  if (ledger.resetMs.has(uid)) return;
  const { epoch: _epoch, ...counted } = totals ?? {
    ups: 0,
    added: 0,
    downs: 0,
    removed: 0,
    epoch: 0,
  };
  const sums = ledger.totals.get(uid) ?? { ups: 0, added: 0, downs: 0, removed: 0 };
  if (!isDeepStrictEqual(counted, sums))
    ledger.violate(
      TOTALS,
      `those of "${uid}" are ${JSON.stringify(counted)}, and its events say ${JSON.stringify(sums)}`,
    );
};
