import { groupOf } from "../../model/api-group.ts";
import type { Namespace } from "../../model/ids.ts";
import type { ApiFailure } from "../../model/observation.ts";
import type { Rival } from "../../model/rival-state.ts";
import type { Found, KindPath } from "../discovery.ts";
import { mapInTurns } from "../in-turns.ts";
import { list, passedOverFailure } from "../list.ts";
import { listPath } from "../paths.ts";
import type { Observed, Watched } from "../port.ts";
import { asObject, asText } from "../read/json.ts";
import { readRival } from "../read/rival-status.ts";
import type { JsonObject } from "../transport/transport.ts";
import { RIVAL_KINDS, type RivalKind } from "./rival-kinds.ts";
import type { LookedFor, Marks } from "./rival-memory.ts";
import { type Scope, scopesFor } from "./scopes.ts";
import { keptKeys } from "./target-keys.ts";
import { type Observing, type Scales, targetKey } from "./workloads.ts";

/** Key of a target, without the version of its API. */
export const rivalKey = (namespace: string, target: { readonly apiVersion: string; readonly kind: string; readonly name: string }): string =>
  `${namespace}/${groupOf(target.apiVersion) ?? target.apiVersion}/${target.kind}/${target.name}`;

const keyOfWatched = keptKeys(rivalKey);

/** The other controllers of a target: those that were found, and why there may be more. */
export type LookForRivals = (namespace: Namespace, target: Watched["spec"]["target"]) => Pick<Observed, "rivals" | "rivalsUnknown">;

/**
 * Looks for other controllers in the cluster that scale a watched target, where a new one is possible since the last LIST (rival-memory.ts). A failed LIST is not an empty one: where no
 * earlier LIST covered the target, its rivals are not known.
 */
export const observeRivals = async (observing: Observing, watched: readonly Watched[], scales: Scales): Promise<LookForRivals> => {
  const marks = new Map(
    await mapInTurns(watched, (autoscaler) => [keyOfWatched(autoscaler.namespace, autoscaler.spec.target), markOf(autoscaler, scales)] as const),
  );
  if (watched.length === 0) return () => ({ rivals: [] });
  const scopes = scopesFor(new Set(watched.map(({ namespace }) => namespace)), observing.limits);
  const looks = (await Promise.all(rivalKinds(observing).map((rival) => lookForKind(observing, rival, { marks, scopes })))).flat();
  const byNamespace = Map.groupBy(looks, ({ scope }) => scope.namespace);
  return (namespace, target) => {
    const key = keyOfWatched(namespace, target);
    const inScope = [...(byNamespace.get(undefined) ?? []), ...(byNamespace.get(namespace) ?? [])];
    const unknown =
      inScope.find(({ problem, targets: known }) => problem !== undefined && !known.has(key))?.problem ??
      inScope.find(({ unread }) => unread?.has(namespace))?.unread?.get(namespace);
    return { rivals: merged(inScope.flatMap(({ rivals }) => rivals.get(key) ?? [])), ...(unknown !== undefined && { rivalsUnknown: unknown }) };
  };
};

/** Objects that are autoscalers of this cluster are no rivals: where two have one target, both hold for that. */
const rivalKinds = ({ limits: { ownKinds = [] } }: Observing): readonly RivalKind[] => RIVAL_KINDS.filter(({ kind }) => !ownKinds.includes(kind));

/** The result of one LIST, or of the last one that was answered. */
interface Look extends LookedFor {
  readonly scope: Scope;
  /** Why it failed in this sync. Then only the targets of an earlier LIST are known. */
  readonly problem?: string;
  /** The namespaces with an object that could not be read, and why. It may scale any of their targets. */
  readonly unread?: ReadonlyMap<string, string>;
}

const markOf = ({ namespace, spec: { target } }: Watched, scales: Scales): string => {
  const scale = scales.get(targetKey({ namespace, target }));
  return scale?.kind === "read" ? `${scale.uid} ${scale.generation} ${scale.specReplicas}` : "unread";
};

interface Place {
  /** The keys of all watched targets. */
  readonly marks: Marks;
  readonly scopes: readonly Scope[];
}

const NOWHERE: LookedFor = { targets: new Set(), rivals: new Map() };

