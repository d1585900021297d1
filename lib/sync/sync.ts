import { isTidemarkError } from "../model/errors.ts";
import type { DroppedSync, DropReason, SyncReport } from "../report/sync-report.ts";
import type { Head } from "../store/head/head.ts";
import type { Held } from "../store/head/head-write.ts";
import { giveBack } from "../store/head/release.ts";
import type { Tables } from "../store/table/tables.ts";
import { claimPartition } from "./claim.ts";
import { decideAll } from "./decide.ts";
import { type Holder, holder } from "./holder.ts";
import { load } from "./load.ts";
import { isEarly, isStale, type SyncMessage } from "./message.ts";
import { observe } from "./observe.ts";
import { phaseTimer } from "./phase-timer.ts";
import type { SyncPorts } from "./ports.ts";
import { releasePartition } from "./release.ts";
import { settleEarlier } from "./settle.ts";
import { removeOldPages, storePages } from "./store-pages.ts";
import { completedReport } from "./tell.ts";
import { makeWaves } from "./waves.ts";
import { windowsAfter } from "./windows-after.ts";
import { writeJournal } from "./write-journal.ts";

/**
 * One sync: one message, one partition of one cluster, one due time. Returns what happened; throws when tables or history cannot be written, so that the message is delivered
 * again. Whatever instant it dies at, the next holder carries on (docs/protocol.md).
 */
export const sync = async (given: SyncPorts, message: SyncMessage): Promise<SyncReport> => {
  const startMs = given.tables.clock();
  const ports = { ...given, tables: { ...given.tables, untilMs: startMs + given.timing.lifeMs - REPEATS_END_MS } };
  const dropped = (why: DropReason): DroppedSync => ({
    kind: "dropped",
    why,
    cluster: message.cluster,
    partition: message.partition,
    dueMs: message.dueMs,
    startMs,
    endMs: ports.tables.clock(),
  });
  if (isStale(message, startMs)) return dropped("stale");
  if (isEarly(message, startMs, given.timing)) return dropped("early");
  const claimed = await claimPartition(ports, message);
  if (claimed.kind === "clock") return { ...dropped("clock"), wrongByMs: claimed.wrongByMs };
  if (claimed.kind !== "claimed") return dropped(claimed.kind);
  const held = holder(message, claimed.head);
  try {
    const report = await syncHeld(ports, message, { head: claimed.head, held, startMs });
    if (report) return report;
    // The partition is no more. An edit that waits for its lease need not wait until it runs out.
    await giveBack(ports.tables, held.now);
    return dropped("removed");
  } catch (error) {
    ports.cache.forget(message);
    if (isTidemarkError(error, "store.lease-lost")) return dropped("lost");
    await endLease(ports.tables, held.now, error);
    throw error;
  }
};

/** Time kept at the end of a life: no call to the tables is repeated in it, so that an invocation ends by itself. */
const REPEATS_END_MS = 3_000;

/** The phases, in the order of docs/protocol.md. `undefined`: the partition was removed. */
const syncHeld = async (
  ports: SyncPorts,
  message: SyncMessage,
  claimed: { readonly head: Head; readonly held: Holder; readonly startMs: number },
): Promise<SyncReport | undefined> => {
  const { held, startMs } = claimed;
  const timer = phaseTimer(ports.tables.clock);
  const softUntilMs = startMs + Math.min(message.periodMs, ports.timing.softDeadlineMs);
  const loaded = await timer.phase("load", load(ports, message, claimed.head));
  if (!loaded) return undefined;
  const seen = await timer.phase("observe", observe(ports, message, loaded));
  const decided = decideAll(ports.rules, loaded, seen);
  timer.mark("decide");
  const earlier = await timer.phase("settle", settleEarlier(ports, message, { loaded, late: seen.late }));
  const { settled, verdicts } = await makeWaves(ports, held, { message, loaded, seen, verdicts: decided, earlier, softUntilMs, timer });
  const after = windowsAfter(ports.rules, loaded, verdicts, settled);
  const stored = await timer.phase("pages", storePages(ports, held.now.partition, loaded, after.entries));
  const journalPages = await timer.phase("journal", writeJournal(ports, message, { loaded, verdicts, stored, after }));
  await timer.phase("release", releasePartition(ports, held.now, { message, loaded, settled, stored }));
  await removeOldPages(ports, held.now.partition, loaded, stored);
  const endMs = ports.tables.clock();
  return completedReport(message, {
    loaded,
    seen,
    verdicts,
    settled,
    stored,
    journalPages,
    startMs,
    endMs,
    phasesMs: timer.phasesMs,
  });
};

/** Ends the lease of a failed sync. Failing at that too, it stays until it runs out; the first failure is the one to tell. */
const endLease = async (tables: Tables, held: Held, failure: unknown): Promise<void> => {
  try {
    await giveBack(tables, held);
  } catch (error) {
    throw new AggregateError([failure, error], "Cannot end the lease of a failed sync", { cause: failure });
  }
};
