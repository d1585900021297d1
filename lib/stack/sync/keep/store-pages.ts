import { mapYielding } from "../../cluster/map-yielding.ts";
import { opens } from "../../projections/project.ts";
import type { AutoscalerUid, PartitionRef } from "../../../rules/model/ids.ts";
import { encodePage } from "../../store/pages/codec.ts";
import { deleteLeftovers, deletePage, writePage } from "../../store/pages/pages.ts";
import {
  PAGE_BYTES_MAX,
  PAGE_BYTES_NEVER_ABOVE,
  pageOf,
  wantedPages,
  journalPageOf,
  journalPages,
} from "../../store/pages/plan.ts";
import { mapWithLimit } from "../../store/table/wait-for-all.ts";
import { needsNoWrite } from "../load/stored-windows.ts";
import type { SyncMessage, Woken } from "../../plan/message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { StoredWindows, JournalPage } from "../../../rules/model/scale-records.ts";
import { basesAfter, type JournalBases, journalItem } from "../../store/history/journal.ts";
import { evaluationOf } from "../decide/evaluation.ts";
import { uidOf } from "../load/load-specs.ts";
import type {
  Loaded,
  LoadedPage,
  Verdict,
  After,
  StoredPages,
  WrittenJournal,
} from "../hand-over.ts";

const PARALLEL = 8;
/** Pages that are compared and packed in one turn of the event loop, a few milliseconds each. */
const PAGES_A_TURN = 2;

/**
 * Writes the windows pages that changed, or all of them where that is needed. Where the autoscalers
 * need another number of pages, it writes a new generation.
 */
export const storePages = async (
  ports: SyncPorts,
  partition: PartitionRef,
  loaded: Loaded,
  after: ReadonlyMap<AutoscalerUid, StoredWindows>,
): Promise<StoredPages> => {
  const wanted = wantedNow(loaded, after.size, ports.timing.pageEntries);
  const plan = await (wanted === loaded.pages.length
    ? sameGeneration(loaded, after)
    : newGeneration(loaded, after, wanted));
  const isFitting =
    plan.writes.every(({ body }) => body.length <= PAGE_BYTES_MAX) || hasUnreadable(loaded);
  const fitting = isFitting ? plan : await divided(loaded, after, wanted);
  await mapWithLimit(fitting.writes, PARALLEL, ({ index, body, readEpoch }) => {
    const pageId = { partition, generation: fitting.generation, index };
    return writePage(ports.tables, {
      id: pageId,
      epoch: loaded.head.epoch,
      body,
      ...(readEpoch !== undefined && { readEpoch }),
    });
  });
  return {
    generation: fitting.generation,
    pages: fitting.pages,
    changed: fitting.changed,
    written: fitting.writes.length,
  };
};

interface Plan {
  readonly generation: number;
  readonly pages: readonly LoadedPage[];
  readonly changed: ReadonlySet<AutoscalerUid>;
  readonly writes: readonly {
    readonly index: number;
    readonly body: Uint8Array;
    readonly readEpoch?: number;
  }[];
}

const hasUnreadable = ({ pages }: Loaded): boolean =>
  pages.some(({ kind }) => kind === "unreadable");

/** The number of pages stays while one cannot be read, because its entries cannot be moved. */
const wantedNow = (loaded: Loaded, autoscalers: number, pageEntries: number): number => {
  const bytes = loaded.pages.reduce((sum, { body }) => sum + body.length, 0);
  return hasUnreadable(loaded)
    ? loaded.pages.length
    : wantedPages(autoscalers, loaded.pages.length, bytes, pageEntries);
};

const byPage = (
  after: ReadonlyMap<AutoscalerUid, StoredWindows>,
  pages: number,
): ReadonlyMap<number, readonly StoredWindows[]> =>
  Map.groupBy(after.values(), ({ uid }) => pageOf(uid, pages));

