import { namespace } from "../../model/ids.ts";
import type { TargetRef } from "../../model/spec-governed.ts";
import type { AutoscalerItem } from "../../store/records/autoscalers.ts";
import { workloadKey } from "../../sync/open-intents.ts";
import { storedSpec } from "./manifest-inputs.ts";

export interface ScaleTarget {
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** It writes nothing, so it shares its workload with any other. */
  readonly dryRun: boolean;
}

const keyOf = ({ namespace: inside, target }: ScaleTarget): string => workloadKey(namespace(inside), target);

/** Warnings for autoscalers whose workload another one scales too, stored or applied with them: both would hold (lib/report/holds.ts). A dry run is neither. `stored` is what their namespaces hold. */
export const sharedTargets = (applied: readonly ScaleTarget[], stored: readonly AutoscalerItem[]): ReadonlyMap<ScaleTarget, string> => {
  const writing = applied.filter(({ dryRun }) => !dryRun);
  const all = Map.groupBy([...storedBeside(applied, stored), ...writing], keyOf);
  const warned = writing.map((aimed) => [aimed, (all.get(keyOf(aimed)) ?? []).filter(({ name }) => name !== aimed.name)] as const);
  return new Map(warned.filter(([, others]) => others.length > 0).map(([aimed, others]) => [aimed, warningOf(aimed, others)]));
};

/** What the namespaces of the applied hold besides them. */
const storedBeside = (applied: readonly ScaleTarget[], stored: readonly AutoscalerItem[]): readonly ScaleTarget[] => {
  const replaced = new Set(applied.map(pathOf));
  return stored.flatMap(aimedBy).filter((aimed) => !aimed.dryRun && !replaced.has(pathOf(aimed)));
};

const pathOf = (aimed: ScaleTarget): string => `${aimed.namespace}/${aimed.name}`;

/** A manifest that is not understood aims at nothing. */
const aimedBy = (item: AutoscalerItem): readonly ScaleTarget[] => {
  if (item.kind === "unreadable") return [];
  const stored = storedSpec(item.record);
  if (stored.kind === "problem") return [];
  const { target, dryRun = false } = stored.spec;
  return [{ namespace: item.record.namespace, name: item.record.name, target, dryRun }];
};

/** Autoscalers that a warning names; a thousand with one target would otherwise name each other a million times. */
const NAMED_MAX = 5;

const warningOf = ({ namespace: inside, name, target }: ScaleTarget, others: readonly ScaleTarget[]): string => {
  const named = others.slice(0, NAMED_MAX).map((other) => `"${inside}/${other.name}"`);
  const more = others.length > NAMED_MAX ? [`${others.length - NAMED_MAX} more`] : [];
  return `${target.kind} "${target.name}" is also the target of ${[...named, ...more].join(", ")}: "${inside}/${name}" and they hold until one is left`;
};
