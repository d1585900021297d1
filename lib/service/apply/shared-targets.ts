import { namespace } from "../../model/ids.ts";
import type { TargetRef } from "../../model/spec-governed.ts";
import type { AutoscalerItem } from "../../store/records/autoscalers.ts";
import { workloadKey } from "../../sync/open-intents.ts";
import { storedSpec } from "./manifest-inputs.ts";

export interface ScaleTarget {
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** A dry run writes nothing, so it can share its workload. */
  readonly dryRun: boolean;
}

const keyOf = ({ namespace: inside, target }: ScaleTarget): string => workloadKey(namespace(inside), target);

/** Warns of autoscalers that share their workload with another stored or applied one: both would hold (lib/report/holds.ts). Dry runs do not count. `stored` has the records of their namespaces. */
export const sharedTargets = (applied: readonly ScaleTarget[], stored: readonly AutoscalerItem[]): ReadonlyMap<ScaleTarget, string> => {
  const writing = applied.filter(({ dryRun }) => !dryRun);
  const all = Map.groupBy([...storedBeside(applied, stored), ...writing], keyOf);
  const warned = writing.map((aimed) => [aimed, (all.get(keyOf(aimed)) ?? []).filter(({ name }) => name !== aimed.name)] as const);
  return new Map(warned.filter(([, others]) => others.length > 0).map(([aimed, others]) => [aimed, warningOf(aimed, others)]));
};

/** The stored autoscalers that are not being applied. */
const storedBeside = (applied: readonly ScaleTarget[], stored: readonly AutoscalerItem[]): readonly ScaleTarget[] => {
  const replaced = new Set(applied.map(pathOf));
  return stored.flatMap(aimedBy).filter((aimed) => !aimed.dryRun && !replaced.has(pathOf(aimed)));
};

const pathOf = (aimed: ScaleTarget): string => `${aimed.namespace}/${aimed.name}`;

/** A manifest that cannot be read has no known target. */
const aimedBy = (item: AutoscalerItem): readonly ScaleTarget[] => {
  if (item.kind === "unreadable") return [];
  const stored = storedSpec(item.record);
  if (stored.kind === "problem") return [];
  const { target, dryRun = false } = stored.spec;
  return [{ namespace: item.record.namespace, name: item.record.name, target, dryRun }];
};

/** Autoscalers that a warning names. Without a limit, a thousand with one target would name each other a million times. */
const NAMED_MAX = 5;

const warningOf = ({ namespace: inside, name, target }: ScaleTarget, others: readonly ScaleTarget[]): string => {
  const named = others.slice(0, NAMED_MAX).map((other) => `"${inside}/${other.name}"`);
  const more = others.length > NAMED_MAX ? [`${others.length - NAMED_MAX} more`] : [];
  return `${target.kind} "${target.name}" is also the target of ${[...named, ...more].join(", ")}: "${inside}/${name}" and they hold until only one of them has this target`;
};