const sameGeneration = async (
  loaded: Loaded,
  after: ReadonlyMap<AutoscalerUid, StoredWindows>,
): Promise<Plan> => {
  const entriesOf = byPage(after, Math.max(1, loaded.pages.length));
  const changed = new Set<AutoscalerUid>();
  const writes: { index: number; body: Uint8Array; readEpoch: number }[] = [];
  const toStore = (page: LoadedPage): LoadedPage => {
    const { index, epoch: readEpoch } = page;
    if (page.kind === "unreadable") {
      // A missing page holds nothing that a late write could change.
      if (!loaded.rewriteAll || page.body.length === 0) return page;
      writes.push({ index, body: page.body, readEpoch });
      return { ...page, epoch: loaded.head.epoch };
    }
    const entries = entriesOf.get(index) ?? [];
    const changedEntries = changedOf(page.entries, entries);
    for (const { uid } of changedEntries) changed.add(uid);
    if (changedEntries.length === 0 && page.entries.size === entries.length && !loaded.rewriteAll)
      return page;
    const next = pageOfEntries(entries, {
      index,
      generation: page.generation,
      epoch: loaded.head.epoch,
    });
    writes.push({ index, body: next.body, readEpoch });
    return next;
  };
  const pages = await mapYielding(loaded.pages, toStore, PAGES_A_TURN);
  return { generation: loaded.head.pageGeneration, pages, changed, writes };
};

const changedOf = (
  stored: ReadonlyMap<AutoscalerUid, StoredWindows>,
  after: readonly StoredWindows[],
): readonly StoredWindows[] =>
  after.filter((entry) => {
    const before = stored.get(entry.uid);
    return before === undefined || !needsNoWrite(before, entry);
  });

const pageOfEntries = (
  entries: readonly StoredWindows[],
  version: { readonly index: number; readonly generation: number; readonly epoch: number },
): LoadedPage => ({
  kind: "read",
  ...version,
  entries: new Map(entries.map((entry) => [entry.uid, entry])),
  body: encodePage(entries),
});

/** All windows in pages of a new generation. The generation counts once the release names it. */
const newGeneration = async (
  loaded: Loaded,
  after: ReadonlyMap<AutoscalerUid, StoredWindows>,
  count: number,
): Promise<Plan> => {
  const generation = loaded.head.pageGeneration + 1;
  const entriesOf = byPage(after, count);
  const indexes = Array.from({ length: count }, (_, index) => index);
  const pages = await mapYielding(
    indexes,
    (index) =>
      pageOfEntries(entriesOf.get(index) ?? [], { index, generation, epoch: loaded.head.epoch }),
    PAGES_A_TURN,
  );
  return {
    generation,
    pages,
    changed: new Set(after.keys()),
    writes: pages.map(({ index, body }) => ({ index, body })),
  };
};

/**
 * Doubles the number of pages until each is small enough; a page with one autoscaler always is.
 * From two pages for each autoscaler on, a page is only divided when no item could hold it.
 */
const divided = async (
  loaded: Loaded,
  after: ReadonlyMap<AutoscalerUid, StoredWindows>,
  count: number,
): Promise<Plan> => {
  const plan = await newGeneration(loaded, after, Math.max(1, count) * 2);
  const most = plan.pages.length > after.size * 2 ? PAGE_BYTES_NEVER_ABOVE : PAGE_BYTES_MAX;
  const fits = plan.pages.every(({ body }) => body.length <= most);
  return fits ? plan : divided(loaded, after, plan.pages.length);
};

/**
 * Removes pages that the head no longer names, after the release named the others: the pages of the
 * generation before, and what dead syncs left. It looks for the latter only where this environment
 * does not know the pages, or the sync before stopped halfway: so a partition at rest costs
 * nothing. A sync that dies here leaves the work to the next one.
 */
export const removeOldPages = async (
  ports: SyncPorts,
  partition: PartitionRef,
  { head, pages, noLeftovers }: Loaded,
  stored: StoredPages,
): Promise<void> => {
  const { generation } = stored;
  if (generation !== head.pageGeneration) {
    await mapWithLimit(pages, PARALLEL, ({ index }) =>
      deletePage(ports.tables, { partition, generation: head.pageGeneration, index }),
    );
  }
  if (!noLeftovers)
    await deleteLeftovers(
      ports.tables,
      { partition, generation, count: stored.pages.length },
      head.epoch,
    );
};

/** The journal gets each page whole at least this often while its partition is synced. */
export const JOURNAL_EVERY_MS = 60_000;

