import { dayText, LATEST_MS } from "../../model/time-text.ts";
import type { ChangeRecord, ScopeChangeRecord } from "../../model/changes.ts";
import { uidOfIntent } from "../../model/ids.ts";
import { isObject } from "../../model/json.ts";
import type { Override } from "../../model/override.ts";
import type { Calendar } from "../../model/schedule.ts";
import type { ChangeView, FieldChange } from "../../views/change.ts";
import { overrideFields } from "./holds-view.ts";
import { rfc3339 } from "../times.ts";
import { isDeepStrictEqual } from "node:util";

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

/** One document: the manifest, or the manifest with its pause and its overrides. */
const manifestOf = (text: string | undefined): unknown => {
  const document = parsed(text) as { readonly manifest?: unknown; readonly paused?: unknown; readonly overrides?: unknown } | undefined;
  if (typeof document?.manifest !== "string") return document;
  return { ...(JSON.parse(document.manifest) as object), ...setByPeople(document) };
};

/** What people set beside a manifest or on a cluster, as all documents show it. Overrides have their ids as names, so that each is compared with itself. */
const setByPeople = ({ paused, frozen, overrides }: { readonly paused?: unknown; readonly frozen?: unknown; readonly overrides?: unknown }) => ({
  ...(isObject(paused) && { paused: holdView(paused) }),
  ...(isObject(frozen) && { frozen: holdView(frozen) }),
  ...(Array.isArray(overrides) && { overrides: Object.fromEntries((overrides as readonly Override[]).map(overrideEntry)) }),
});

const overrideEntry = (override: Override) => {
  const { id, namespace } = override;
  return [id, { ...(namespace !== undefined && { namespace }), ...overrideFields(override) }] as const;
};

/** A pause or a freeze, whose times are stored in milliseconds, as all documents show it: with `at` and `until`. */
const holdView = ({ atMs, untilMs, ...rest }: Readonly<Record<string, unknown>>): object => ({
  ...rest,
  ...(typeof atMs === "number" && { at: rfc3339(atMs) }),
  ...(typeof untilMs === "number" && { until: rfc3339(Math.min(untilMs, LATEST_MS)) }),
});

/** Numbers that every edit changes are left out. */
const withoutCounters = (document: unknown): unknown => {
  if (!isObject(document)) return document;
  const { version: _version, removing: _removing, paused, frozen, overrides, calendars, ...rest } = document;
  return { ...rest, ...setByPeople({ paused, frozen, overrides }), ...(Array.isArray(calendars) && { calendars: datesByName(calendars) }) };
};

/** Each date is a field of its own, so that a change shows which dates came and went. */
const datesByName = (calendars: readonly Calendar[]): object =>
  Object.fromEntries(calendars.map(({ name, days }) => [name, Object.fromEntries(days.map((day) => [dayText(day), true]))]));

const sides = (before: unknown, after: unknown) => ({
  fields: before === undefined || after === undefined ? [] : fieldChanges(withOverrides(before, after), withOverrides(after, before)),
  ...(before !== undefined && { before }),
  ...(after !== undefined && { after }),
});

/** A change of the first or the last override is shown as this override, and not as the whole field. */
const withOverrides = (document: unknown, other: unknown): unknown =>
  isObject(document) && isObject(other) && "overrides" in other ? { overrides: {}, ...document } : document;

const generationOf = (id: string): number => Number(id.slice(id.lastIndexOf(":") + 1));

export const changeView = (change: ChangeRecord, made?: boolean): ChangeView => ({
  id: change.id,
  at: rfc3339(change.atMs),
  by: change.by,
  ...(change.grant !== undefined && { grant: change.grant }),
  scope: "autoscaler",
  cluster: change.cluster,
  namespace: change.namespace,
  name: change.name,
  verb: change.verb,
  generation: generationOf(change.id),
  ...(made !== undefined && { made }),
  ...sides(manifestOf(change.before), manifestOf(change.after)),
  ...(change.rival !== undefined && { rival: parsed(change.rival) }),
});

/** Scopes that are about no one cluster. */
const OF_THE_FLEET: ReadonlySet<ScopeChangeRecord["scope"]> = new Set(["fleet", "access", "source"]);

export const scopeChangeView = (change: ScopeChangeRecord): ChangeView => {
  const [before, after] = [withoutCounters(parsed(change.before)), withoutCounters(parsed(change.after))];
  return {
    id: change.id,
    at: rfc3339(change.atMs),
    by: change.by,
    ...(change.grant !== undefined && { grant: change.grant }),
    scope: change.scope,
    ...(OF_THE_FLEET.has(change.scope) ? {} : { cluster: change.name.split("/")[0] ?? change.name }),
    name: change.scope === "source" ? (nameIn(after) ?? nameIn(before) ?? change.name) : change.name,
    verb: change.verb,
    generation: change.version,
    ...sides(before, after),
  };
};

/** All sources have one list of changes, so that the name of the source is in its document. */
const nameIn = (document: unknown): string | undefined => (isObject(document) && typeof document["name"] === "string" ? document["name"] : undefined);

/**
 * Tells which edits of one autoscaler were made: each one whose generation another edit is based on, or that the stored record has now; a delete when the autoscaler does not exist and no edit
 * has a later generation. `undefined` when an edit has no base generation.
 */
export const madeOf = (
  change: ChangeRecord,
  all: readonly ChangeRecord[],
  now: { readonly uid: string; readonly generation: number } | undefined,
): boolean | undefined => {
  if (change.baseGeneration === undefined) return undefined;
  const uid = uidOfIntent(change.id);
  const bases = all.filter(({ id }) => uidOfIntent(id) === uid).map(({ baseGeneration = 0 }) => baseGeneration);
  if (change.verb === "delete") return now?.uid !== uid && bases.every((base) => base <= (change.baseGeneration ?? 0));
  const generation = generationOf(change.id);
  // It is stored before the other controller is brought to rest. Where that was refused, the change after it says so.
  if (all.some(({ verb, id, baseGeneration }) => verb === "takeover-failed" && baseGeneration === generation && uidOfIntent(id) === uid))
    return false;
  return bases.includes(generation) || (now?.uid === uid && now.generation === generation);
};

const sameShape = (one: unknown, other: unknown): boolean => (isObject(one) && isObject(other)) || (Array.isArray(one) && Array.isArray(other));

/** The fields in which two JSON documents differ, in their order, as deep as possible. */
export const fieldChanges = (before: unknown, after: unknown, path = ""): readonly FieldChange[] => {
  if (isDeepStrictEqual(before, after)) return [];
  if (!sameShape(before, after)) return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
  const [one, other] = [before as Readonly<Record<string, unknown>>, after as Readonly<Record<string, unknown>>];
  const below = (name: string): string => (Array.isArray(before) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`);
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) => fieldChanges(one[name], other[name], below(name)));
};
