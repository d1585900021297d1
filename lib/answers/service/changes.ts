import type { ChangeRecord, ScopeChangeRecord } from "../../rules/model/changes.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import { autoscalerName, namespace, uidOfIntent } from "../../rules/model/ids.ts";
import type { AutoscalerRecord } from "../../rules/model/records.ts";
import { changesOf } from "../../stack/store/history/changes.ts";
import { type ChangeSearch, changesOfFleet } from "../../stack/store/history/fleet-changes.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../../stack/store/table/wait-for-all.ts";
import type { ChangeView, FieldChange } from "../views/change.ts";
import { type QueryContext, sees } from "./context.ts";
import { findAutoscaler, splitName } from "./find-autoscaler.ts";
import { everPartitions, pastClusters } from "./past-clusters.ts";
import type { AutoscalerQuery, ChangeCursor, ChangeQuery } from "./service.ts";
import { refuseEmptyRange, rfc3339 } from "./times.ts";
import { dayText, LATEST_MS } from "../../rules/model/time-text.ts";
import { isObject, present } from "../../rules/model/json.ts";
import type { Override } from "../../rules/model/override.ts";
import type { Calendar } from "../../rules/model/schedule.ts";
import { overrideFields } from "./views/holds-view.ts";
import { isDeepStrictEqual } from "node:util";

/**
 * Lists edits in order of time: of one autoscaler, each with whether it was made, or all of them,
 * including edits of deleted objects.
 */
export async function* changes(
  context: QueryContext,
  { name, sinceMs = 0, after, ...filter }: ChangeQuery,
): AsyncGenerator<ChangeView> {
  refuseEmptyRange("list the changes", { sinceMs }, context.clock());
  if (name === undefined) {
    yield* ofAll(context, filter, { sinceMs, after });
    return;
  }
  for await (const change of ofOne(context, { ...filter, name }))
    if (Date.parse(change.at) >= sinceMs && !wasTold(change, after)) yield change;
}

const wasTold = ({ at, id }: ChangeView, after: ChangeCursor | undefined): boolean => {
  const atMs = Date.parse(at);
  return after !== undefined && (atMs < after.atMs || (atMs === after.atMs && id <= after.id));
};

const inOrder = (one: ChangeView, other: ChangeView): number =>
  one.at === other.at ? (one.id < other.id ? -1 : 1) : one.at < other.at ? -1 : 1;

async function* ofOne(context: QueryContext, query: AutoscalerQuery): AsyncGenerator<ChangeView> {
  const { ref, record } = await placeOf(context, query);
  const all: readonly ChangeRecord[] = await Array.fromAsync(changesOf(context.tables, ref));
  if (!record && all.length === 0) await findAutoscaler(context, query);
  yield* all.map((change) => changeView(change, madeOf(change, all, record))).toSorted(inOrder);
}

/**
 * The ref of an existing or deleted autoscaler. A deleted one is found by its full name, or by
 * NAMESPACE/NAME when there is only one cluster.
 */
const placeOf = async (context: QueryContext, query: AutoscalerQuery) => {
  try {
    const { record } = await findAutoscaler(context, query);
    return { ref: record, record: record as AutoscalerRecord | undefined };
  } catch (error) {
    const wanted = splitName(query);
    const [cluster, ...more] =
      wanted.namespace === undefined
        ? []
        : await pastClusters(context, { cluster: wanted.cluster, sinceMs: 0 });
    if (!isTidemarkError(error, "service.unknown") || !cluster || more.length > 0) throw error;
    if (!sees(context, cluster.name, wanted.namespace)) throw error;
    return {
      ref: {
        cluster: cluster.name,
        namespace: namespace(wanted.namespace ?? ""),
        name: autoscalerName(wanted.name),
      },
      record: undefined,
    };
  }
};

