import type { PartitionRef } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord, FleetRecord } from "../../../rules/model/records.ts";
import type { Windows } from "../../../rules/model/windows.ts";
import { type Head, readHeads } from "../../../stack/store/head/head.ts";
import { journalOfPage } from "../../../stack/store/history/journal.ts";
import { type DecodedPage, decodePage } from "../../../stack/store/pages/codec.ts";
import { readNamedPage } from "../../../stack/store/pages/pages.ts";
import { journalPageOf, journalPages, pageOf } from "../../../stack/store/pages/plan.ts";
import { JOURNAL_EVERY_MS } from "../../../stack/sync/keep/store-pages.ts";
import { windowsNow } from "../../../stack/sync/load/stored-windows.ts";
import type { QueryContext } from "../context.ts";
import type { Evaluation, JournalPage } from "../../../rules/model/scale-records.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";

/** What a partition has stored about an autoscaler. */
export interface PartitionData {
  readonly head?: Head;
  windows(record: AutoscalerRecord): Promise<Windows | undefined>;
  /** Why its windows page cannot be read; `undefined` when it can be, or does not exist. */
  windowsProblem(record: AutoscalerRecord): Promise<string | undefined>;
  /** The newest evaluation at or before an instant. */
  evaluation(record: AutoscalerRecord, atMs: number): Promise<Evaluated | undefined>;
}

export interface Evaluated {
  readonly atMs: number;
  readonly evaluation: Evaluation;
  /** Why its sync was woken. Absent for a planned sync. */
  readonly woken?: string;
}

/** The evaluation of an autoscaler in a page of the journal. */
export const evaluatedIn = (
  { atMs, woken }: JournalPage,
  evaluation: Evaluation | undefined,
): Evaluated | undefined =>
  evaluation && { atMs, evaluation, ...(woken !== undefined && { woken }) };

/**
 * Reads the head now, and each windows page and journal page once, at its first use. A list of
 * autoscalers so costs one read per page.
 */
export const partitionData = async (
  context: QueryContext,
  ref: PartitionRef,
  { periodMs, consistent = true }: { readonly periodMs: number; readonly consistent?: boolean },
): Promise<PartitionData> => {
  const [head] = await readHeads(context.tables, [ref], consistent);
  if (!head)
    return {
      windows: async () => undefined,
      windowsProblem: async () => undefined,
      evaluation: async () => undefined,
    };
  const pages = new Map<number, Promise<DecodedPage>>();
  const page = (index: number): Promise<DecodedPage> => {
    const known = pages.get(index) ?? readDecoded(context, ref, head, index);
    pages.set(index, known);
    return known;
  };
  return {
    head,
    windows: async ({ uid }) => {
      if (head.pages.length === 0) return undefined;
      const decoded = await page(pageOf(uid, head.pages.length));
      const stored = decoded.kind === "read" ? decoded.entries.get(uid) : undefined;
      return stored && windowsNow(stored, head.evaluatedMs);
    },
    windowsProblem: async ({ uid }) => {
      if (head.pages.length === 0) return undefined;
      const index = pageOf(uid, head.pages.length);
      const decoded = await page(index);
      return decoded.kind === "read"
        ? undefined
        : `windows page ${index} of partition "${ref.partition}" cannot be read: ${decoded.message}`;
    },
    evaluation: newestEvaluations(context, ref, { head, periodMs }),
  };
};

/** Whole journal pages that are searched for an autoscaler that moved between pages. */
const WHOLE_PAGES_MAX = 5;

/** Items of the journal that a request reads: those of a minute and one, of which one has all. */
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

const readDecoded = async (
  context: QueryContext,
  partition: PartitionRef,
  head: Head,
  index: number,
): Promise<DecodedPage> => {
  const id = { partition, generation: head.pageGeneration, index };
  const item = await readNamedPage(context.tables, id, head.pages[index] ?? 0);
  return item
    ? decodePage(item.body)
    : { kind: "unreadable", message: "the head names it, but the item does not exist" };
};

/**
 * A journal that has the evaluations of an autoscaler while its partition has so many pages of
 * windows.
 */
export interface JournalStream {
  readonly ref: PartitionRef;
  readonly page: number;
}

export const streamOf = (
  ref: PartitionRef,
  uid: AutoscalerRecord["uid"],
  head: Pick<Head, "pages"> | undefined,
): JournalStream => ({ ref, page: journalPageOf(uid, head?.pages.length ?? 0) });

/** Everything stored about one autoscaler. */
export interface AutoscalerSnapshot extends LocatedAutoscaler {
  readonly spec:
    | { readonly kind: "spec"; readonly spec: AutoscalerSpec }
    | { readonly kind: "problem"; readonly message: string };
  readonly fleet: FleetRecord;
  readonly windows?: Windows;
  /** Why the windows cannot be read. */
  readonly windowsProblem?: string;
  readonly evaluated?: Evaluated;
  /** The journal that has its newest evaluations; absent where no sync has made one. */
  readonly stream?: JournalStream;
  /** End of the partition's last completed sync. */
  readonly syncedMs?: number;
  /** How long that took; absent where it wrote no summary. */
  readonly sync?: { readonly partition: PartitionRef["partition"]; readonly tookMs: number };
  /** Since when pods count that should not, or are refused, as the head remembers it. */
  readonly podsSinceMs?: number;
  readonly nowMs: number;
}
