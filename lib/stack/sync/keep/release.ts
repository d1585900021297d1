import type { Lease } from "../../store/head/head.ts";
import { intentBodies } from "../../store/head/intent-codec.ts";
import { release } from "../../store/head/release.ts";
import type { Troubles } from "../../store/head/troubles.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { Loaded, Settled, StoredPages, WrittenJournal, WrittenSummary } from "../hand-over.ts";

/**
 * Closes the sync in one update. Only then it remembers specs and pages, because a memory counts
 * only after a clean release.
 */
export const releasePartition = async (
  ports: SyncPorts,
  lease: Lease,
  context: {
    readonly message: SyncMessage;
    readonly loaded: Loaded;
    readonly settled: Settled;
    readonly stored: StoredPages;
    readonly journal: WrittenJournal;
    readonly summary: WrittenSummary;
    readonly troubles: Troubles;
  },
): Promise<void> => {
  const { message, loaded, settled, stored, journal, summary, troubles } = context;
  await release(ports.tables, lease, {
    dueMs: message.dueMs,
    nowMs: loaded.nowMs,
    evaluatedMs: loaded.nowMs,
    pageGeneration: stored.generation,
    pages: stored.pages.map(({ epoch }) => epoch),
    intents: intentBodies({
      intents: settled.open,
      uncounted: settled.uncounted,
      unreadable: loaded.head.unreadable,
    }),
    summary: summary.body,
    troubles,
  });
  ports.cache.set(message, {
    tables: loaded.tables,
    specs: loaded.specs,
    pages: stored.pages,
    pageGeneration: stored.generation,
    journalBases: journal.bases,
    summary: summary.base,
  });
};
