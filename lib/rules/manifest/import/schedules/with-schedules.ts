import { asList, asObject, type Json } from "../../../model/json.ts";
import { milliOfText } from "../../../model/quantity.ts";
import type { Detail } from "../finding.ts";
import { accounted } from "../ledger.ts";
import { cronFederatedHpa, scheduledActions } from "./actions.ts";
import { hasDowntime, kubeDownscaler, scalingSchedule, sleepInfo } from "./downtimes.ts";
import { scalingScheduleRules, type SourceRule, timedRules } from "./source-week.ts";
import {
  ownBoundsOf,
  changed,
  type Entry,
  floorWithin,
  lost,
  writtenName,
  writtenNamespace,
  type Timed,
} from "./timed.ts";

/** An object that sets counts by time, as a file has it. */
export interface TimedObject {
  readonly raw: Json;
  /** "CronFederatedHPA "web"", for people. */
  readonly words: string;
}

const READERS: Readonly<Record<string, (raw: Json) => Timed>> = {
  CronFederatedHPA: cronFederatedHpa,
  SleepInfo: sleepInfo,
};
const SCALING_SCHEDULES: ReadonlySet<string> = new Set([
  "ScalingSchedule",
  "ClusterScalingSchedule",
]);

/** True for an object that only sets counts by time, and is no autoscaler. */
export const isTimed = (raw: Json): boolean => {
  const kind = String(raw["kind"]);
  return (
    "ScheduledActions" in raw ||
    kind in READERS ||
    SCALING_SCHEDULES.has(kind) ||
    (kind !== "HorizontalPodAutoscaler" && hasDowntime(raw))
  );
};

/**
 * What becomes of a timed object. A ScalingSchedule is read with the HPA whose metric names it, by
 * `withoutScheduleMetrics`.
 */
const timedOf = (raw: Json): Timed | undefined => {
  if ("ScheduledActions" in raw) return accounted(raw, scheduledActions);
  const read = READERS[String(raw["kind"])];
  if (read) return accounted(raw, read);
  return hasDowntime(raw) ? accounted(raw, kubeDownscaler, { stays: isOfWorkload }) : undefined;
};

/** Of a workload or a namespace only the annotations of kube-downscaler set counts by time. */
const isOfWorkload = (path: string): boolean => !path.startsWith("metadata.");

/**
 * The schedule that an HPA gets from the ScalingSchedules that its metrics name, and the HPA
 * without these metrics.
 */
export const withoutScheduleMetrics = (
  hpa: Json,
  timed: readonly Json[],
): {
  readonly document: Json;
  readonly entries: readonly Json[];
  readonly used: readonly Json[];
  readonly details: readonly Detail[];
} => {
  const spec = asObject(hpa["spec"]);
  const read = asList(spec["metrics"]).map((metric) => ({
    metric,
    named: scheduleNamed(asObject(metric), hpa, timed),
  }));
  const kept = read.flatMap(({ metric, named }) => (named ? [] : [metric]));
  const found = read.flatMap(({ named }) => named ?? []);
  const bounds = ownBoundsOf(hpa);
  if (found.length === 0) return { document: hpa, entries: [], used: [], details: [] };
  const only =
    kept.length === 0
      ? [
          lost(
            "spec.metrics",
            "its only metric is a schedule: it needs a metric that decides outside of its windows",
          ),
        ]
      : [];
  return {
    document: { ...hpa, spec: { ...spec, metrics: kept } },
    entries: found.flatMap(({ entries }) => entries.map((floor) => floorWithin(floor, bounds))),
    used: found.map(({ raw }) => raw),
    details: [...only, ...found.flatMap(({ details }) => details)],
  };
};

const targetMilli = (target: unknown): number =>
  Number(milliOfText(String(asObject(target)["averageValue"])) ?? 0);

