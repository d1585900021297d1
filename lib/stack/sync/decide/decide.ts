import type { ClusterClient, Observed } from "../../cluster/cluster-client.ts";
import { mapYielding } from "../../cluster/map-yielding.ts";
import { looksPerPod } from "../../cluster/observe/scopes.ts";
import { flowShares } from "../../turns/shares.ts";
import type { Because, Decision } from "../../../rules/model/decision.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import { isOfEarlierCluster, pausedBy } from "../../../rules/model/records.ts";
import { overridesOf } from "../../../rules/model/override.ts";
import { parseSelector } from "../../../rules/model/selector-text.ts";
import { NEW_WINDOWS, type Windows } from "../../../rules/model/windows.ts";
import type { DecideInput } from "../../../rules/policy/decide.ts";
import type { PurePart } from "../pure-part.ts";
import {
  autoscalerPaused,
  earlierCluster,
  namespaceTooMuchWork,
  otherStack,
  recordUnreadable,
  rivalControllers,
  rivalsUnknown,
  ruleFailed,
  specInvalid,
  specUnread,
  tenantOverShare,
  windowsUnreadable,
} from "../../report/holds.ts";
import { forecastFor } from "../load/load-forecasts.ts";
import { type Beside, besideOf } from "../load/known-rivals.ts";
import { entryOf, pageOfUid } from "../load/load-pages.ts";
import { isBeside, outsideScales, withOutside } from "../observe/outside-scales.ts";
import { heldByNewer } from "../specs/store-room.ts";
import { stopOf, workloadHolds } from "./holds.ts";
import { windowsNow } from "../load/stored-windows.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { Timing } from "../../plan/message.ts";
import type { WithoutHold } from "../../../rules/model/scale-records.ts";
import type {
  Loaded,
  LoadedSpec,
  ReadySpec,
  ClusterAnswers,
  Verdict,
  EvaluatedVerdict,
  UnevaluatedVerdict,
  HoldVerdict,
  ScaleVerdict,
} from "../hand-over.ts";

/**
 * A verdict for each autoscaler that was seen, in the order of the specs. In the first round of a
 * sync those that cannot be read have one too. It reads no clock, and waits for nothing but its
 * next turn.
 */
export const decideAll = (
  { rules, timing }: Pick<SyncPorts, "rules" | "timing">,
  loaded: Loaded,
  seen: ClusterAnswers,
  round: "first" | "later" = "first",
): Promise<readonly Verdict[]> => {
  const holds = holdsOf(loaded, seen, timing);
  const besideHere = besideOf(loaded);
  const outsideOf = outsideScales(loaded);
  const work = workOfNamespaces();
  const { observations } = seen.observed;
  const decideOne = (autoscaler: ReadySpec): Verdict => {
    const { uid } = autoscaler.record;
    const observed = observations.get(uid);
    if (!observed)
      throw new TypeError(`autoscaler "${uid}" was watched and is not among the observations`);
    const over = work(autoscaler, observed);
    if (over) return { kind: "unevaluated", autoscaler, because: over };
    const beside = besideHere(autoscaler, observed);
    const outside = outsideOf(autoscaler, observed, beside, seen.answeredMs ?? loaded.nowMs);
    const before = inputOf(loaded, autoscaler, observed, seen.answeredMs);
    const windows = seen.failures.guarded(
      uid,
      () => withOutside(rules, loaded, { input: before, uid, outside, rivals: beside.rivals }),
      () => before.windows,
    );
    const input = windows === before.windows ? before : { ...before, windows };
    const decision = seen.failures.guarded<Decision | undefined>(
      uid,
      () => decidedInDetail(rules, input),
      () => undefined,
    );
    // Also where its questions failed before: it was not asked what it needs.
    const error = seen.failures.of(uid);
    if (!decision || error)
      return withError(autoscaler, error ?? new TypeError("a rule gave no decision"));
    return decidedOf(
      { autoscaler, input, decision, ...(outside && { outside }) },
      { loaded, seen, observed, holds, beside },
    );
  };
  return mapYielding(ofRound(loaded, seen, round), (autoscaler): Verdict => {
    const unevaluated = unevaluatedOf(loaded, autoscaler);
    if (unevaluated || autoscaler.kind !== "ready")
      return unevaluated ?? withError(autoscaler, new TypeError("it has no spec"));
    return decideOne(autoscaler);
  });
};

/** The intent and the event of a scale keep what is behind its metrics. */
const decidedInDetail = (rules: PurePart, input: DecideInput): Decision => {
  const decision = rules.decide(input);
  return decision.kind === "scale"
    ? { ...decision, metrics: rules.metricsInDetail(decision, input) }
    : decision;
};

