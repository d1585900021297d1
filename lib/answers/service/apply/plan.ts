import { type Admitted, recommenderIn } from "../../../rules/manifest/admit.ts";
import { placeOfField } from "../../../rules/manifest/errors.ts";
import type { Metadata } from "../../../rules/manifest/form.ts";
import type { Validation, AutoscalerSpec } from "../../../rules/model/spec.ts";
import { mustAllow } from "../../../rules/model/access.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { type AutoscalerRef, autoscalerName, namespace } from "../../../rules/model/ids.ts";
import {
  isOfEarlierCluster,
  originIn,
  type AutoscalerRecord,
  type ClusterRecord,
} from "../../../rules/model/records.ts";
import type { Calendar } from "../../../rules/model/schedule.ts";
import {
  type AutoscalerItem,
  getAutoscaler,
  listAutoscalers,
} from "../../../stack/store/records/autoscalers.ts";
import { getFleet } from "../../../stack/store/records/clusters.ts";
import { refusedUrl } from "../../../stack/sync/observe/recommend.ts";
import type { Applied } from "../../views/autoscaler.ts";
import type { ServiceContext } from "../context.ts";
import { mustMatch, livesInCluster, readFromObject } from "../edits/edit-condition.ts";
import { mustRead } from "../find-autoscaler.ts";
import type { EditCondition } from "../service.ts";
import type { NewSource } from "../requests.ts";
import { type Checked, checkManifest, namespaceClash } from "./manifest-inputs.ts";
import { readableSpec } from "../stored-spec.ts";
import { sourceOutlook } from "./source-outlook.ts";
import {
  namesCalendar,
  rulesChange,
  type ScaleTarget,
  scheduleOutlook,
  sharedTargets,
} from "./warnings.ts";
import { present } from "../../../rules/model/json.ts";
import type { ManifestDocument } from "../../../rules/manifest/documents.ts";

/**
 * Most problem lines of one answer. Checking stops there, so that a hostile text cannot make an
 * answer of many megabytes.
 */
const LINES_MAX = 500;

/** A document that passed every check, with the record that it replaces. */
export interface Planned {
  readonly input: ManifestDocument;
  readonly old?: AutoscalerRecord;
  readonly applied: Applied;
  readonly aimed: ScaleTarget;
  readonly spec: AutoscalerSpec;
}

/** What every document is checked against. */
export interface ApplyTarget {
  readonly cluster: ClusterRecord;
  readonly validation: Validation;
  /** What must be stored for the document, if it is only one. */
  readonly onlyIf?: EditCondition;
}

/** The same with the calendars of the fleet, which are read only where a document names one. */
type Step = ApplyTarget & { readonly calendars: readonly Calendar[] };

type Refused = { readonly lines: readonly string[] };

/**
 * Checks every document against its rules and against the stored records, which are listed once per
 * namespace. Throws `manifest.invalid` with a line for every problem, and `service.changed`.
 */
export const planApply = async (
  context: ServiceContext,
  {
    wanted,
    pending,
    ...target
  }: ApplyTarget & { readonly wanted: string | undefined; readonly pending: readonly NewSource[] },
  all: readonly ManifestDocument[],
): Promise<readonly Planned[]> => {
  const { alone, lines } = checkEachAlone(target, all, wanted);
  const step: Step = { ...target, calendars: await calendarsFor(context, alone) };
  const { rights } = context;
  if (rights) for (const { ref } of alone) mustAllow(rights, "edit", ref);
  const stored = await storedIn(context, step.cluster, alone);
  const planned: Planned[] = [];
  const places = new Map<string, string>();
  for (const checked of alone) {
    const plan = planOf(context, step, checked, storedRecord(stored, step.cluster, checked.ref));
    if ("lines" in plan) lines.push(...plan.lines);
    else planned.push(plan);
    const twice = "lines" in plan ? undefined : duplicateLine(places, plan);
    if (twice !== undefined) lines.push(twice);
  }
  const outlook =
    lines.length > 0
      ? undefined
      : await sourceOutlook(context, { cluster: step.cluster, pending }, planned.map(askingOf));
  lines.push(...(outlook?.refused ?? []));
  if (lines.length > 0) throw new TidemarkError("manifest.invalid", lines.join("\n"), { lines });
  const seen = planned.map((plan) => withWarnings(plan, outlook?.warningsOf(askingOf(plan)) ?? []));
  return withSharedTargets(seen, [...stored.values()]);
};