/**
 * Every sync of the first minute after an edit is kept, so that its editor sees what follows from
 * it.
 */
const editedLately = (verdicts: readonly Verdict[], nowMs: number): ReadonlySet<AutoscalerUid> =>
  new Set(
    verdicts.flatMap(({ autoscaler }) =>
      autoscaler.kind !== "unreadable" && nowMs - autoscaler.record.updatedMs < JOURNAL_EVERY_MS
        ? [autoscaler.record.uid]
        : [],
    ),
  );

/** True for an autoscaler that a wake has named: its sender sees what came of it. */
const isNamedBy = (woken: Woken | undefined, { autoscaler }: Verdict): boolean => {
  if (woken?.names === undefined) return false;
  const { namespace, name } = autoscaler.kind === "unreadable" ? autoscaler : autoscaler.record;
  return woken.names.includes(name) && (woken.namespace ?? namespace) === namespace;
};

/**
 * Inserts what this sync found and decided. The first sync of a minute, and one with a new
 * generation of pages, writes every page whole. The others write what changed, so that a few busy
 * workloads do not cost an entry for all.
 */
export const writeJournal = async (
  ports: SyncPorts,
  { woken, ...partition }: PartitionRef & Pick<SyncMessage, "woken">,
  context: {
    readonly loaded: Loaded;
    readonly verdicts: readonly Verdict[];
    readonly stored: StoredPages;
    readonly after: After;
    /** What the cluster sent. */
    readonly bytes: number;
  },
): Promise<WrittenJournal> => {
  const { loaded, stored, after } = context;
  // After an unclean release it is not known whether the pages of this minute were written whole.
  const whole =
    opens(JOURNAL_EVERY_MS, loaded.nowMs, loaded.head.nowMs) ||
    loaded.rewriteAll ||
    stored.generation !== loaded.head.pageGeneration;
  const { nowMs: atMs, head } = loaded;
  const edited = editedLately(context.verdicts, atMs);
  const isWritten = (verdict: Verdict): boolean => {
    if (whole || verdict.kind === "scale" || isNamedBy(woken, verdict)) return true;
    // Beside another controller every sync is kept: the comparison of both counts them
    // (lib/answers/service/shadow).
    if (verdict.kind === "hold" && verdict.rivals !== undefined) return true;
    const uid = uidOf(verdict.autoscaler);
    return uid !== undefined && (edited.has(uid) || stored.changed.has(uid));
  };
  const evaluated = await mapYielding(context.verdicts.filter(isWritten), (verdict) =>
    evaluationOf(verdict, after),
  );
  const evaluations = evaluated.filter((evaluation) => evaluation !== undefined);
  const evaluationsOf = Map.groupBy(evaluations, ({ uid }) =>
    journalPageOf(uid, stored.pages.length),
  );
  const changedOfPage = Map.groupBy(stored.changed, (uid) =>
    journalPageOf(uid, stored.pages.length),
  );
  const indexes = whole ? journalPages(stored.pages.length) : [...evaluationsOf.keys()];
  const pages = indexes.map((page): JournalPage => {
    const held = evaluationsOf.get(page) ?? [];
    const changed = changedOfPage.get(page)?.length ?? 0;
    return {
      atMs,
      epoch: head.epoch,
      page,
      ...(!whole && { partial: true }),
      previousMs: head.evaluatedMs,
      ...(woken && { woken: woken.reason }),
      ...((whole || changed !== held.length) && { changed }),
      ...(whole && page === indexes[0] && { bytes: context.bytes }),
      evaluations: held,
    };
  });
  // Pages of another generation hold other autoscalers, so that nothing is alike.
  const remembered = ports.cache.get(partition);
  const bases: JournalBases =
    remembered?.pageGeneration === stored.generation ? remembered.journalBases : new Map();
  const packed = await mapYielding(
    pages,
    (page) => ({ page, item: journalItem(partition, page, bases.get(page.page)) }),
    PAGES_A_TURN,
  );
  if (packed.length > 0) await ports.insert(packed.map(({ item }) => item));
  return { pages: pages.length, bases: basesAfter(bases, packed) };
};
