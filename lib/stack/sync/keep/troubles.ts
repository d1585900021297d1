import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import { SPEC_OVER_BUDGET } from "../../report/holds.ts";
import {
  HAS_SPELLS,
  LASTS_MS,
  lastsAt,
  OWNERS_MAX,
  REMEMBERED_MAX,
  sinceMinute,
  TROUBLE_KINDS,
  type Trouble,
  type TroubleKind,
  type Troubles,
  troubleKey,
} from "../../store/head/troubles.ts";
import {
  laterSpells,
  spellOf,
  type Spells,
  SPELLS_KEPT_MS,
  spellsMs,
} from "../../store/head/spells.ts";
import type { Diagnosis } from "../../../rules/doctor/examine.ts";
import { FINISHED_PODS } from "../../../rules/doctor/rules/finished-pods.ts";
import { FOREIGN_PODS } from "../../../rules/doctor/rules/foreign-pods.ts";
import { OLD_SAMPLES } from "../../../rules/doctor/rules/old-samples.ts";
import { PODS_REFUSED } from "../../../rules/doctor/rules/pods-refused.ts";
import type { SyncMessage } from "../../plan/message.ts";
import { undecidedAfter } from "./undecided.ts";
import type { FindingsOf } from "./newest-findings.ts";
import { hasFailed, isUnreachable } from "./completed-report.ts";
import { boundsOf } from "../decide/evaluation.ts";
import { hasLimit, isAtMax } from "../../report/evaluation-state.ts";
import { NOT_FOUND } from "../../../rules/model/http-status.ts";
import type { Verdict, Loaded, ClusterAnswers, After } from "../hand-over.ts";
import { TENANT_OVER_SHARE } from "../../../rules/model/observation.ts";

/** One autoscaler, or one namespace, that has a trouble in this sync. */
interface Troubled {
  readonly kind: TroubleKind;
  readonly key: string;
  readonly name: string;
  readonly owner?: string;
  readonly by?: string;
  readonly rule?: string;
}

/**
 * The troubles of a partition after this sync, with the times of those that go on. What a person
 * has stopped (a freeze, a pause, another controller) has none. Where the cluster cannot be read or
 * nothing can be evaluated, this is the one trouble, and no metric is missing beside it.
 */
export const troublesAfter = (
  message: SyncMessage,
  { head, cluster, nowMs, objects }: Pick<Loaded, "head" | "cluster" | "nowMs" | "objects">,
  {
    seen,
    verdicts,
    after,
    findingsOf,
  }: {
    readonly seen: ClusterAnswers;
    readonly verdicts: readonly Verdict[];
    readonly after: Pick<After, "refused" | "contestedOf">;
    /** What the doctor finds at each, in a sync that has looked; absent where it has not. */
    readonly findingsOf: FindingsOf | undefined;
  },
): Troubles => {
  const { troubles: before } = head;
  const unreachable = isUnreachable(seen);
  const failing = !unreachable && allFail(verdicts);
  const troubledNow = verdicts
    .map((verdict) => troubledBy(verdict, after))
    .filter((one) => one !== undefined);
  const troubled = [...troubledNow, ...(objects?.overBudget.map(namespaceOver) ?? [])];
  const counted = troubled.filter(({ kind }) => kind !== "unmeasured" || !(unreachable || failing));
  const byKind = Map.groupBy(counted, ({ kind }) => kind);
  const pods = findingsOf && verdicts.flatMap((verdict) => podsOf(verdict, findingsOf(verdict)));
  const of = TROUBLE_KINDS.flatMap((kind) => {
    // The pods behind each count are looked at once a minute.
    if (kind === "pods" && !pods) return before.of.pods ? [[kind, before.of.pods] as const] : [];
    const all = (kind === "pods" ? pods : byKind.get(kind)) ?? [];
    const trouble = troubleAfter(before.of[kind], all, { kind, nowMs, periodMs: message.periodMs });
    return trouble ? [[kind, trouble] as const] : [];
  });
  const undecided = undecidedAfter(message, {
    ...{ head, cluster, nowMs },
    decided: !unreachable && !failing,
  });
  return {
    ...(unreachable && { unreachableMs: before.unreachableMs ?? nowMs }),
    ...(failing && { failingMs: before.failingMs ?? nowMs }),
    ...(undecided && { undecided }),
    ...findingsAfter(before, verdicts, findingsOf),
    of: Object.fromEntries(of),
  };
};

