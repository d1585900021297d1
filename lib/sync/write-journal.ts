import type { PartitionRef } from "../model/ids.ts";
import type { Evaluation, JournalPage } from "../model/records.ts";
import { insertJournal } from "../store/history/journal.ts";
import { pageOf } from "../store/pages/plan.ts";
import type { Verdict } from "./decide.ts";
import type { Loaded } from "./load.ts";
import type { SyncPorts } from "./ports.ts";
import type { StoredPages } from "./store-pages.ts";
import type { After } from "./windows-after.ts";

/** Each page is told whole in the journal at least so often while its partition is synced. */
export const JOURNAL_EVERY_MS = 60_000;

const evaluationOf = ({ autoscaler, because, withoutHold, evaluated, scale }: Verdict, after: After): Evaluation | undefined => {
  if (autoscaler.kind === "unreadable") return undefined;
  const { uid, namespace, name } = autoscaler.record;
  const status = after.entries.get(uid)?.windows.status;
  const gauges = after.gauges.get(uid);
  const decision = evaluated?.decision;
  return {
    uid,
    namespace,
    name,
    kind: scale ? "scale" : "hold",
    failed: decision?.kind === "hold" ? decision.failed : !decision,
    ...(decision?.from !== undefined && { from: decision.from }),
    ...(scale && { to: scale.to }),
    because,
    ...(withoutHold && { withoutHold }),
    metrics: decision?.metrics ?? [],
    steps: decision?.steps ?? [],
    events: after.events.get(uid) ?? [],
    ...(status && { status }),
    ...(gauges && { gauges }),
  };
};

/** True for the first sync of a minute: each page is then told whole. */
const opensMinute = ({ nowMs, head }: Loaded): boolean => Math.floor(nowMs / JOURNAL_EVERY_MS) > Math.floor(head.nowMs / JOURNAL_EVERY_MS);

/**
 * Inserts what this sync found: every page whole in the first sync of a minute and where they were divided anew, else what changed of each, so that a few busy workloads do not tell
 * of all the others with them. Returns how many pages.
 */
export const writeJournal = async (
  ports: SyncPorts,
  partition: PartitionRef,
  now: {
    readonly loaded: Loaded;
    readonly verdicts: readonly Verdict[];
    readonly stored: StoredPages;
    readonly after: After;
  },
): Promise<number> => {
  const { loaded, stored } = now;
  // After an unclean end nobody knows whether this minute was opened.
  const whole = opensMinute(loaded) || loaded.mustWrite || stored.generation !== loaded.head.pageGeneration;
  const { nowMs: atMs, head } = loaded;
  const told = ({ uid, kind }: Evaluation): boolean => whole || kind === "scale" || stored.changed.has(uid);
  const evaluations = now.verdicts.flatMap((verdict) => evaluationOf(verdict, now.after) ?? []).filter(told);
  const byPage = Map.groupBy(evaluations, ({ uid }) => pageOf(uid, stored.pages.length));
  const indexes = whole ? stored.pages.map(({ index }) => index) : [...byPage.keys()];
  const pages = indexes.map(
    (page): JournalPage => ({ atMs, epoch: head.epoch, page, ...(!whole && { partial: true }), evaluations: byPage.get(page) ?? [] }),
  );
  if (pages.length > 0) await insertJournal(ports.insert, partition, pages);
  return pages.length;
};