/**
 * Those to decide now. An autoscaler that was not seen yet belongs to a later round, while there is
 * one.
 */
const ofRound = (
  { specs }: Loaded,
  { observed: { observations }, later }: ClusterAnswers,
  round: "first" | "later",
): readonly LoadedSpec[] => {
  if (round === "first" && !later) return specs.all;
  return specs.all.filter((autoscaler) =>
    autoscaler.kind === "ready" ? observations.has(autoscaler.record.uid) : round === "first",
  );
};

interface Surroundings {
  readonly loaded: Loaded;
  readonly seen: ClusterAnswers;
  readonly observed: Observed;
  readonly holds: HoldsOf;
  readonly beside: Beside;
}

/** The verdict on a decision: what holds it back, or the scale. */
const decidedOf = (
  decided: Pick<EvaluatedVerdict, "autoscaler" | "input" | "decision" | "outside">,
  { loaded, seen, observed, holds, beside }: Surroundings,
): Verdict => {
  const { autoscaler } = decided;
  const { rivals, known } = beside;
  const { waiting, forbidden } = newerOf(loaded, decided);
  const { overShare } = observed;
  // One of each autoscaler is made in every sync.
  const evaluated: { -readonly [Member in keyof EvaluatedVerdict]: EvaluatedVerdict[Member] } = {
    ...decided,
  };
  if (rivals.length > 0) evaluated.rivals = rivals;
  if (known) evaluated.knownRivals = known;
  if (overShare !== undefined) evaluated.overShare = overShare;
  if (isBeside(beside, observed)) evaluated.beside = true;
  if (waiting) evaluated.waiting = waiting;
  const all = [
    ...holds(autoscaler),
    rivalHold(autoscaler, beside, observed.otherStack),
    forbidden,
  ].filter((hold) => hold !== undefined);
  return verdictOf(evaluated, seen.client, all);
};

/** The verdict on an autoscaler that the rules cannot be asked about. */
const unevaluatedOf = (loaded: Loaded, autoscaler: LoadedSpec): UnevaluatedVerdict | undefined => {
  // A freeze or a pause is no reason to skip the evaluation: it only keeps the result from being
  // written.
  if (autoscaler.kind === "unreadable")
    return { kind: "unevaluated", autoscaler, because: recordUnreadable(autoscaler.message) };
  if (autoscaler.kind === "invalid") {
    const { error, message, unread } = autoscaler;
    if (unread) return { kind: "unevaluated", autoscaler, because: specUnread() };
    return error
      ? withError(autoscaler, error)
      : { kind: "unevaluated", autoscaler, because: specInvalid(message) };
  }
  const page = pageOfUid(loaded, autoscaler.record.uid);
  // On doubt, hold: windows that cannot be read are not "no windows", because a cool-down may be
  // running. It holds until a person resets the page.
  return page?.kind === "unreadable"
    ? { kind: "unevaluated", autoscaler, because: windowsUnreadable(page.index, page.message) }
    : undefined;
};

const withError = (autoscaler: LoadedSpec, error: Error): UnevaluatedVerdict => ({
  kind: "unevaluated",
  autoscaler,
  because: ruleFailed(error),
  error,
});

/**
 * Most pods that the decisions about one namespace look at in one round: three thousand autoscalers
 * of a hundred pods each. It takes some tenths of a second.
 */
export const NAMESPACE_LOOKS_MAX = 300_000;

/**
 * Counts the pods that the rules look at, and holds what would take a namespace over its share of
 * the time. Each autoscaler looks at the pods that its selector leaves, once to select them and
 * once for each metric. On doubt, hold: those autoscalers only. An autoscaler that looks at few is
 * not counted, and the first one is always decided.
 */
const workOfNamespaces = (): ((
  autoscaler: ReadySpec,
  observed: Observed,
) => Because | undefined) => {
  const shares = flowShares({ looks: NAMESPACE_LOOKS_MAX });
  return ({ record: { namespace }, spec }, { observation: { scale, pods } }) => {
    const each = looksPerPod(spec);
    if (scale.kind === "failed" || pods.all.length * each < FEW_LOOKS) return undefined;
    const reading = parseSelector(scale.selector);
    if (reading.kind === "invalid") return undefined;
    if (shares.take(namespace, "looks", pods.looksAt(reading.selector) * each)) return undefined;
    return namespaceTooMuchWork(namespace, { pods: pods.all.length, limit: NAMESPACE_LOOKS_MAX });
  };
};

/**
 * Fewer looks of one autoscaler are not counted: a thousand autoscalers together stay below the
 * limit.
 */
const FEW_LOOKS = 200;