/** In a sync that has not looked, the findings of the last one that has. */
const findingsAfter = (
  before: Troubles,
  verdicts: readonly Verdict[],
  findingsOf: FindingsOf | undefined,
): Pick<Troubles, "findings"> => {
  const findings = findingsOf
    ? verdicts.reduce((sum, verdict) => sum + findingsOf(verdict).length, 0)
    : (before.findings ?? 0);
  return findings > 0 ? { findings } : {};
};

/**
 * A manifest that names no workload is a mistake of its author, and says nothing of the cluster.
 */
const hasWorkload = (verdict: Exclude<Verdict, { readonly kind: "unevaluated" }>): boolean => {
  const { scale } = verdict.input.observation;
  return scale.kind !== "failed" || scale.failure.code !== NOT_FOUND;
};

/** On doubt, no: what cannot be read of the tables has an alarm of its own. */
const allFail = (verdicts: readonly Verdict[]): boolean => {
  const isAsked = (verdict: Verdict): boolean =>
    verdict.kind !== "unevaluated" && hasWorkload(verdict);
  return (
    verdicts.every((verdict) => hasFailed(verdict) || !isAsked(verdict)) && verdicts.some(isAsked)
  );
};

const OVER_SHARE: ReadonlySet<string> = new Set([TENANT_OVER_SHARE, SPEC_OVER_BUDGET]);

const troubledBy = (
  verdict: Verdict,
  { refused, contestedOf }: Pick<After, "refused" | "contestedOf">,
): Troubled | undefined => {
  const { autoscaler } = verdict;
  if (autoscaler.kind === "unreadable") return undefined;
  const { record } = autoscaler;
  if (OVER_SHARE.has(verdict.because.reason)) return namespaceOver(record.namespace);
  if (verdict.kind === "unevaluated" || (verdict.kind === "hold" && verdict.withoutHold))
    return undefined;
  const contested = contestedOf(verdict);
  const kind = kindOf(verdict, {
    isRefused: refused.has(record.uid),
    isContested: contested !== undefined,
  });
  if (!kind) return undefined;
  const owner = verdict.autoscaler.spec.owner ?? ownerLabel(record);
  return {
    kind,
    key: troubleKey(record.uid),
    name: `${record.namespace}/${record.name}`,
    ...(owner !== undefined && { owner }),
    ...(kind === "contested" && contested?.by !== undefined && { by: contested.by }),
  };
};

/** Rules of the doctor that find pods which count and should not, or which are refused. */
const PODS_RULES: ReadonlySet<string> = new Set(
  [PODS_REFUSED, FOREIGN_PODS, FINISHED_PODS, OLD_SAMPLES].map(({ name }) => name),
);

const podsOf = ({ autoscaler }: Verdict, findings: readonly Diagnosis[]): readonly Troubled[] => {
  const found = findings.find(({ rule }) => PODS_RULES.has(rule));
  if (!found || autoscaler.kind === "unreadable") return [];
  const { uid, namespace, name } = autoscaler.record;
  return [{ kind: "pods", key: troubleKey(uid), name: `${namespace}/${name}`, rule: found.rule }];
};

const namespaceOver = (namespace: string): Troubled => ({
  kind: "overShare",
  key: troubleKey(namespace),
  name: namespace,
});

const kindOf = (
  verdict: Exclude<Verdict, { readonly kind: "unevaluated" }>,
  { isRefused, isContested }: { readonly isRefused: boolean; readonly isContested: boolean },
): TroubleKind | undefined => {
  if (isRefused) return "refused";
  const { decision, input } = verdict;
  if (!hasWorkload(verdict)) return "absent";
  if (hasFailed(verdict) || decision.metrics.some(({ kind }) => kind === "failed"))
    return "unmeasured";
  if (isContested) return "contested";
  // One of each autoscaler is looked at in every sync, and few want more than they may have.
  if (!decision.steps.some(hasLimit)) return undefined;
  return isAtMax({ bounds: boundsOf(decision, input), from: decision.from, steps: decision.steps })
    ? "atMax"
    : undefined;
};

/** The label that names the owner of an autoscaler whose kind has no `spec.owner`, as an HPA. */
export const OWNER_LABEL = "tidemark.dev/owner";

const ownerLabel = ({ manifest }: AutoscalerRecord): string | undefined => {
  // Most manifests have no such label, and need not be parsed.
  if (!manifest.includes(OWNER_LABEL)) return undefined;
  const {
    metadata,
  }: { readonly metadata?: { readonly labels?: Readonly<Record<string, unknown>> } } =
    JSON.parse(manifest);
  const owner = metadata?.labels?.[OWNER_LABEL];
  return typeof owner === "string" && owner !== "" ? owner : undefined;
};