async function* ofAll(
  context: QueryContext,
  filter: Pick<ChangeQuery, "cluster" | "namespace" | "removed">,
  place: Pick<ChangeSearch, "sinceMs" | "after">,
): AsyncGenerator<ChangeView> {
  const clusters = await pastClusters(context, { ...filter, sinceMs: place.sinceMs });
  const isAll = filter.namespace === undefined && filter.cluster === undefined && sees(context);
  // A change of a cluster shows its connection and all namespaces that its partitions name.
  const whole =
    filter.namespace === undefined ? clusters.filter(({ name }) => sees(context, name)) : [];
  const scopes = await mapWithLimit(whole, REQUESTS_AT_ONCE, async ({ name, partitions }) =>
    scopesOf(
      name,
      filter.removed ? await everPartitions(context, name) : partitions.map((one) => one.name),
    ),
  );
  const search: ChangeSearch = {
    ...place,
    clusters: clusters.map(({ name }) => name),
    scopes: [...(isAll ? FLEET_SCOPES : []), ...scopes.flat()],
  };
  for await (const change of changesOfFleet(context.tables, search)) {
    if ("scope" in change) yield scopeChangeView(change);
    else if (
      (filter.namespace === undefined || change.namespace === filter.namespace) &&
      sees(context, change.cluster, change.namespace)
    )
      yield changeView(change);
  }
}

type Scope = ChangeSearch["scopes"][number];

const FLEET_SCOPES: readonly Scope[] = [
  { scope: "fleet", name: "fleet" },
  { scope: "access", name: "access" },
  { scope: "source", name: "sources" },
];

const scopesOf = (name: string, partitions: readonly string[]): readonly Scope[] => [
  { scope: "cluster", name },
  ...partitions.map((partition) => ({
    scope: "partition" as const,
    name: `${name}/${partition}`,
  })),
];

const parsed = (text: string | undefined): unknown =>
  text === undefined ? undefined : JSON.parse(text);

/** One document: the manifest, or the manifest with its pause and its overrides. */
const manifestOf = (text: string | undefined): unknown => {
  const document = parsed(text) as
    | { readonly manifest?: unknown; readonly paused?: unknown; readonly overrides?: unknown }
    | undefined;
  if (typeof document?.manifest !== "string") return document;
  return { ...(JSON.parse(document.manifest) as object), ...setByPeople(document) };
};

/**
 * What people set beside a manifest or on a cluster, as all documents show it. Overrides have their
 * ids as names, so that each is compared with itself.
 */
const setByPeople = ({
  paused,
  frozen,
  overrides,
}: {
  readonly paused?: unknown;
  readonly frozen?: unknown;
  readonly overrides?: unknown;
}) => ({
  ...(isObject(paused) && { paused: holdView(paused) }),
  ...(isObject(frozen) && { frozen: holdView(frozen) }),
  ...(Array.isArray(overrides) && {
    overrides: Object.fromEntries((overrides as readonly Override[]).map(overrideEntry)),
  }),
});

const overrideEntry = (override: Override) =>
  [override.id, present({ namespace: override.namespace, ...overrideFields(override) })] as const;

/**
 * A pause or a freeze, whose times are stored in milliseconds, as all documents show it: with `at`
 * and `until`.
 */
const holdView = ({ atMs, untilMs, ...rest }: Readonly<Record<string, unknown>>): object => ({
  ...rest,
  ...(typeof atMs === "number" && { at: rfc3339(atMs) }),
  ...(typeof untilMs === "number" && { until: rfc3339(Math.min(untilMs, LATEST_MS)) }),
});

/** Numbers that every edit changes are left out. */
const withoutCounters = (document: unknown): unknown => {
  if (!isObject(document)) return document;
  const {
    version: _version,
    removing: _removing,
    paused,
    frozen,
    overrides,
    calendars,
    ...rest
  } = document;
  return {
    ...rest,
    ...setByPeople({ paused, frozen, overrides }),
    ...(Array.isArray(calendars) && { calendars: datesByName(calendars) }),
  };
};

/** Each date is a field of its own, so that a change shows which dates came and went. */
const datesByName = (calendars: readonly Calendar[]): object =>
  Object.fromEntries(
    calendars.map(({ name, days }) => [
      name,
      Object.fromEntries(days.map((day) => [dayText(day), true])),
    ]),
  );

const sides = (before: unknown, after: unknown) => {
  const fields =
    before === undefined || after === undefined
      ? []
      : fieldChanges(withOverrides(before, after), withOverrides(after, before));
  return present({ fields, before, after });
};