/** What the controllers of timed objects do to an autoscaler, each by its own rule. */
export const rulesFor = (
  autoscaler: Json,
  converted: Json,
  { timed, among }: { readonly timed: readonly Json[]; readonly among: number },
): readonly SourceRule[] => {
  const named = asList(asObject(autoscaler["spec"])["metrics"]).flatMap((metric) => {
    const { target } = asObject(asObject(metric)["object"]);
    const found = scheduleNamed(asObject(metric), autoscaler, timed);
    return found ? scalingScheduleRules(found.raw, targetMilli(target) / 1000) : [];
  });
  const own = timed.flatMap((raw) => {
    const one = timedOf(raw);
    return one && isFor(one, converted, among) ? timedRules(raw) : [];
  });
  return [...named, ...own];
};

const scheduleNamed = (metric: Json, hpa: Json, timed: readonly Json[]) => {
  const { describedObject, target } = asObject(metric["object"]);
  const { kind, name } = asObject(describedObject);
  const raw = timed.find(
    (each) =>
      each["kind"] === kind &&
      writtenName(each) === name &&
      (kind === "ClusterScalingSchedule" || writtenNamespace(each) === writtenNamespace(hpa)),
  );
  if (!raw || !SCALING_SCHEDULES.has(String(kind))) return undefined;
  const perMilli = targetMilli(target);
  if (!(perMilli > 0))
    return {
      raw,
      entries: [],
      details: [
        lost(
          "spec.metrics",
          `its target must be an averageValue above 0, and is ${JSON.stringify(target)}`,
        ),
      ],
    };
  return { raw, ...accounted(raw, (object) => scalingSchedule(object, perMilli / 1000)) };
};

/** One autoscaler as it was converted. */
export interface Converted {
  readonly document: Json;
  readonly entries: readonly Json[];
  /** The ScalingSchedules that its metrics name. */
  readonly used?: readonly Json[];
}

export interface Attached {
  readonly documents: readonly Json[];
  /** Findings of the timed objects, each with the words for its object. */
  readonly findings: readonly { readonly words: string; readonly detail: Detail }[];
}

/**
 * Gives each autoscaler the entries of the timed objects that are for it. A timed object that is
 * for none of them is lost.
 */
export const withSchedules = (
  converted: readonly Converted[],
  timed: readonly TimedObject[],
): Attached => {
  const read = timed.map(({ raw, words }) => ({ words, timed: timedOf(raw) }));
  const documents = converted.map(({ document, entries }) => {
    const more = read.flatMap(({ timed: one }) =>
      one && isFor(one, document, converted.length) ? entriesFor(one, document) : [],
    );
    return withEntries(document, [...entries, ...more]);
  });
  const used = converted.flatMap(({ used: named = [] }) => named);
  const unused = timed
    .filter(({ raw }) => isUnnamed(raw, used))
    .map(({ words }) => ({
      words,
      detail: lost("its target", `${NO_METRIC}: give the manifest of its HPA with -f too`),
    }));
  const findings = read.flatMap(({ words, timed: one }) => {
    if (!one) return [];
    const isMet = converted.some(({ document }) => isFor(one, document, converted.length));
    const nobody = isMet
      ? []
      : [
          lost(
            "its target",
            `${forText(one)} is among the files: give the manifest of its autoscaler with -f too`,
          ),
        ];
    return [...one.details, ...nobody].map((detail) => ({ words, detail }));
  });
  return { documents, findings: [...findings, ...unused] };
};

const NO_METRIC = "no HPA has it as a metric (type Object)";
const isUnnamed = (raw: Json, used: readonly Json[]): boolean =>
  SCALING_SCHEDULES.has(String(raw["kind"])) && !used.includes(raw);

/** What is said of the ScalingSchedules of a cluster that no HPA names. */
export const unnamedSchedules = (
  timed: readonly Json[],
  used: readonly Json[],
): readonly { readonly raw: Json; readonly detail: Detail }[] =>
  timed
    .filter((raw) => isUnnamed(raw, used))
    .map((raw) => ({
      raw,
      detail: changed("its target", `${NO_METRIC}, so it is not carried over`),
    }));

