import type { TidemarkError } from "../../../rules/model/errors.ts";
import { LATEST_MS } from "../../../rules/model/time-text.ts";
import {
  BOUNDS_MS_MAX,
  MIN_FACTOR_MAX,
  NAMESPACE_OVERRIDES_MAX,
  NAMESPACES_OVERRIDES_MAX,
  OVERRIDE_REPLICAS_MAX,
  OVERRIDES_MAX,
  type Override,
  REASON_CHARACTERS_MAX,
  overridesOf,
  type ScopedOverride,
  type EffectiveBounds,
} from "../../../rules/model/override.ts";
import { isPrintable } from "../../../rules/model/foreign-text.ts";
import { rfc3339 } from "../times.ts";
import type { NewOverride } from "../requests.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../../rules/model/records.ts";
import { effectiveBounds } from "../../../rules/policy/bounds/effective-bounds.ts";
import { sourceText } from "../../../rules/policy/bounds/within-bounds.ts";
import { getFleet } from "../../../stack/store/records/clusters.ts";
import { CLUSTERS_AT_ONCE, eachInGroups } from "../../../stack/store/table/wait-for-all.ts";
import type { OverrideMeeting } from "../../views/holds.ts";
import { readableSpec } from "../stored-spec.ts";
import type { QueryContext } from "../context.ts";
import {
  clustersNamed,
  findAutoscaler,
  mustRead,
  optionalNamespace,
  visibleAutoscalers,
} from "../find-autoscaler.ts";
import { type OverridePlace, boundsView } from "../views/holds-view.ts";
import { invalid } from "../refusals.ts";
import { present } from "../../../rules/model/json.ts";

/** Every fault of a new override, each with what to do; empty where there is none. */
export const overrideFaults = (wanted: NewOverride, nowMs: number): readonly string[] => [
  ...setFaults(wanted),
  ...timeFaults(wanted, nowMs),
  ...reasonFaults(wanted.reason),
];

const setFaults = ({ hold, min, max, minFactor }: NewOverride): readonly string[] => {
  const bounds = [min, max, minFactor].filter((value) => value !== undefined);
  if (hold === undefined && bounds.length === 0)
    return ["it sets nothing: give min, max, minFactor or hold"];
  return [
    ...(hold === false
      ? ["hold is false: an override holds or it is absent; clear the one that holds"]
      : []),
    ...(hold !== undefined && bounds.length > 0
      ? ["it holds and sets bounds: give two overrides"]
      : []),
    ...(min !== undefined && minFactor !== undefined
      ? ["min and minFactor both set the minimum: give one of them"]
      : []),
    ...countFault("min", min),
    ...countFault("max", max),
    ...(min !== undefined && max !== undefined && min > max
      ? [`min is ${min}, above max, which is ${max}`]
      : []),
    ...(minFactor !== undefined && !(minFactor >= LEAST_FACTOR && minFactor <= MIN_FACTOR_MAX)
      ? [`minFactor is ${minFactor}: give a number from ${LEAST_FACTOR} to ${MIN_FACTOR_MAX}`]
      : []),
  ];
};

/** Stored in thousandths. */
const LEAST_FACTOR = 0.001;

/**
 * Zero is no bound: it would stop the workload for good, because no bound wakes a workload that was
 * stopped.
 */
const countFault = (field: string, value: number | undefined): readonly string[] =>
  value === undefined || (Number.isInteger(value) && value >= 1 && value <= OVERRIDE_REPLICAS_MAX)
    ? []
    : [`${field} is ${value}: give a whole number from 1 to ${OVERRIDE_REPLICAS_MAX}`];

const timeFaults = (
  { hold, fromMs, untilMs }: Pick<NewOverride, "hold" | "fromMs" | "untilMs">,
  nowMs: number,
): readonly string[] => {
  if (untilMs === undefined)
    return hold
      ? []
      : [
          "it has no end: give until, because bounds without an end are forgotten; only a hold may have none",
        ];
  return [
    ...endFaults({ hold: hold === true, untilMs }, nowMs),
    ...(fromMs !== undefined && fromMs >= untilMs
      ? [`it ends at ${rfc3339(untilMs)}, not after it begins at ${rfc3339(fromMs)}`]
      : []),
  ];
};

