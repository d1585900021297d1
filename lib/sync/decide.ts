import type { Observed } from "../cluster/port.ts";
import type { Because, Decision, Scale } from "../model/decision.ts";
import type { WithoutHold } from "../model/records.ts";
import { NEW_WINDOWS, type Windows } from "../model/windows.ts";
import type { DecideInput } from "../policy/decide.ts";
import { autoscalerPaused, recordUnreadable, rivalControllers, rivalsUnknown, specInvalid, windowsUnreadable } from "../report/holds.ts";
import type { Loaded } from "./load.ts";
import { pageOfUid } from "./load-pages.ts";
import type { LoadedSpec } from "./loaded-specs.ts";
import type { ReadySpec, Seen } from "./observe.ts";
import { pausedBy } from "./pause.ts";
import type { Rules } from "./ports.ts";
import { stopOf } from "./stop.ts";
import { windowsNow } from "./stored-windows.ts";
import { workloadHolds } from "./workload-holds.ts";

/** What this sync does about one autoscaler. */
export interface Verdict {
  readonly autoscaler: LoadedSpec;
  /** The last word: the decision's own reason, or what held it. */
  readonly because: Because;
  /** Absent where nothing was evaluated. */
  readonly evaluated?: { readonly input: DecideInput; readonly decision: Decision };
  /** Present where something beside the rules holds it. */
  readonly withoutHold?: WithoutHold;
  /** Only here is anything written to the cluster. */
  readonly scale?: Scale;
}

/** A verdict per autoscaler, in the order of the specs. No clock, nothing that waits. */
export const decideAll = (rules: Rules, loaded: Loaded, seen: Seen): readonly Verdict[] => {
  const held = holdsOf(loaded, seen);
  return loaded.specs.all.map((autoscaler) => {
    const unseen = unseenReason(loaded, autoscaler);
    if (unseen || autoscaler.kind !== "ready") return { autoscaler, because: unseen ?? recordUnreadable("") };
    const { uid } = autoscaler.record;
    const observed = seen.observed.observations.get(uid);
    if (!observed) throw new TypeError(`autoscaler "${uid}" was watched and is not among the observations`);
    const input = inputOf(loaded, autoscaler, observed);
    const decision = rules.decide(input);
    const [hold, next] = [...held(autoscaler), ...rivalsOf(autoscaler, observed)];
    const verdict = { autoscaler, because: hold ?? decision.because, evaluated: { input, decision } };
    if (hold) return { ...verdict, withoutHold: withoutHold(decision, next) };
    return decision.kind === "scale" ? { ...verdict, scale: decision } : verdict;
  });
};

/** Behind one hold may stand another: a freeze that ends lets nothing be written beside a rival. */
const withoutHold = (decision: Decision, next: Because | undefined): WithoutHold => {
  if (next) return { because: next };
  return { because: decision.because, ...(decision.kind === "scale" && { to: decision.to }) };
};

const inputOf = (loaded: Loaded, { record, spec }: ReadySpec, observed: Observed): DecideInput => ({
  namespace: record.namespace,
  name: record.name,
  spec,
  settings: loaded.cluster.settings,
  observation: observed.observation,
  windows: windowsOf(loaded, record.uid),
  nowMs: loaded.nowMs,
});

const windowsOf = (loaded: Loaded, uid: ReadySpec["record"]["uid"]): Windows => {
  const page = pageOfUid(loaded, uid);
  const entry = page?.kind === "read" ? page.entries.get(uid) : undefined;
  return entry ? windowsNow(entry, loaded.head.evaluatedMs) : NEW_WINDOWS;
};

/** Why an autoscaler cannot be evaluated. A freeze or a pause is no such reason: it only keeps the result from being written. */
const unseenReason = (loaded: Loaded, autoscaler: LoadedSpec): Because | undefined => {
  if (autoscaler.kind === "unreadable") return recordUnreadable(autoscaler.message);
  if (autoscaler.kind === "invalid") return specInvalid(autoscaler.message);
  const page = pageOfUid(loaded, autoscaler.record.uid);
  // Windows that cannot be read are not "no windows": a cool-down may be running. It holds until somebody looks.
  return page?.kind === "unreadable" ? windowsUnreadable(page.index, page.message) : undefined;
};

/**
 * Fails to a hold: beside a rival, seen or not, two controllers would fight over the count. A dry run writes nothing, so it fights with no other controller and is not held
 * because of one.
 */
const rivalsOf = ({ spec }: ReadySpec, { rivals, rivalsUnknown: unknown }: Observed): readonly Because[] => {
  if (spec.dryRun) return [];
  if (rivals.length > 0) return [rivalControllers(rivals)];
  return unknown === undefined ? [] : [rivalsUnknown(unknown)];
};

/**
 * Why an evaluated autoscaler must not act, strongest reason first: a freeze or a pause, an intent of its workload that is open or was settled just now, another autoscaler
 * of the same workload. One reason is enough to write nothing.
 */
const holdsOf = (loaded: Loaded, seen: Seen): ((autoscaler: ReadySpec) => readonly Because[]) => {
  const stop = stopOf(loaded);
  const around = workloadHolds(loaded, seen);
  return (autoscaler) => {
    const own = pausedBy(autoscaler.record, loaded.nowMs);
    return [stop, own && autoscalerPaused(own), around(autoscaler)].filter((hold) => hold !== undefined);
  };
};
