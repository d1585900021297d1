import limited from "p-limit";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import type { JournalPage } from "../../../rules/model/scale-records.ts";
import type { Head } from "../../../stack/store/head/head.ts";
import { journalOfPage } from "../../../stack/store/history/journal.ts";
import { journalPageOf, journalPages } from "../../../stack/store/pages/plan.ts";
import { JOURNAL_EVERY_MS } from "../../../stack/sync/keep/store-pages.ts";
import type { QueryContext } from "../context.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";
import {
  earlierStreams,
  type Evaluated,
  evaluatedIn,
  type JournalStream,
  newestIn,
  silenceMsOf,
} from "./journals.ts";

/** Whole journal pages that are searched for an autoscaler that moved between pages. */
const WHOLE_PAGES_MAX = 5;

/**
 * Items of the journal that a request reads: the items of a minute and one more, of which one has
 * all.
 */
const journaledTogether = (periodMs: number): number =>
  Math.min(JOURNALED_TOGETHER_MAX, Math.ceil(JOURNAL_EVERY_MS / periodMs) + 1);
const JOURNALED_TOGETHER_MAX = 16;

/** The newest evaluations of the autoscalers of a partition. */
export const newestEvaluations = (
  { tables }: Pick<QueryContext, "tables">,
  ref: PartitionRef,
  { head, periodMs }: { readonly head: Pick<Head, "pages">; readonly periodMs: number },
): ((
  record: Pick<AutoscalerRecord, "uid" | "createdMs">,
  atMs: number,
) => Promise<Evaluated | undefined>) => {
  const pageSize = journaledTogether(periodMs);
  const opened = new Map<string, LazyList<JournalPage>>();
  const before = (page: number, untilMs: number): LazyList<JournalPage> => {
    const key = `${page}@${untilMs}`;
    const known =
      opened.get(key) ??
      lazily(
        journalOfPage(tables, ref, { page, sinceMs: 0, untilMs, newestFirst: true, pageSize }),
      );
    opened.set(key, known);
    return known;
  };
  return async (record, atMs) => {
    // Pages get new numbers when a partition grows or shrinks, so older journal pages have other
    // numbers.
    const own = journalPageOf(record.uid, head.pages.length);
    for (const page of new Set([own, ...journalPages(head.pages.length)])) {
      const newest = await newestOf(record, before(page, atMs));
      if (newest) return newest;
    }
    return undefined;
  };
};

/**
 * The search stops at the creation of the autoscaler, so that a new one does not search the whole
 * journal.
 */
const newestOf = async (
  { uid, createdMs }: Pick<AutoscalerRecord, "uid" | "createdMs">,
  journals: AsyncIterable<JournalPage>,
): Promise<Evaluated | undefined> => {
  let whole = 0;
  for await (const page of journals) {
    const found = evaluatedIn(
      page,
      page.evaluations.find((entry) => entry.uid === uid),
    );
    if (found) return found;
    if (!page.partial) whole++;
    if (whole === WHOLE_PAGES_MAX || page.atMs < createdMs) break;
  }
  return undefined;
};

type LazyList<Item> = AsyncIterable<Item>;

/** Reads a stream once, as far as it is used, and keeps the items for later readers. */
const lazily = <Item>(stream: AsyncIterator<Item>): LazyList<Item> => {
  const taken: Promise<IteratorResult<Item>>[] = [];
  return {
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ; at++) {
        const next = taken[at] ?? stream.next();
        taken[at] = next;
        const { value, done } = await next;
        if (done) return;
        yield value;
      }
    },
  };
};

/** Queries at once. A silence may need some for each partition that its namespace was in. */
const PARALLEL = 16;

/** What a reader of the present journal knows of an instant. */
interface KnownFact extends LocatedAutoscaler {
  readonly evaluated?: Evaluated;
  readonly stream?: JournalStream;
  readonly nowMs: number;
}

/**
 * The newest evaluation at or before an instant, where the present journal of the autoscaler is
 * silent for longer than syncs are: its namespace may have been in another partition then, or the
 * partition divided otherwise. Falls back to what the present journal has.
 */
export const factAt = async (
  context: QueryContext,
  known: KnownFact,
  atMs: number,
): Promise<Evaluated | undefined> => {
  const { evaluated, cluster, record, nowMs } = known;
  const stretch = {
    sinceMs: evaluated ? evaluated.atMs + 1 : record.createdMs,
    untilMs: Math.min(atMs, nowMs),
  };
  if (evaluated && stretch.untilMs - evaluated.atMs <= silenceMsOf(cluster)) return evaluated;
  const own = known.stream;
  if (!own) return evaluated;
  const streams = await earlierStreams(context, known, own, stretch);
  const limit = limited(PARALLEL);
  const earlier = await Promise.all(
    streams.map((stream) => limit(() => newestIn(context, record.uid, stream, stretch))),
  );
  return [evaluated, ...earlier].reduce(
    (newest, other) => (other && (!newest || other.atMs > newest.atMs) ? other : newest),
    undefined,
  );
};