export const endFaults = (
  { hold, untilMs }: { readonly hold: boolean; readonly untilMs: number },
  nowMs: number,
): readonly string[] => {
  if (untilMs <= nowMs) return [`its end ${rfc3339(untilMs)} has passed: it is ${rfc3339(nowMs)}`];
  const latestMs = hold ? LATEST_MS : nowMs + BOUNDS_MS_MAX;
  if (untilMs > latestMs)
    return [
      `its end is later than ${rfc3339(latestMs)}${hold ? "" : ": bounds last at most 30 days; extend them later, or use a schedule"}`,
    ];
  return [];
};

const reasonFaults = (reason: string): readonly string[] => {
  if (reason.trim() === "") return ["the reason is empty: say why, for the people who meet it"];
  if (reason.length > REASON_CHARACTERS_MAX)
    return [`the reason has ${reason.length} characters: give at most ${REASON_CHARACTERS_MAX}`];
  return isPrintable(reason)
    ? []
    : ["the reason has characters that do not print, such as a line break: write it in one line"];
};

/**
 * Why the item has no room for another override, or undefined. `others` are without the new one and
 * without expired ones.
 */
export const roomFault = (
  others: readonly Override[],
  namespace: string | undefined,
): string | undefined => {
  const advice = "clear one that is not needed: tidemark override list";
  if (others.length >= OVERRIDES_MAX)
    return `it has ${others.length} overrides, the most that are stored; ${advice}`;
  if (namespace === undefined) return undefined;
  const own = others.filter((other) => other.namespace === namespace).length;
  if (own >= NAMESPACE_OVERRIDES_MAX)
    return `namespace "${namespace}" has ${own} overrides, the most that one namespace may have; ${advice}`;
  const ofNamespaces = others.filter((other) => other.namespace !== undefined).length;
  return ofNamespaces >= NAMESPACES_OVERRIDES_MAX
    ? `the namespaces of the cluster have ${ofNamespaces} overrides, the most that they may have together; ${advice}`
    : undefined;
};

export const invalidOverride = (action: string, faults: readonly string[]): TidemarkError =>
  invalid(`Cannot ${action}: ${faults.join("; ")}`, { faults });

/**
 * Autoscalers that are looked at before an override is set: enough for a namespace or a cluster. An
 * incident does not wait for a look at all of a large fleet.
 */
const LOOKS_MAX = 1_000;

/** What an override would do. */
export interface OverrideEffect {
  readonly meets: readonly OverrideMeeting[];
  /** True where more autoscalers are met than were looked at. */
  readonly more: boolean;
  readonly warnings: readonly string[];
}

/**
 * The bounds that each autoscaler of a place would get, at the instant when the override begins.
 * Throws `service.invalid` for a minimum of one autoscaler above its maximum; for a wider place the
 * maximum of such autoscalers follows, and a warning counts them.
 */
export const effectOf = async (
  context: QueryContext,
  place: OverridePlace,
  override: Override,
): Promise<OverrideEffect> => {
  const atMs = Math.max(context.clock(), override.fromMs);
  const scoped: ScopedOverride = { ...override, scope: place.scope };
  const fleet = await getFleet(context.tables);
  const { calendars = [] } = fleet;
  const seen: Seen[] = [];
  let more = false;
  for await (const { cluster, record } of metBy(context, place)) {
    if (seen.length >= LOOKS_MAX) {
      more = true;
      break;
    }
    const spec = readableSpec(record);
    if (!spec) continue;
    const before = overridesOf({ fleet, cluster, record });
    const boundsBy = (overrides: readonly ScopedOverride[]): EffectiveBounds =>
      effectiveBounds(spec, { overrides, calendars }, atMs);
    seen.push({ record, before: boundsBy(before), after: boundsBy([...before, scoped]) });
  }
  const crossed = seen.filter(
    ({ before, after }) => after.max.source.kind === "floor" && before.max.source.kind !== "floor",
  );
  // Also a minimum that has no effect now, because a forced cap goes before it: it would raise the
  // maximum when the cap ends.
  const above = seen.find(
    ({ before }) => override.set.max === undefined && (override.set.min ?? 0) > before.max.replicas,
  );
  const first = above ?? crossed[0];
  if (place.scope === "autoscaler" && first)
    throw crossedBounds(first, Math.max(override.set.min ?? 0, first.after.min.replicas));
  const warnings = [
    ...metNobody(seen, place),
    ...hidden(seen, override),
    ...follows(crossed),
    ...capped(seen, override),
    ...withoutEnd(override),
  ];
  return { meets: seen.map(meetingOf), more, warnings };
};

interface Seen {
  readonly record: AutoscalerRecord;
  readonly before: EffectiveBounds;
  readonly after: EffectiveBounds;
}

