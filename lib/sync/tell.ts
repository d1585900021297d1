import type { Condition } from "../model/windows.ts";
import type { CompletedSync, ToldAutoscaler } from "../report/sync-report.ts";
import type { Verdict } from "./decide.ts";
import type { Loaded } from "./load.ts";
import type { SyncMessage } from "./message.ts";
import type { Seen } from "./observe.ts";
import type { Settled } from "./settle.ts";
import { stopOf } from "./stop.ts";
import type { StoredPages } from "./store-pages.ts";

/** Everything that a completed sync has to say, once. */
export const completedReport = (
  message: SyncMessage,
  now: {
    readonly loaded: Loaded;
    readonly seen: Seen;
    readonly verdicts: readonly Verdict[];
    readonly settled: Settled;
    readonly stored: StoredPages;
    readonly journalPages: number;
    readonly startMs: number;
    readonly endMs: number;
    readonly phasesMs: Readonly<Record<string, number>>;
  },
): CompletedSync => {
  const { loaded, seen, verdicts, settled, stored } = now;
  const stopped = stopOf(loaded);
  return {
    kind: "completed",
    cluster: message.cluster,
    partition: message.partition,
    dueMs: message.dueMs,
    startMs: now.startMs,
    endMs: now.endMs,
    epoch: loaded.head.epoch,
    autoscalers: verdicts.length,
    evaluated: verdicts.filter(({ evaluated }) => evaluated).length,
    failed: verdicts.filter(({ evaluated }) => evaluated?.decision.kind === "hold" && evaluated.decision.failed).length,
    events: [...settled.late, ...settled.own].flatMap(({ event }) => event ?? []),
    openIntents: settled.open.length + settled.uncounted.length + loaded.head.unreadable.length,
    unreadable: verdicts.filter(({ because }) => UNREADABLE.has(because.reason)).map(told),
    changed: verdicts.filter(conditionsChanged).map(told),
    calls: seen.observed.calls,
    bytes: seen.observed.bytes,
    pagesWritten: stored.written,
    journalPages: now.journalPages,
    heldBack: verdicts.filter((verdict) => verdict.withoutHold?.to !== undefined).length,
    ...(stopped && { stopped }),
    phasesMs: now.phasesMs,
  };
};

const UNREADABLE: ReadonlySet<string> = new Set(["UnreadableAutoscaler", "InvalidSpec", "UnreadableWindows", "UnreadableIntent"]);

const told = ({ autoscaler, because }: Verdict): ToldAutoscaler => {
  const { namespace, name } = autoscaler.kind === "unreadable" ? autoscaler : autoscaler.record;
  return { namespace, name, ...because };
};

const conditionsChanged = ({ evaluated }: Verdict): boolean => {
  if (!evaluated) return false;
  const before: readonly Condition[] = evaluated.input.windows.status.conditions;
  const after: readonly Condition[] = evaluated.decision.windows.status.conditions;
  const same = ({ type, status, reason }: Condition, at: number): boolean =>
    type === after[at]?.type && status === after[at].status && reason === after[at].reason;
  return before.length !== after.length || !before.every(same);
};
