import type { AutoscalerUid, Namespace } from "../../model/ids.ts";
import type { Neighbour, ScaleRead } from "../../model/observation.ts";
import { type CustomQuery, type ExternalQuery, type Questions, queryKey } from "../../model/query.ts";
import type { Selector } from "../../model/selector.ts";
import { parseSelector } from "../../model/selector-text.ts";
import type { Watched } from "../port.ts";
import { type Scales, targetKey } from "./workloads.ts";

/** The queries for all autoscalers of one namespace, without duplicates. */
export interface NamespaceNeeds {
  readonly namespace: Namespace;
  readonly pods: boolean;
  /** The autoscalers whose decision does not depend on pods. */
  readonly withoutPods: ReadonlySet<AutoscalerUid>;
  readonly podMetrics: boolean;
  readonly custom: ReadonlyMap<string, CustomQuery>;
  readonly external: ReadonlyMap<string, ExternalQuery>;
  /** The autoscalers of the namespace with a selector of their last sync. Those in a dry run are left out, because they write nothing. */
  readonly neighbours: readonly Neighbour[];
}

/** With more neighbours than this the pods are listed without a check whether selectors can overlap. */
const MAX_NEIGHBOURS_COMPARED = 50;

/** The queries of each namespace that has an autoscaler. An autoscaler whose scale could not be read has none, because its decision ends there (hpa.md 2.4 step 1). */
export const needsOf = (watched: readonly Watched[], scales: Scales): readonly NamespaceNeeds[] =>
  [...Map.groupBy(watched, ({ namespace }) => namespace)].map(([namespace, group]) => {
    const neighbours = group.flatMap(({ name, selector, spec }) => (selector === undefined || spec.dryRun ? [] : [{ name, selector }]));
    const asking = group.flatMap((autoscaler) => {
      const scale = scales.get(targetKey({ namespace, target: autoscaler.spec.target }));
      return scale?.kind === "read" ? [{ autoscaler, scale, asks: autoscaler.questions(scale) }] : [];
    });
    const needPods = asking.filter(({ autoscaler, scale, asks }) => asks.pods || (asksAnything(asks) && mayOverlap(autoscaler, scale, neighbours)));
    const needing = new Set(needPods.map(({ autoscaler }) => autoscaler.uid));
    return {
      namespace,
      neighbours,
      withoutPods: new Set(asking.flatMap(({ autoscaler }) => (needing.has(autoscaler.uid) ? [] : [autoscaler.uid]))),
      podMetrics: asking.some(({ asks }) => asks.podMetrics),
      pods: needPods.length > 0,
      custom: new Map(asking.flatMap(({ asks }) => asks.custom.map((query) => [queryKey(query), query]))),
      external: new Map(asking.flatMap(({ asks }) => asks.external.map((query) => [queryKey(query), query]))),
    };
  });

const asksAnything = ({ pods, podMetrics, custom, external }: Questions): boolean => pods || podMetrics || custom.length + external.length > 0;

/** False only where no pod can match both selectors. Then the check of overlap (hpa.md 2.5 step 3) has the same result without pods. */
export const mayOverlap = (autoscaler: Pick<Watched, "name">, scale: Pick<ScaleRead, "selector">, neighbours: readonly Neighbour[]): boolean => {
  const others = neighbours.filter(({ name }) => name !== autoscaler.name);
  if (others.length > MAX_NEIGHBOURS_COMPARED) return true;
  const own = parsed(scale.selector);
  return others.some(({ selector }) => !exclude(own, parsed(selector)));
};

const parsed = (text: string): Selector => {
  const reading = parseSelector(text);
  return reading.kind === "selector" ? reading.selector : [];
};

/** True when both selectors require a value of the same label, and the values differ. */
const exclude = (one: Selector, other: Selector): boolean =>
  one.some(
    ({ key, operator, values }) =>
      operator === "=" && other.some((against) => against.operator === "=" && against.key === key && against.values[0] !== values[0]),
  );