async function* metBy(
  context: QueryContext,
  { scope, cluster, namespace, name }: OverridePlace,
): AsyncGenerator<{ readonly cluster: ClusterRecord; readonly record: AutoscalerRecord }> {
  if (scope === "autoscaler") {
    yield await findAutoscaler(context, present({ name: name ?? "", cluster, namespace }));
    return;
  }
  const inside = optionalNamespace(namespace);
  const read = async (each: ClusterRecord) => ({
    each,
    items: await firstOf(visibleAutoscalers(context, each.name, inside), LOOKS_MAX + 1),
  });
  const clusters = await clustersNamed(context, cluster);
  let together = CLUSTERS_FIRST;
  for (let at = 0; at < clusters.length; ) {
    const group = clusters.slice(at, at + together);
    for await (const { each, items } of eachInGroups(group, together, read))
      for (const item of items) yield { cluster: each, record: mustRead(each.name, item) };
    at += group.length;
    together = Math.min(CLUSTERS_AT_ONCE, 2 * together);
  }
}

/**
 * Clusters that are read together first, with their manifests in memory; then twice as many. A few
 * large ones have all that is looked at.
 */
const CLUSTERS_FIRST = 4;

const firstOf = async <Item>(
  items: AsyncIterable<Item>,
  most: number,
): Promise<readonly Item[]> => {
  const first: Item[] = [];
  for await (const item of items) if (first.push(item) === most) break;
  return first;
};

const pathOf = ({ record: { cluster, namespace, name } }: Seen): string =>
  `"${cluster}/${namespace}/${name}"`;

const crossedBounds = ({ record, before }: Seen, min: number): Error =>
  invalidOverride(
    `set an override of "${record.namespace}/${record.name}" in cluster "${record.cluster}"`,
    [
      `minReplicas would be ${min}, above maxReplicas, which is ${before.max.replicas} ${sourceText(before.max.source)}; give a max too`,
    ],
  );

const meetingOf = ({
  record: { cluster, namespace, name },
  before,
  after,
}: Seen): OverrideMeeting => ({
  cluster,
  namespace,
  name,
  before: boundsView(before),
  after: boundsView(after),
});

const metNobody = (seen: readonly Seen[], { scope }: OverridePlace): readonly string[] =>
  seen.length === 0
    ? [`it meets no autoscaler now; it will meet each that is added to the ${scope} before it ends`]
    : [];

/** An override that another one goes before has no effect there. */
const hidden = (seen: readonly Seen[], { id, set }: Override): readonly string[] => {
  const fields = [
    ...(set.min === undefined && set.minFactorMilli === undefined ? [] : (["min"] as const)),
    ...(set.max === undefined ? [] : (["max"] as const)),
  ];
  return fields.flatMap((field) => {
    const behind = seen.filter(({ after }) => {
      const { source } = after[field];
      return source.kind === "override" && source.id !== id;
    });
    const [first] = behind;
    if (!first) return [];
    const { replicas, source } = first.after[field];
    return [
      `it does not set ${field}Replicas of ${countText(behind)}: another override goes before it, as for ${pathOf(first)}, where it is ${replicas} ${sourceText(source)}`,
    ];
  });
};

const follows = (crossed: readonly Seen[]): readonly string[] => {
  const [first] = crossed;
  if (!first) return [];
  return [
    `maxReplicas of ${countText(crossed)} is below the new minReplicas and follows it, as for ${pathOf(first)}: ${first.before.max.replicas} becomes ${first.after.min.replicas}`,
  ];
};

/** A cap goes before the floor of manifest and schedule, so that it holds in the morning too. */
const capped = (seen: readonly Seen[], { id }: Override): readonly string[] => {
  const under = seen.filter(
    ({ before, after: { min } }) =>
      min.replicas < before.min.replicas && min.source.kind === "override" && min.source.id === id,
  );
  const [first] = under;
  if (!first || first.after.min.replicas !== first.after.max.replicas) return [];
  return [
    `minReplicas of ${countText(under)} is above the new maxReplicas and follows it, as for ${pathOf(first)}: ${first.before.min.replicas} becomes ${first.after.min.replicas}`,
  ];
};

const countText = ({ length }: readonly Seen[]): string =>
  length === 1 ? "1 autoscaler" : `${length} autoscalers`;

const withoutEnd = ({ id, untilMs }: Override): readonly string[] =>
  untilMs === undefined
    ? [`it has no end: it holds until a person runs tidemark override clear ${id}`]
    : [];