const lookForKind = async (observing: Observing, rival: RivalKind, { marks, scopes }: Place): Promise<readonly Look[]> => {
  const version = await versionOf(observing, rival);
  if (version.kind === "failed") return scopes.map((scope) => ({ ...NOWHERE, scope, problem: problemOf(rival, version.failure) }));
  if (version.value === "") return [];
  const kind: KindPath = { base: `/apis/${rival.group}/${version.value}`, plural: rival.plural, resource: `${rival.plural}.${rival.group}` };
  return Promise.all(scopes.map((scope) => lookInScope(observing, rival, { kind, marks, scope })));
};

/** The version of the API group; "" where the group is not installed. While discovery fails the last answer counts. A forbidden group counts as not installed. */
const versionOf = async ({ session, budget, memory }: Observing, { group, version }: RivalKind): Promise<Found<string>> => {
  if (version !== undefined) return { kind: "found", value: version };
  const versions = await session.discovery.groupVersions(group, budget);
  if (versions.kind === "found") memory.rivalVersions.set(group, versions.value[0] ?? "");
  const known = memory.rivalVersions.get(group);
  if (known !== undefined) return { kind: "found", value: known };
  return versions.kind === "failed" && isRefusal(versions.failure) ? { kind: "found", value: "" } : (versions as Found<never>);
};

const isRefusal = ({ code }: ApiFailure): boolean => code === 403 || code === 404;

const problemOf = ({ kind }: RivalKind, { message }: ApiFailure): string => `no ${kind} could be looked for: ${message}`;

const lookInScope = async (
  { session, budget, memory }: Observing,
  rival: RivalKind,
  { kind, marks, scope }: { readonly kind: KindPath; readonly marks: Marks; readonly scope: Scope },
): Promise<Look> => {
  const path = listPath(kind, scope.namespace);
  if (memory.listIsForbidden(path)) return { ...NOWHERE, scope };
  const known = memory.rivals.stillTrue(path, marks);
  if (known) return { ...known, scope };
  const listed = await list(
    session.transport,
    { path, resource: kind.resource, ...(rival.protobuf && { protobuf: rival.protobuf }), read: (raw) => rivalIn(raw, rival, marks) },
    budget,
  );
  if (listed.kind === "listed") {
    const rivals = new Map([...Map.groupBy(listed.items, ({ key }) => key)].map(([key, items]) => [key, items.map((item) => item.rival)]));
    const looked: LookedFor = { targets: new Set(marks.keys()), rivals };
    const unread = new Map(listed.passedOver.map((object) => [object.namespace, problemOf(rival, passedOverFailure(kind.resource, object))]));
    // The next sync looks again.
    if (unread.size > 0) return { ...looked, scope, unread };
    memory.rivals.keep(path, looked, marks);
    return { ...looked, scope };
  }
  // Fails to a hold: after a temporary failure the last LIST still counts, and a target that no LIST ever covered holds.
  if (!isRefusal(listed.failure)) return { ...withoutCounts(memory.rivals.last(path) ?? NOWHERE), scope, problem: problemOf(rival, listed.failure) };
  // Fails to no hold: without the right to list, or without the API, rivals are not searched, and a notice says so. A hold would stop every cluster that grants no such right.
  memory.forbid(path);
  if (listed.failure.code === 403)
    memory.once(`Cannot look for a ${rival.kind} on the same targets in cluster "${session.cluster}": ${listed.failure.message}`);
  return { ...NOWHERE, scope };
};

const rivalIn = (raw: JsonObject, rival: RivalKind, targets: Marks): { readonly key: string; readonly rival: Rival } | undefined => {
  const metadata = asObject(raw["metadata"]);
  const key = rivalKey(asText(metadata["namespace"]), rival.target(asObject(raw["spec"])));
  return targets.has(key) && !rival.idle?.(raw) ? { key, rival: readRival(raw, rival.kind) } : undefined;
};

/** One rival for a ScaledObject and for the HPA that it owns: the first has the uid, the other the counts. */
const merged = (rivals: readonly Rival[]): readonly Rival[] => {
  if (rivals.length < 2) return rivals;
  const byName = Map.groupBy(rivals, ({ kind, name }) => `${kind}/${name}`);
  return [...byName.values()].map(([first, ...more]) => Object.assign({}, first, ...more) as Rival);
};

/** The rivals of an earlier sync, without the counts of that time. */
const withoutCounts = ({ targets, rivals }: LookedFor): LookedFor => ({
  targets,
  rivals: new Map([...rivals].map(([key, known]) => [key, known.map(({ kind, name, uid }) => ({ kind, name, ...(uid !== undefined && { uid }) }))])),
});