const verdictOf = (
  evaluated: EvaluatedVerdict,
  client: ClusterClient | undefined,
  [hold, next]: readonly Because[],
): HoldVerdict | ScaleVerdict => {
  const { decision, input, overShare } = evaluated;
  if (hold)
    return { ...evaluated, kind: "hold", because: hold, withoutHold: withoutHold(decision, next) };
  const read = input.observation.scale;
  // Rules that need the missing answer hold. Those that can do with the others go on as ever.
  if (decision.kind === "hold" && decision.failed && overShare !== undefined)
    return { ...evaluated, kind: "hold", because: tenantOverShare(overShare) };
  // On doubt, hold: without a client, or a scale that was read, there is no version to write over.
  // Every dialect holds then by its own rules.
  if (decision.kind === "hold" || read.kind === "failed" || !client)
    return { ...evaluated, kind: "hold", because: decision.because };
  return { ...evaluated, kind: "scale", because: decision.because, decision, read, client };
};

/**
 * Another hold may stand behind the first: when a freeze ends, a rival still keeps everything from
 * being written.
 */
const withoutHold = (decision: Decision, next: Because | undefined): WithoutHold => {
  if (next) return { because: next };
  return { because: decision.because, ...(decision.kind === "scale" && { to: decision.to }) };
};

const inputOf = (
  loaded: Loaded,
  { record, spec }: ReadySpec,
  observed: Observed,
  answeredMs: number | undefined,
): DecideInput => {
  const { fleet, cluster } = loaded;
  const overrides = overridesOf({ fleet, cluster, record });
  // One of each autoscaler is made in every sync.
  const input: { -readonly [Member in keyof DecideInput]: DecideInput[Member] } = {
    namespace: record.namespace,
    name: record.name,
    spec,
    settings: cluster.settings,
    observation: observed.observation,
    windows: windowsOf(loaded, record.uid),
    nowMs: loaded.nowMs,
    syncPeriodMs: cluster.syncPeriodMs,
  };
  if (answeredMs !== undefined) input.answeredMs = answeredMs;
  const forecast = spec.advice && forecastFor(loaded.specs, record.uid);
  if (forecast) input.forecast = forecast;
  if (overrides.length > 0 || fleet.calendars)
    input.setByPeople = { overrides, calendars: fleet.calendars ?? [] };
  return input;
};

const windowsOf = (loaded: Loaded, uid: AutoscalerUid): Windows => {
  const entry = entryOf(loaded, uid);
  return entry ? windowsNow(entry, loaded.head.evaluatedMs) : NEW_WINDOWS;
};

interface Newer {
  readonly waiting?: Because;
  readonly forbidden?: Because | undefined;
}

const NOTHING_NEWER: Newer = {};

/**
 * What a newer spec that is not stored yet says: that it waits, and why the decision by the stored
 * one must not be made.
 */
const newerOf = (
  { objects }: Loaded,
  {
    autoscaler: { record, spec },
    input,
    decision,
  }: Pick<EvaluatedVerdict, "autoscaler" | "input" | "decision">,
): Newer => {
  const waiting = objects?.waiting.get(record.uid);
  if (!waiting) return NOTHING_NEWER;
  return {
    waiting: waiting.because,
    forbidden: heldByNewer(waiting, { ...input, spec, decision }),
  };
};

/**
 * On doubt, hold: beside a rival, seen or possible, two controllers would fight over the count. A
 * dry run writes nothing, so it fights with no other controller and is not held because of one.
 */
const rivalHold = (
  { spec }: ReadySpec,
  { rivals, unknown }: Beside,
  stack: Observed["otherStack"],
): Because | undefined => {
  if (spec.dryRun) return undefined;
  if (rivals.length > 0) return rivalControllers(rivals);
  if (stack) return otherStack(stack);
  return unknown === undefined ? undefined : rivalsUnknown(unknown);
};

/**
 * Why an evaluated autoscaler must not act, strongest reason first: a freeze or a pause; an apply
 * to an earlier cluster; its object in the cluster; an intent of its workload that is open or was
 * settled in this sync; another autoscaler of the same workload. One reason is enough to write
 * nothing.
 */
const holdsOf = (loaded: Loaded, seen: ClusterAnswers, timing: Timing): HoldsOf => {
  const stop = stopOf(loaded);
  const workloadHold = workloadHolds(loaded, seen, timing);
  return (autoscaler) => {
    const pause = pausedBy(autoscaler.record, loaded.nowMs);
    const objectHold = loaded.objects?.holds.get(autoscaler.record.uid);
    const earlier = isOfEarlierCluster(loaded.cluster, autoscaler.record)
      ? earlierCluster(loaded.cluster.name)
      : undefined;
    return [stop, pause && autoscalerPaused(pause), earlier, objectHold, workloadHold(autoscaler)];
  };
};

type HoldsOf = (autoscaler: ReadySpec) => readonly (Because | undefined)[];