/**
 * A change of the first or the last override is shown as this override, and not as the whole field.
 */
const withOverrides = (document: unknown, other: unknown): unknown =>
  isObject(document) && isObject(other) && "overrides" in other
    ? { overrides: {}, ...document }
    : document;

const generationOf = (id: string): number => Number(id.slice(id.lastIndexOf(":") + 1));

/** One edit of an autoscaler. */
export const changeView = (
  {
    id,
    atMs,
    by,
    grant,
    cluster,
    namespace: inside,
    name,
    verb,
    before,
    after,
    rival,
  }: ChangeRecord,
  made?: boolean,
): ChangeView =>
  present({
    ...{
      id,
      at: rfc3339(atMs),
      by,
      grant,
      scope: "autoscaler",
      cluster,
      namespace: inside,
      name,
      verb,
      generation: generationOf(id),
      made,
    },
    ...sides(manifestOf(before), manifestOf(after)),
    rival: parsed(rival),
  });

/** Scopes that are about no one cluster. */
const OF_THE_FLEET: ReadonlySet<ScopeChangeRecord["scope"]> = new Set([
  "fleet",
  "access",
  "source",
]);

/** One edit of a cluster, its wakes, a partition or the fleet. */
export const scopeChangeView = (change: ScopeChangeRecord): ChangeView => {
  const [before, after] = [
    withoutCounters(parsed(change.before)),
    withoutCounters(parsed(change.after)),
  ];
  const { id, atMs, by, grant, scope, name, verb, version } = change;
  return present({
    ...{
      id,
      at: rfc3339(atMs),
      by,
      grant,
      scope,
      cluster: OF_THE_FLEET.has(scope) ? undefined : (name.split("/")[0] ?? name),
    },
    name: NAMED_INSIDE.has(scope) ? (nameIn(after) ?? nameIn(before) ?? name) : name,
    ...{ verb, generation: version, ...sides(before, after) },
  });
};

/** Scopes of many records, whose names are in their documents. */
const NAMED_INSIDE: ReadonlySet<ScopeChangeRecord["scope"]> = new Set(["source", "wake"]);

const nameIn = (document: unknown): string | undefined =>
  isObject(document) && typeof document["name"] === "string" ? document["name"] : undefined;

/**
 * Reports which edits of one autoscaler were made: each one whose generation another edit is based
 * on, or that the stored record has now; a delete when the autoscaler does not exist and no edit
 * has a later generation. `undefined` when an edit has no base generation.
 */
const madeOf = (
  change: ChangeRecord,
  all: readonly ChangeRecord[],
  now: { readonly uid: string; readonly generation: number } | undefined,
): boolean | undefined => {
  if (change.baseGeneration === undefined) return undefined;
  const uid = uidOfIntent(change.id);
  const bases = all
    .filter(({ id }) => uidOfIntent(id) === uid)
    .map(({ baseGeneration = 0 }) => baseGeneration);
  if (change.verb === "delete")
    return now?.uid !== uid && bases.every((base) => base <= (change.baseGeneration ?? 0));
  const generation = generationOf(change.id);
  // It is stored before the other controller is brought to rest. Where that was refused, the change
  // after it says so.
  if (
    all.some(
      ({ verb, id, baseGeneration }) =>
        verb === "takeover-failed" && baseGeneration === generation && uidOfIntent(id) === uid,
    )
  )
    return false;
  return bases.includes(generation) || (now?.uid === uid && now.generation === generation);
};

const sameShape = (one: unknown, other: unknown): boolean =>
  (isObject(one) && isObject(other)) || (Array.isArray(one) && Array.isArray(other));

/** The fields in which two JSON documents differ, in their order, as deep as possible. */
export const fieldChanges = (
  before: unknown,
  after: unknown,
  path = "",
): readonly FieldChange[] => {
  if (isDeepStrictEqual(before, after)) return [];
  if (!sameShape(before, after)) return [present({ path, before, after })];
  const [one, other] = [
    before as Readonly<Record<string, unknown>>,
    after as Readonly<Record<string, unknown>>,
  ];
  const below = (name: string): string =>
    Array.isArray(before) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
    fieldChanges(one[name], other[name], below(name)),
  );
};
