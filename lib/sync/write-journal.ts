import type { PartitionRef } from "../model/ids.ts";
import type { Evaluation, JournalPage } from "../model/records.ts";
import { insertJournal } from "../store/history/journal.ts";
import { pageOf } from "../store/pages/plan.ts";
import type { Verdict } from "./decide.ts";
import { failedReadOf } from "./failed-read.ts";
import type { Loaded } from "./load.ts";
import type { StoredPages } from "./store-pages.ts";
import type { SyncPorts } from "./sync-ports.ts";
import type { After } from "./windows-after.ts";

/** The journal gets each page whole at least this often while its partition is synced. */
export const JOURNAL_EVERY_MS = 60_000;

const evaluationOf = (verdict: Verdict, after: After): Evaluation | undefined => {
  const { autoscaler, because } = verdict;
  if (autoscaler.kind === "unreadable") return undefined;
  const { uid, namespace, name } = autoscaler.record;
  const status = after.entries.get(uid)?.windows.status;
  const gauges = after.gauges.get(uid);
  const decision = verdict.kind === "unevaluated" ? undefined : verdict.decision;
  return {
    uid,
    namespace,
    name,
    ...outcomeOf(verdict),
    because,
    ...circumstancesOf(verdict),
    metrics: decision?.metrics ?? [],
    steps: decision?.steps ?? [],
    events: after.events.get(uid) ?? [],
    ...(status && { status }),
    ...(gauges && { gauges }),
  };
};

/** What surrounds the decision: the hold, the other controllers, the failed read. */
const circumstancesOf = (verdict: Verdict): Pick<Evaluation, "withoutHold" | "rivals" | "failedRead"> => {
  if (verdict.kind === "unevaluated") return {};
  const { rivals, input, decision } = verdict;
  const failedRead = failedReadOf(input.observation, decision);
  return {
    ...(verdict.kind === "hold" && verdict.withoutHold && { withoutHold: verdict.withoutHold }),
    ...(rivals && { rivals }),
    ...(failedRead && { failedRead }),
  };
};

const outcomeOf = (verdict: Verdict): Pick<Evaluation, "kind" | "failed" | "from" | "to"> => {
  if (verdict.kind === "unevaluated") return { kind: "hold", failed: true };
  if (verdict.kind === "scale") return { kind: "scale", failed: false, from: verdict.decision.from, to: verdict.decision.to };
  const { decision } = verdict;
  return { kind: "hold", failed: decision.kind === "hold" && decision.failed, ...(decision.from !== undefined && { from: decision.from }) };
};

/** True for the first sync of a minute, which writes each page whole. */
const opensMinute = ({ nowMs, head }: Loaded): boolean => Math.floor(nowMs / JOURNAL_EVERY_MS) > Math.floor(head.nowMs / JOURNAL_EVERY_MS);

/**
 * Inserts what this sync found and decided. The first sync of a minute, and one with a new generation of pages, writes every page whole. The others write what changed, so that a few
 * busy workloads do not cost an entry for all. Returns the number of pages.
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
): Promise<number> => {
  const { loaded, stored, after } = context;
  // After an unclean release it is not known whether the pages of this minute were written whole.
  const whole = opensMinute(loaded) || loaded.mustWrite || stored.generation !== loaded.head.pageGeneration;
  const { nowMs: atMs, head } = loaded;
  // Beside another controller every sync is kept: the comparison of both counts them (lib/service/shadow).
  const isWritten = ({ uid, kind, rivals }: Evaluation): boolean => whole || kind === "scale" || rivals !== undefined || stored.changed.has(uid);
  const evaluations = context.verdicts.flatMap((verdict) => evaluationOf(verdict, after) ?? []).filter(isWritten);
  const byPage = Map.groupBy(evaluations, ({ uid }) => pageOf(uid, stored.pages.length));
  const indexes = whole ? stored.pages.map(({ index }) => index) : [...byPage.keys()];
  const pages = indexes.map(
    (page): JournalPage => ({ atMs, epoch: head.epoch, page, ...(!whole && { partial: true }), evaluations: byPage.get(page) ?? [] }),
  );
  if (pages.length > 0) await insertJournal(ports.insert, partition, pages);
  return pages.length;
};
