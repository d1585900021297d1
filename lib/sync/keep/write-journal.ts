import { mapYielding } from "../../cluster/map-yielding.ts";
import type { AutoscalerUid, PartitionRef } from "../../model/ids.ts";
import { basesAfter, type JournalBases, journalItem } from "../../store/history/journal.ts";
import { journalPageOf, journalPages } from "../../store/pages/plan.ts";
import type { Verdict } from "../decide/decide.ts";
import { evaluationOf } from "../decide/evaluation.ts";
import type { Loaded } from "../load/load.ts";
import { uidOf } from "../load/load-specs.ts";
import type { StoredPages } from "./store-pages.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { After } from "./windows-after.ts";
import type { JournalPage } from "../../model/scale-records.ts";

export interface WrittenJournal {
  readonly pages: number;
  readonly bases: JournalBases;
}

/** Pages that are packed in one turn of the event loop, a few milliseconds each. */
const PAGES_A_TURN = 2;

/** The journal gets each page whole at least this often while its partition is synced. */
export const JOURNAL_EVERY_MS = 60_000;

/** True for the first sync of a minute, which writes each page whole. */
const opensMinute = ({ nowMs, head }: Loaded): boolean => Math.floor(nowMs / JOURNAL_EVERY_MS) > Math.floor(head.nowMs / JOURNAL_EVERY_MS);

/** Every sync of the first minute after an edit is kept, so that its editor sees what follows from it. */
const editedLately = (verdicts: readonly Verdict[], nowMs: number): ReadonlySet<AutoscalerUid> =>
  new Set(
    verdicts.flatMap(({ autoscaler }) =>
      autoscaler.kind !== "unreadable" && nowMs - autoscaler.record.updatedMs < JOURNAL_EVERY_MS ? [autoscaler.record.uid] : [],
    ),
  );

/**
 * Inserts what this sync found and decided. The first sync of a minute, and one with a new generation of pages, writes every page whole. The others write what changed, so that a few
 * busy workloads do not cost an entry for all.
 */
export const writeJournal = async (
  ports: SyncPorts,
  partition: PartitionRef,
  context: {
    readonly loaded: Loaded;
    readonly verdicts: readonly Verdict[];
    readonly stored: StoredPages;
    readonly after: After;
  },
): Promise<WrittenJournal> => {
  const { loaded, stored, after } = context;
  // After an unclean release it is not known whether the pages of this minute were written whole.
  const whole = opensMinute(loaded) || loaded.rewriteAll || stored.generation !== loaded.head.pageGeneration;
  const { nowMs: atMs, head } = loaded;
  const edited = editedLately(context.verdicts, atMs);
  const isWritten = (verdict: Verdict): boolean => {
    if (whole || verdict.kind === "scale") return true;
    // Beside another controller every sync is kept: the comparison of both counts them (lib/service/shadow).
    if (verdict.kind === "hold" && verdict.rivals !== undefined) return true;
    const uid = uidOf(verdict.autoscaler);
    return uid !== undefined && (edited.has(uid) || stored.changed.has(uid));
  };
  const evaluated = await mapYielding(context.verdicts.filter(isWritten), (verdict) => evaluationOf(verdict, after));
  const evaluations = evaluated.filter((evaluation) => evaluation !== undefined);
  const byPage = Map.groupBy(evaluations, ({ uid }) => journalPageOf(uid, stored.pages.length));
  const indexes = whole ? journalPages(stored.pages.length) : [...byPage.keys()];
  const pages = indexes.map(
    (page): JournalPage => ({
      atMs,
      epoch: head.epoch,
      page,
      ...(!whole && { partial: true }),
      previousMs: head.evaluatedMs,
      evaluations: byPage.get(page) ?? [],
    }),
  );
  // Pages of another generation hold other autoscalers, so that nothing is alike.
  const remembered = ports.cache.get(partition);
  const bases: JournalBases = remembered?.pageGeneration === stored.generation ? remembered.journalBases : new Map();
  const packed = await mapYielding(pages, (page) => ({ page, item: journalItem(partition, page, bases.get(page.page)) }), PAGES_A_TURN);
  if (packed.length > 0) await ports.insert(packed.map(({ item }) => item));
  return { pages: pages.length, bases: basesAfter(bases, packed) };
};
