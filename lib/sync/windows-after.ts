import type { ControllerEvent, GaugeWrite } from "../model/decision.ts";
import { autoscalerUid } from "../model/ids.ts";
import type { StoredWindows, UncountedScale } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { NEW_WINDOWS } from "../model/windows.ts";
import type { Written } from "../policy/write-report.ts";
import type { Verdict } from "./decide.ts";
import { withChange, withRecommendation } from "./late-windows.ts";
import type { Loaded } from "./load.ts";
import { uidOf } from "./loaded-specs.ts";
import type { Rules } from "./ports.ts";
import { outcomeOfEvent } from "./scale-event.ts";
import type { Settled } from "./settle.ts";
import { isOpenAt, windowsNow } from "./stored-windows.ts";

/** What a sync leaves behind of its autoscalers, by uid. */
export interface After {
  readonly entries: ReadonlyMap<string, StoredWindows>;
  /** Events as the imitated controller would record them, those of the write included. */
  readonly events: ReadonlyMap<string, readonly ControllerEvent[]>;
  /** Series that the dialect wrote, those of the write included. */
  readonly gauges: ReadonlyMap<string, readonly GaugeWrite[]>;
}

/**
 * What every autoscaler of the partition remembers after this sync. Nothing is made up for one that was not evaluated and has no windows yet. What was recommended counts
 * though it was held, frozen or paused: so a thaw meets stabilization windows that are full. A scale counts only if a PUT was sent for it.
 */
export const windowsAfter = (rules: Rules, loaded: Loaded, verdicts: readonly Verdict[], settled: Settled): After => {
  const before = new Map(loaded.pages.flatMap((page) => (page.kind === "read" ? [...page.entries] : [])));
  const written = writtenNow(rules, verdicts, settled);
  const specs = new Map(loaded.specs.all.flatMap((spec) => (spec.kind === "ready" ? [[spec.record.uid as string, spec.spec] as const] : [])));
  const late = new Map(settled.late.map(({ scale }) => [scale.uid as string, scale]));
  const entries = new Map<string, StoredWindows>();
  for (const uid of keptUids(loaded, [...before.keys(), ...late.keys()])) {
    const windows = written.get(uid)?.windows;
    const evaluated = windows && { uid: autoscalerUid(uid), windows, open: isOpenAt(windows, loaded.nowMs) };
    const scale = late.get(uid);
    const entry = scale
      ? withLate(rules, specs.get(uid), evaluated ?? ended(loaded, uid, before.get(uid)), scale)
      : (evaluated ?? restedEntry(loaded, before.get(uid)));
    if (entry) entries.set(uid, entry);
  }
  return {
    entries,
    events: new Map([...written].map(([uid, { events }]) => [uid, events])),
    gauges: new Map([...written].flatMap(([uid, { gauges }]) => (gauges ? [[uid, gauges]] : []))),
  };
};

const withLate = (rules: Rules, spec: AutoscalerSpec | undefined, entry: StoredWindows, scale: UncountedScale): StoredWindows => {
  const recommended = withRecommendation(entry.windows, scale);
  if (scale.outcome === "refused") return { ...entry, windows: recommended };
  // When it happened, and with "unknown" whether, nobody can say: it limits its own direction from now on, and gives no room to the other.
  const change = { from: scale.from, to: scale.to, atMs: scale.settledMs, earliestMs: 0, eventId: scale.id };
  return { ...entry, windows: spec ? rules.withScale(recommended, spec, change) : withChange(recommended, change) };
};

const newEntry = (uid: string): StoredWindows => ({ uid: autoscalerUid(uid), windows: NEW_WINDOWS, open: false });

/** Entry of an autoscaler that was not evaluated: its run ends at the last sync that did. */
const restedEntry = (loaded: Loaded, stored: StoredWindows | undefined): StoredWindows | undefined => stored && ended(loaded, stored.uid, stored);

const ended = (loaded: Loaded, uid: string, stored: StoredWindows | undefined): StoredWindows =>
  stored ? { ...stored, windows: windowsNow(stored, loaded.head.evaluatedMs), open: false } : newEntry(uid);

/** Windows and events of the decisions, and after a clear answer those that follow from it. An event that an earlier holder stored decides with its outcome and time. */
const writtenNow = (rules: Rules, verdicts: readonly Verdict[], settled: Settled): ReadonlyMap<string, Written> => {
  const written = new Map<string, Written>();
  for (const { autoscaler, evaluated } of verdicts) {
    if (evaluated && autoscaler.kind === "ready") written.set(autoscaler.record.uid, evaluated.decision);
  }
  for (const { acted, event } of settled.own) {
    const answer = { outcome: outcomeOfEvent(event), atMs: event.settledMs, earliestMs: event.atMs, eventId: event.id };
    written.set(event.uid, rules.afterWrite({ spec: acted.input.spec, decision: acted.scale, ...answer }));
  }
  return written;
};

/** The autoscalers of the partition. While one cannot be read so far as its uid, nobody's windows are dropped: they may be its own. */
const keptUids = ({ specs }: Loaded, others: readonly string[]): ReadonlySet<string> => {
  const uids = specs.all.map(uidOf);
  const known = uids.filter((uid) => uid !== undefined);
  return new Set(known.length === uids.length ? known : [...known, ...others]);
};