const entriesFor = ({ entries, floors = [] }: Timed, autoscaler: Json): readonly Entry[] => [
  ...entries,
  ...floors.map((floor) => floorWithin(floor, ownBoundsOf(autoscaler))),
];

const isFor = ({ for: whom }: Timed, document: Json, count: number): boolean => {
  const { kind, name } = asObject(asObject(document["spec"])["scaleTargetRef"]);
  switch (whom.kind) {
    case "only one":
      return count === 1;
    case "autoscaler":
      return whom.namespace === writtenNamespace(document) && whom.name === writtenName(document);
    case "workload":
      return (
        whom.namespace === writtenNamespace(document) &&
        whom.workload === kind &&
        whom.name === name
      );
    case "namespace":
      return (
        whom.namespace === writtenNamespace(document) &&
        !whom.except.includes(`${String(kind)}/${String(name)}`)
      );
  }
};

const forText = ({ for: whom }: Timed): string => {
  switch (whom.kind) {
    case "only one":
      return "it names no workload of a cluster, and not exactly one autoscaler";
    case "autoscaler":
      return `no autoscaler "${whom.namespace}/${whom.name}"`;
    case "workload":
      return `no autoscaler of ${whom.workload} "${whom.namespace}/${whom.name}"`;
    case "namespace":
      return `no autoscaler of namespace "${whom.namespace}"`;
  }
};

/** What the timed objects of a cluster come to for its autoscalers. */
export interface ClusterSchedules {
  /** The entries for an autoscaler, and what of its schedule cannot be carried over. */
  readonly of: (autoscaler: Json) => {
    readonly entries: readonly Json[];
    readonly details: readonly Detail[];
  };
  /** The timed objects, with what is said of each. */
  readonly findings: (
    autoscalers: readonly Json[],
  ) => readonly { readonly raw: Json; readonly detail: Detail }[];
}

/**
 * The schedules of a cluster. What is lost of one is lost for each autoscaler that it is for:
 * without its schedule an autoscaler would decide otherwise than today.
 */
export const clusterSchedules = (timed: readonly Json[]): ClusterSchedules => {
  const read = timed.flatMap((raw) => {
    const one = timedOf(raw);
    return one ? [{ raw, one }] : [];
  });
  const isLost = ({ severity }: Detail): boolean => severity === "lost";
  return {
    of: (autoscaler) => {
      const own = read.filter(({ one }) => isFor(one, autoscaler, Number.POSITIVE_INFINITY));
      const lostOf = ({ raw, one }: (typeof own)[number]): readonly Detail[] =>
        one.details.filter(isLost).map((detail) => ({
          ...detail,
          of: `${String(raw["kind"])} "${writtenName(raw)}": ${detail.of ?? ""}`,
        }));
      return {
        entries: own.flatMap(({ one }) => entriesFor(one, autoscaler)),
        details: own.flatMap(lostOf),
      };
    },
    findings: (autoscalers) =>
      read.flatMap(({ raw, one }) => {
        const isMet = autoscalers.some((autoscaler) =>
          isFor(one, autoscaler, Number.POSITIVE_INFINITY),
        );
        const details = isMet
          ? one.details.filter((detail) => !isLost(detail))
          : [changed("its target", `${forText(one)} is there, so it is not carried over`)];
        return details.map((detail) => ({ raw, detail }));
      }),
  };
};

/** Two entries never have the same name. */
export const withEntries = (document: Json, entries: readonly Json[]): Json => {
  if (entries.length === 0) return document;
  const spec = asObject(document["spec"]);
  const all = [...asList(spec["schedule"]).map(asObject), ...entries];
  const named = all.map((entry, index) => {
    const before = all.slice(0, index).filter(({ name }) => name === entry["name"]).length;
    return before === 0 ? entry : { ...entry, name: `${String(entry["name"])}-again-${before}` };
  });
  return { ...document, spec: { ...spec, schedule: named } };
};