const calendarsFor = async (
  { tables }: ServiceContext,
  alone: readonly CheckedInput[],
): Promise<readonly Calendar[]> =>
  alone.some(({ checked }) => namesCalendar(checked.admitted.spec))
    ? ((await getFleet(tables)).calendars ?? [])
    : [];

/** A document that is valid by itself. */
interface CheckedInput {
  readonly input: ManifestDocument;
  readonly ref: AutoscalerRef;
  readonly checked: Extract<Checked, { kind: "admitted" }>;
}

const checkEachAlone = (
  step: ApplyTarget,
  all: readonly ManifestDocument[],
  wanted: string | undefined,
): { readonly alone: readonly CheckedInput[]; readonly lines: string[] } => {
  const alone: CheckedInput[] = [];
  const lines: string[] = [];
  for (const [index, input] of all.entries()) {
    if (lines.length >= LINES_MAX) {
      lines.push(`Cannot check the other ${all.length - index} documents; correct these first`);
      break;
    }
    const checked = checkAlone(step, input);
    if ("lines" in checked) lines.push(...checked.lines);
    else alone.push(checked);
    const clash = namespaceClash(input, wanted);
    if (clash !== undefined) lines.push(clash);
  }
  return { alone, lines };
};

const checkAlone = (
  { cluster, validation }: ApplyTarget,
  input: ManifestDocument,
): CheckedInput | Refused => {
  const checked = checkManifest(input, undefined, {
    syncPeriodMs: cluster.syncPeriodMs,
    validation,
  });
  if (checked.kind === "refused") return { lines: checked.lines };
  const { metadata, stored } = checked.admitted;
  const elsewhere = livesInCluster(cluster, { kind: String(stored["kind"]), where: input.where });
  if (elsewhere !== undefined) return { lines: [elsewhere] };
  const refused = recommenderRefused(cluster, input, checked.admitted);
  if (refused !== undefined) return { lines: [refused] };
  return {
    input,
    ref: {
      cluster: cluster.name,
      namespace: namespace(metadata.namespace),
      name: autoscalerName(metadata.name),
    },
    checked,
  };
};

/** The recommender of a manifest whose host the cluster does not allow. */
const recommenderRefused = (
  cluster: ClusterRecord,
  input: ManifestDocument,
  admitted: Admitted,
): string | undefined => {
  const asked = recommenderIn(admitted);
  const why = asked && refusedUrl(cluster, asked.url);
  if (asked === undefined || why === undefined) return undefined;
  return `Cannot accept ${placeOfField(input, asked.field)}: ${asked.field} is not allowed: ${why}`;
};

type StoredItems = ReadonlyMap<string, AutoscalerItem>;

