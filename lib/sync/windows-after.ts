import { autoscalerUid } from "../model/ids.ts";
import type { StoredWindows } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../model/windows.ts";
import type { Verdict } from "./decide.ts";
import { withChange, withRecommendation } from "./late-windows.ts";
import type { Loaded } from "./load.ts";
import { uidOf } from "./load-specs.ts";
import { pausedBy } from "./pause.ts";
import type { Rules } from "./ports.ts";
import { outcomeOfEvent } from "./scale-event.ts";
import type { Settled, SettledScale } from "./settle.ts";
import { isOpenAt, windowsNow } from "./stored-windows.ts";

/** False while the kill switch or a pause of the cluster holds everything unseen: windows then stay as they are, and runs do not go on. */
export const evaluates = ({ fleet, cluster, nowMs }: Loaded): boolean => !fleet.frozen && !pausedBy(cluster, nowMs);

/** By uid: what every autoscaler of the partition remembers after this sync. Nothing is made up for one that was not evaluated and has no windows yet. */
export const windowsAfter = (rules: Rules, loaded: Loaded, verdicts: readonly Verdict[], settled: Settled): ReadonlyMap<string, StoredWindows> => {
  const before = new Map(loaded.pages.flatMap((page) => (page.kind === "read" ? [...page.entries] : [])));
  const decided = decidedWindows(rules, verdicts, settled);
  const specs = new Map(loaded.specs.all.flatMap((spec) => (spec.kind === "ready" ? [[spec.record.uid as string, spec.spec] as const] : [])));
  const late = new Map(settled.late.map((scale) => [scale.intent.uid as string, scale]));
  const after = new Map<string, StoredWindows>();
  for (const uid of keptUids(loaded, before)) {
    const now = decided.get(uid);
    const rested = now ? { uid: autoscalerUid(uid), windows: now, open: isOpenAt(now, loaded.nowMs) } : restedEntry(loaded, before.get(uid));
    const scale = late.get(uid);
    if (scale) after.set(uid, withLate(rules, specs.get(uid), rested ?? newEntry(uid), scale));
    else if (rested) after.set(uid, rested);
  }
  return after;
};

const withLate = (rules: Rules, spec: AutoscalerSpec | undefined, entry: StoredWindows, { intent, event }: SettledScale): StoredWindows => {
  const recommended = withRecommendation(entry.windows, intent);
  if (event.outcome === "refused") return { ...entry, windows: recommended };
  const change = { from: event.from, to: event.to, atMs: event.settledMs, eventId: event.id };
  return { ...entry, windows: spec ? rules.withScale(recommended, spec, change) : withChange(recommended, change) };
};

const newEntry = (uid: string): StoredWindows => ({ uid: autoscalerUid(uid), windows: NEW_WINDOWS, open: false });

/** Entry of an autoscaler that was not evaluated: its run ends at the last sync that did, unless nobody was evaluated. */
const restedEntry = (loaded: Loaded, stored: StoredWindows | undefined): StoredWindows | undefined => {
  if (!stored || !evaluates(loaded)) return stored;
  return { ...stored, windows: windowsNow(stored, loaded.head.evaluatedMs), open: false };
};

/** Those of the decisions, and after a clear answer those that follow from it. An event that an earlier holder stored decides with its outcome and time. */
const decidedWindows = (rules: Rules, verdicts: readonly Verdict[], settled: Settled): ReadonlyMap<string, Windows> => {
  const windows = new Map<string, Windows>();
  for (const { autoscaler, evaluated } of verdicts) {
    if (evaluated && autoscaler.kind === "ready") windows.set(autoscaler.record.uid, evaluated.decision.windows);
  }
  for (const { acted, event } of settled.own) {
    const written = rules.afterWrite({
      spec: acted.input.spec,
      decision: acted.scale,
      outcome: outcomeOfEvent(event),
      atMs: event.settledMs,
      eventId: event.id,
    });
    windows.set(event.uid, written.windows);
  }
  return windows;
};

/** The autoscalers of the partition. While one cannot be read so far as its uid, nobody's windows are dropped: they may be its own. */
const keptUids = ({ specs }: Loaded, before: ReadonlyMap<string, StoredWindows>): ReadonlySet<string> => {
  const uids = specs.all.map(uidOf);
  const known = uids.filter((uid) => uid !== undefined);
  return new Set(known.length === uids.length ? known : [...known, ...before.keys()]);
};