interface Instant {
  readonly kind: TroubleKind;
  readonly nowMs: number;
  readonly periodMs: number;
}

/**
 * Those that were remembered stay remembered, so that their times stay exact. `undefined` where
 * none has the trouble, and none had it in the last hour.
 */
const troubleAfter = (
  before: Trouble | undefined,
  troubled: readonly Troubled[],
  { kind, nowMs, periodMs }: Instant,
): Trouble | undefined => {
  if (!before && troubled.length === 0) return undefined;
  const named = new Map(troubled.map((one) => [one.key, one]));
  const known = [...named.keys()].filter((key) => before?.since.has(key));
  const others = [...named.keys()].filter((key) => !before?.since.has(key));
  const remembered = [...known, ...others].slice(0, REMEMBERED_MAX);
  const since = new Map(
    remembered.map((key) => [key, before?.since.get(key) ?? sinceMinute(nowMs)]),
  );
  const spells = spellsAfter(before, since, { kind, nowMs, periodMs });
  if (since.size === 0 && !spells) return undefined;
  const lastsMs = LASTS_MS[kind];
  const oldest = longestOf(since, spells, nowMs);
  const count = named.size - since.size;
  // Where none has it now, the name of the one that had it last stays.
  const { name: first = before?.first ?? "", by, rule } = named.get(oldest ?? "") ?? {};
  const now = { since, ...(spells && { spells }) };
  return {
    ...now,
    first,
    ...(by !== undefined && { by }),
    ...(rule !== undefined && { rule }),
    ...(count > 0 && { more: { count, sinceMs: before?.more?.sinceMs ?? sinceMinute(nowMs) } }),
    ...ownersOf([...named.values()].filter(({ key }) => lastsAt(now, key, { lastsMs, nowMs }))),
  };
};

/** Of those that have it now, the one that had it the longest in the last hour, or has it so. */
const longestOf = (
  since: ReadonlyMap<string, number>,
  spells: ReadonlyMap<string, Spells> | undefined,
  nowMs: number,
): string | undefined => {
  const lengthOf = ([key, sinceMs]: readonly [string, number]): number => {
    const own = spells?.get(key);
    return Math.max(nowMs - sinceMs, own ? spellsMs(own, nowMs) : 0);
  };
  const [longest] = [...since].toSorted((one, other) => lengthOf(other) - lengthOf(one));
  return longest?.[0];
};

/*
 *  trouble  ████████    ██    ████      began without spells: none while it lasts
 *  spells           1 1 2 2 2 3 3 3     from its first end on: how long, by slots of five minutes
 */
const spellsAfter = (
  before: Trouble | undefined,
  since: ReadonlyMap<string, number>,
  { kind, nowMs, periodMs }: Instant,
): ReadonlyMap<string, Spells> | undefined => {
  if (!before || !HAS_SPELLS[kind]) return undefined;
  const begun = [...before.since].flatMap(([key, sinceMs]) =>
    since.has(key) || before.spells?.has(key)
      ? []
      : [[key, spellOf(sinceMs, periodMs, nowMs)] as const],
  );
  const gone = [...(before.spells ?? [])].flatMap(([key, spells]) => {
    const sinceMs = since.get(key);
    if (sinceMs !== undefined && sinceMs <= nowMs - SPELLS_KEPT_MS) return [];
    const addedMs = sinceMs === undefined ? 0 : periodMs;
    const later = laterSpells(spells, { addedMs, nowMs });
    return later ? [[key, later] as const] : [];
  });
  const all = [...gone, ...begun];
  if (all.length === 0) return undefined;
  if (all.length <= REMEMBERED_MAX) return new Map(all);
  const longest = all.toSorted(
    ([, one], [, other]) => spellsMs(other, nowMs) - spellsMs(one, nowMs),
  );
  return new Map(longest.slice(0, REMEMBERED_MAX));
};

const ownersOf = (troubled: readonly Troubled[]): Pick<Trouble, "owners"> => {
  const byOwner = Map.groupBy(
    troubled.filter(({ owner }) => owner !== undefined),
    ({ owner }) => owner ?? "",
  );
  if (byOwner.size === 0) return {};
  const counts = [...byOwner]
    .map(([owner, { length }]) => [owner, length] as const)
    .toSorted(([, one], [, other]) => other - one);
  return { owners: Object.fromEntries(counts.slice(0, OWNERS_MAX)) };
};
