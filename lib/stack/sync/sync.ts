import { isTidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { project } from "../projections/project.ts";
import { PROJECTIONS } from "../projections/projections.ts";
import type {
  DroppedSync,
  DropReason,
  ProjectionState,
  SyncReport,
} from "../report/sync-report.ts";
import { claim, type ClaimOutcome } from "../store/head/claim.ts";
import type { Head, Lease } from "../store/head/head.ts";
import { giveBack } from "../store/head/release.ts";
import { readPlace } from "../store/records/fleet-place.ts";
import type { Tables } from "../store/table/tables.ts";
import { bytesSent, completedReport } from "./keep/completed-report.ts";
import { decideAll } from "./decide/decide.ts";
import { both, load, type Unloaded } from "./load/load.ts";
import { advisedOf } from "./load/load-forecasts.ts";
import { isEarly, isStale, type SyncMessage } from "../plan/message.ts";
import { writeBackObjects } from "./objects/write-back-objects.ts";
import { observe, seenTogether } from "./observe/observe.ts";
import { storeOutside } from "./keep/outside-changes.ts";
import { phaseTimer, type LeaseHolder, leaseHolder, type SyncPorts } from "./sync-ports.ts";
import { releasePartition } from "./keep/release.ts";
import { settleEarlier } from "./scale/settle-earlier.ts";
import { readObjects } from "./specs/read-objects.ts";
import { removeOldPages, storePages, writeJournal } from "./keep/store-pages.ts";
import { writeSummary } from "./summary/write-summary.ts";
import { newestFindings } from "./keep/newest-findings.ts";
import { troublesAfter } from "./keep/troubles.ts";
import { makeWaves } from "./scale/waves.ts";
import { windowsAfter } from "./keep/windows-after.ts";
import type { Verdict, Loaded } from "./hand-over.ts";

/**
 * Runs one sync: one message, one partition of one cluster, one due time. Returns what happened.
 * Throws when tables or history cannot be written, so that the queue delivers the message again. A
 * sync may die at any instant: the next holder of the lease continues its work (docs/protocol.md).
 */
export const sync = async (unbounded: SyncPorts, message: SyncMessage): Promise<SyncReport> => {
  const startMs = unbounded.tables.clock();
  const ports = {
    ...unbounded,
    tables: { ...unbounded.tables, untilMs: startMs + unbounded.timing.lifeMs - REPEATS_END_MS },
  };
  const { cluster, partition, dueMs, woken } = message;
  const dropped = (why: DropReason): DroppedSync => ({
    kind: "dropped",
    why,
    cluster,
    partition,
    dueMs,
    ...(woken && { woken: woken.reason }),
    startMs,
    endMs: ports.tables.clock(),
  });
  if (isStale(message, startMs)) return dropped("stale");
  if (isEarly(message, startMs, ports.timing)) return dropped("early");
  if (await isGivenUp(ports, message)) return dropped("moved");
  const claimed = await claimWhenFree(ports, message);
  if (claimed.kind === "clock") return { ...dropped("clock"), wrongByMs: claimed.wrongByMs };
  if (claimed.kind !== "claimed") return dropped(claimed.kind);
  const holder = leaseHolder(message, claimed.head);
  try {
    const report = await syncClaimed(ports, message, { head: claimed.head, holder, startMs });
    if (typeof report !== "string") return report;
    // Giving the lease back spares an edit the wait until the lease ends.
    await giveBack(ports.tables, holder.lease);
    return dropped(report);
  } catch (error) {
    ports.cache.forget(message);
    if (isTidemarkError(error, "store.lease-lost")) return dropped("lost");
    await endLease(ports.tables, holder.lease, error);
    throw error;
  }
};

/**
 * True where another region could take the fleet, and this one does not have it any more. A claim
 * would write the head, and may so write over what the other region has written of it meanwhile.
 */
const isGivenUp = async ({ tables }: SyncPorts, { untilMs }: SyncMessage): Promise<boolean> => {
  if (untilMs === undefined) return false;
  const { kind } = await readPlace(tables);
  return kind === "leaving" || kind === "standby";
};

/** How long, and how often, a woken sync waits for the end of another. Most syncs take a second. */
const HELD_WAIT_MS = 500;
const HELD_WAITS_MAX = 8;

/**
 * Claims the partition. A woken sync that meets another one waits for its end: that one may have
 * read the cluster before the wake. A planned sync is dropped, because the next is a period away.
 */
const claimWhenFree = async (
  { tables, timing }: SyncPorts,
  { cluster, partition, dueMs, woken, term }: SyncMessage,
): Promise<ClaimOutcome> => {
  for (let waits = 0; ; waits++) {
    const clockMs = tables.clock();
    const outcome = await claim(tables, {
      partition: { cluster, partition },
      dueMs,
      clockMs,
      leaseUntilMs: clockMs + timing.leaseMs,
      ...present({ term }),
    });
    if (outcome.kind !== "held" || !woken || waits === HELD_WAITS_MAX) return outcome;
    await tables.wait(HELD_WAIT_MS);
  }
};

/**
 * No call to the tables is repeated in the last part of an invocation's life, so that the
 * invocation ends by itself.
 */
const REPEATS_END_MS = 3_000;

/**
 * Runs the phases in the order of docs/protocol.md. Returns why it ended before it had read
 * anything.
 */
const syncClaimed = async (
  ports: SyncPorts,
  message: SyncMessage,
  claimed: { readonly head: Head; readonly holder: LeaseHolder; readonly startMs: number },
): Promise<SyncReport | Unloaded> => {
  const { holder, startMs } = claimed;
  const timer = phaseTimer(ports.tables.clock, ports.realClock);
  const softUntilMs = startMs + Math.min(message.periodMs, ports.timing.softDeadlineMs);
  const fromTables = await timer.phase("load", load(ports, message, claimed.head));
  if (typeof fromTables === "string") return fromTables;
  const loaded = fromTables.cluster.specsFromCluster
    ? await timer.phase("specs", readObjects(ports, message, fromTables))
    : fromTables;
  let seen = await timer.phase("observe", observe(ports, message, loaded));
  const decided = await decideAll(ports, loaded, seen);
  timer.mark("decide");
  const earlier = await timer.phase(
    "settle",
    settleEarlier(ports, message, { loaded, late: seen.late }),
  );
  const later = async (): Promise<readonly Verdict[] | undefined> => {
    if (!seen.later) return undefined;
    const part = await timer.phase("observe", seen.later());
    seen = seenTogether(seen, part);
    const verdictsOfPart = await decideAll(ports, loaded, part, "later");
    timer.mark("decide");
    return verdictsOfPart;
  };
  const { settled, verdicts } = await makeWaves(ports, holder, {
    message,
    loaded,
    verdicts: decided,
    later,
    earlier,
    softUntilMs,
    timer,
  });
  const outside = await storeOutside(ports, message, { loaded, verdicts, settled });
  const after = await windowsAfter(ports.rules, loaded, {
    verdicts,
    settled,
    outside,
    failures: seen.failures,
  });
  const stored = await timer.phase(
    "pages",
    storePages(ports, holder.lease.partition, loaded, after.entries),
  );
  const findingsOf = newestFindings(loaded, after, seen.failures);
  const { failures, client } = seen;
  const told = { loaded, verdicts, settled, stored, after, failures, findingsOf, client };
  const [journal, summary] = await timer.phase(
    "journal",
    both(
      writeJournal(ports, message, { ...told, bytes: bytesSent(loaded, seen) }),
      writeSummary(ports, message, told),
    ),
  );
  const troubles = troublesAfter(message, loaded, { seen, verdicts, after, findingsOf });
  await timer.phase(
    "release",
    releasePartition(ports, holder.lease, {
      message,
      loaded,
      settled,
      stored,
      journal,
      summary,
      troubles,
    }),
  );
  await removeOldPages(ports, holder.lease.partition, loaded, stored);
  const writtenBack =
    loaded.objects &&
    (await timer.phase(
      "write-back",
      writeBackObjects(ports, message, {
        loaded,
        seen,
        verdicts,
        settled,
        outside,
        after,
        softUntilMs,
      }),
    ));
  const projections = await timer.phase("project", projectFacts(ports, message, loaded, startMs));
  const endMs = ports.tables.clock();
  return completedReport(message, {
    projections,
    loaded,
    seen,
    verdicts,
    settled,
    outside,
    stored,
    journal,
    summary,
    writtenBack,
    startMs,
    endMs,
    timer,
  });
};

/** A part of a projection that begins by then ends well within the life of the invocation. */
const PART_MS = 8_000;

const projectFacts = (
  { tables, insert, timing, cache }: SyncPorts,
  { partition }: SyncMessage,
  { head, nowMs, cluster, specs }: Loaded,
  startMs: number,
): Promise<readonly ProjectionState[]> =>
  project(
    {
      ...{ tables, insert, cluster, partition, nowMs },
      beforeMs: head.nowMs,
      untilMs: startMs + timing.lifeMs - REPEATS_END_MS - PART_MS,
      memory: cache,
      advised: () => advisedOf(specs),
      windowsPages: head.pages.length,
    },
    PROJECTIONS,
  );

/**
 * Ends the lease of a failed sync. Where that fails too, the lease ends by its own time. The first
 * failure stays the cause of the error.
 */
const endLease = async (tables: Tables, lease: Lease, failure: unknown): Promise<void> => {
  try {
    await giveBack(tables, lease);
  } catch (error) {
    throw new AggregateError([failure, error], "Cannot end the lease of a failed sync", {
      cause: failure,
    });
  }
};