const pathOf = ({
  namespace: inside,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `${inside}/${name}`;

const storedIn = async (
  context: ServiceContext,
  { name }: ClusterRecord,
  alone: readonly CheckedInput[],
): Promise<StoredItems> => {
  const stored = new Map<string, AutoscalerItem>();
  for (const inside of new Set(alone.map(({ ref }) => ref.namespace))) {
    for await (const item of listAutoscalers(context.tables, name, inside))
      stored.set(pathOf(item.kind === "read" ? item.record : item), item);
  }
  return stored;
};

const storedRecord = (
  stored: StoredItems,
  { name }: ClusterRecord,
  ref: AutoscalerRef,
): AutoscalerRecord | undefined => {
  const item = stored.get(pathOf(ref));
  return item && mustRead(name, item);
};

/** Plans a document again after another editor has changed its record. */
export const replan = async (
  context: ServiceContext,
  target: ApplyTarget,
  input: ManifestDocument,
): Promise<Planned | Refused> => {
  const alone = checkAlone(target, input);
  if ("lines" in alone) return alone;
  const step: Step = { ...target, calendars: await calendarsFor(context, [alone]) };
  return planOf(context, step, alone, await getAutoscaler(context.tables, alone.ref));
};

const planOf = (
  context: ServiceContext,
  { cluster, validation, onlyIf, calendars }: Step,
  { input, ref, checked: alone }: CheckedInput,
  old: AutoscalerRecord | undefined,
): Planned | Refused => {
  mustMatch(onlyIf, ref, old);
  const object = old && originIn(cluster, old);
  if (object)
    return {
      lines: [
        `Cannot accept "${input.where}": ${readFromObject(ref, object)}; give this autoscaler another name`,
      ],
    };
  const checked = old
    ? checkManifest(input, old, { syncPeriodMs: cluster.syncPeriodMs, validation })
    : alone;
  if (checked.kind === "refused") return { lines: checked.lines };
  const { changed, relabelled, stored, spec } = checked.admitted;
  const outlook = scheduleOutlook(input, spec, { calendars, nowMs: context.clock() });
  if (outlook.refused.length > 0) return { lines: outlook.refused };
  // Labels decide nothing, and people choose autoscalers by them. A record of an earlier cluster is
  // written anew, because the apply that left it may still delete it (removal.ts).
  const outcome = !old
    ? "created"
    : changed || relabelled || isOfEarlierCluster(cluster, old)
      ? "configured"
      : "unchanged";
  const warnings = [
    ...checked.warnings,
    ...changedRules(input, old, spec),
    ...pastPause(input, spec, context.clock()),
    ...unreadMetrics(input, checked.admitted.metadata),
    ...outlook.warnings,
  ];
  const applied = present({
    ...ref,
    kind: String(stored["kind"]),
    outcome,
    uid: old?.uid,
    generation: old?.generation ?? 0,
    warnings,
  });
  return present({ input, old, applied, aimed: aimedAt(checked.admitted.metadata, spec), spec });
};

const askingOf = ({ input, applied, spec }: Planned) => ({
  input,
  namespace: namespace(applied.namespace),
  name: applied.name,
  spec,
  changes: applied.outcome !== "unchanged",
});

const withWarnings = (plan: Planned, warnings: readonly string[]): Planned =>
  warnings.length === 0
    ? plan
    : { ...plan, applied: { ...plan.applied, warnings: [...plan.applied.warnings, ...warnings] } };

const duplicateLine = (
  places: Map<string, string>,
  { input, applied }: Planned,
): string | undefined => {
  const path = `${applied.namespace}/${applied.name}`;
  const before = places.get(path);
  places.set(path, input.where);
  return before === undefined
    ? undefined
    : `Cannot accept "${input.where}": "${path}" is also in "${before}"; keep one of them`;
};

const withSharedTargets = (
  planned: readonly Planned[],
  stored: readonly AutoscalerItem[],
): readonly Planned[] => {
  const targets = planned.map(({ aimed }) => aimed);
  const warnings = sharedTargets(targets, stored);
  return planned.map((plan) => {
    const warning = warnings.get(plan.aimed);
    return withWarnings(plan, warning === undefined ? [] : [warning]);
  });
};

const aimedAt = (
  { namespace: inside, name }: Metadata,
  { target, dryRun = false }: AutoscalerSpec,
): ScaleTarget => ({
  namespace: inside,
  name,
  target,
  dryRun,
});

const changedRules = (
  { where }: ManifestDocument,
  old: AutoscalerRecord | undefined,
  spec: AutoscalerSpec,
): readonly string[] => {
  const before = old && readableSpec(old);
  const change = before && rulesChange(before, spec);
  return change === undefined ? [] : [`"${where}": ${change}`];
};

/**
 * Custom metrics of the first design were an annotation, which the HPA of today does not read
 * either.
 */
const CUSTOM_METRICS_ANNOTATION = /target\.custom-metrics\.podautoscaler/;

const unreadMetrics = (
  { where }: ManifestDocument,
  { annotations }: { readonly annotations: Readonly<Record<string, string>> },
): readonly string[] =>
  Object.keys(annotations)
    .filter((key) => CUSTOM_METRICS_ANNOTATION.test(key))
    .map(
      (key) =>
        `"${where}": metadata.annotations["${key}"] names custom metrics that are not read; write them as spec.metrics of autoscaling/v2, with type: Pods`,
    );

const pastPause = (
  input: ManifestDocument,
  { pausedUntilMs }: AutoscalerSpec,
  nowMs: number,
): readonly string[] =>
  pausedUntilMs === undefined || pausedUntilMs > nowMs
    ? []
    : [
        `${placeOfField(input, "spec.pausedUntil")}: spec.pausedUntil: the time has passed, so it has no effect; remove it, or write a later time`,
      ];
