import { groupOf } from "../../../rules/model/spec-common.ts";
import type { Namespace } from "../../../rules/model/ids.ts";
import type { ApiFailure, Rival, RivalLook } from "../../../rules/model/observation.ts";
import { asObject, asText, type Json } from "../../../rules/model/json.ts";
import type { Observed, Watched } from "../cluster-client.ts";
import { type Found, type KindPath, listPath } from "../discovery.ts";
import { passedOverFailure } from "../list.ts";
import { mapYielding } from "../map-yielding.ts";
import { readRival, RIVAL_KINDS, type RivalKind } from "./rival-kinds.ts";
import type { CallBudget } from "../transport/budget.ts";
import { lateLists, listScope, covers, type Scope, scopesFor } from "./scopes.ts";
import type { LookedFor, WriteMarks } from "./memory.ts";
import { keptKeys } from "./workloads.ts";
import { type Observing, type Scales, targetKey } from "./workloads.ts";
import { NOT_FOUND, FORBIDDEN } from "../../../rules/model/http-status.ts";

/** Key of a target, without the version of its API. */
export const rivalKey = (
  namespace: string,
  target: { readonly apiVersion: string; readonly kind: string; readonly name: string },
): string =>
  `${namespace}/${groupOf(target.apiVersion) ?? target.apiVersion}/${target.kind}/${target.name}`;

const keyOfWatched = keptKeys(rivalKey);

export interface Rivals {
  /**
   * The other controllers of a target: those that were found, how each LIST ended, and why there
   * may be more.
   */
  readonly of: (
    namespace: Namespace,
    target: Watched["spec"]["target"],
  ) => Pick<Observed, "rivals" | "looks" | "rivalsUnknown">;
  /** False where the namespace has LISTs of its own that are not read yet (scopes.ts). */
  readonly areRead: (namespace: Namespace) => boolean;
}

/**
 * Looks for other controllers in the cluster that scale a watched target, where a new one is
 * possible since the last LIST (memory.ts). A failed LIST is not an empty one: where no earlier
 * LIST covered the target, its rivals are not known. The LISTs of heavy namespaces are read after
 * all others were decided.
 */
export const observeRivals = async (
  observing: Observing,
  watched: readonly Watched[],
  scales: Scales,
): Promise<Rivals> => {
  const marks = new Map(
    await mapYielding(
      watched,
      (autoscaler) =>
        [
          keyOfWatched(autoscaler.namespace, autoscaler.spec.target),
          markOf(autoscaler, scales),
        ] as const,
    ),
  );
  if (watched.length === 0) return { of: () => ({ rivals: [] }), areRead: () => true };
  const looks: Look[] = [];
  const late = lateLists(observing.calls);
  const add = (look: Looked): void =>
    void looks.push({ ...look, withoutRivals: lookOf({ ...look, rivals: new Map() }, "") });
  const addLate: Place["addLate"] = (namespace, look) =>
    late.add(namespace, async (budget) => add(await look(budget)));
  const namespaces = new Set(watched.map(({ namespace }) => namespace));
  const looked = await Promise.all(
    rivalKinds(observing).map((rival) =>
      lookForKind(observing, rival, { marks, namespaces, addLate }),
    ),
  );
  for (const look of looked.flat()) add(look);
  const byNamespace = new Map<Namespace, readonly Look[]>();
  const looksOf = (namespace: Namespace): readonly Look[] => {
    const known =
      byNamespace.get(namespace) ?? looks.filter(({ scope }) => covers(scope, namespace));
    byNamespace.set(namespace, known);
    return known;
  };
  const plain = new Map<Namespace, ReturnType<Rivals["of"]>>();
  /**
   * Of a target beside which no LIST of its namespace shows anything: one value for all of them.
   */
  const plainOf = (namespace: Namespace, inScope: readonly Look[]): ReturnType<Rivals["of"]> => {
    const known = plain.get(namespace) ?? {
      rivals: [],
      looks: inScope.flatMap(({ withoutRivals }) => withoutRivals),
    };
    plain.set(namespace, known);
    return known;
  };
  const of: Rivals["of"] = (namespace, target) => {
    const key = keyOfWatched(namespace, target);
    const inScope = looksOf(namespace);
    const isPlain = inScope.every(
      ({ problem, passedOver, rivals }) =>
        problem === undefined && passedOver === undefined && !rivals.has(key),
    );
    if (isPlain) return plainOf(namespace, inScope);
    const unknown =
      inScope.find(({ problem, targets: known }) => problem !== undefined && !known.has(key))
        ?.problem ??
      inScope.find(({ passedOver }) => passedOver?.has(namespace))?.passedOver?.get(namespace);
    const rivals = merged(inScope.flatMap((look) => look.rivals.get(key) ?? []));
    return {
      rivals,
      // An object that could not be read may be one that an earlier LIST has shown.
      looks: inScope
        .filter(({ passedOver }) => !passedOver?.has(namespace))
        .flatMap((look) => (look.rivals.has(key) ? lookOf(look, key) : look.withoutRivals)),
      ...(unknown !== undefined && { rivalsUnknown: unknown }),
    };
  };
  return { of, areRead: late.areRead };
};

/**
 * Objects that are autoscalers of this cluster are no rivals: where two have one target, both hold
 * for that.
 */
const rivalKinds = ({ limits: { ownKinds = [] } }: Observing): readonly RivalKind[] =>
  RIVAL_KINDS.filter(({ kind }) => !ownKinds.includes(kind));

/** The result of one LIST, or of the last one that was answered. */
interface Look extends Looked {
  /** How it ended for a target without other controllers: one value for most targets. */
  readonly withoutRivals: readonly RivalLook[];
}

interface Looked extends LookedFor {
  readonly kind: string;
  readonly scope: Scope;
  /**
   * True for a LIST of an earlier sync that is not repeated in this one. It shows nothing new:
   * meanwhile another environment may have seen a controller.
   */
  readonly earlier?: boolean;
  /** Why it failed in this sync. Then only the targets of an earlier LIST are known. */
  readonly problem?: string;
  /**
   * The namespaces with an object that could not be read, and why. It may scale any of their
   * targets.
   */
  readonly passedOver?: ReadonlyMap<string, string>;
  /** It was answered by 403 or 404. `lost`: this client was answered there before. */
  readonly refused?: { readonly message: string; readonly lost: boolean };
}

const lookOf = (
  { kind, scope, problem, refused, rivals, earlier }: Looked,
  key: string,
): readonly RivalLook[] => {
  if (earlier) return [];
  if (refused)
    return [{ kind, outcome: "refused", everywhere: scope.namespace === undefined, ...refused }];
  return problem === undefined
    ? [{ kind, outcome: "answered", rivals: rivals.get(key) ?? [] }]
    : [];
};

const markOf = ({ namespace, spec: { target } }: Watched, scales: Scales): string => {
  const scale = scales.get(targetKey({ namespace, target }));
  return scale?.kind === "read"
    ? `${scale.uid} ${scale.generation} ${scale.specReplicas}`
    : "unread";
};

interface Place {
  /** The keys of all watched targets. */
  readonly marks: WriteMarks;
  readonly namespaces: ReadonlySet<Namespace>;
  /** Reads the LIST of a heavy namespace after all others were decided. */
  readonly addLate: (namespace: Namespace, look: (budget: CallBudget) => Promise<Looked>) => void;
}

const NOWHERE: LookedFor = { targets: new Set(), rivals: new Map() };

const lookForKind = async (
  observing: Observing,
  rival: RivalKind,
  { marks, namespaces, addLate }: Place,
): Promise<readonly Looked[]> => {
  const { limits, memory } = observing;
  const version = await versionOf(observing, rival);
  if (version.kind === "failed") {
    const { failure } = version;
    // The whole cluster answers for a group, whatever the scopes are.
    if (isRefusal(failure))
      return [
        {
          ...NOWHERE,
          kind: rival.kind,
          scope: {},
          refused: { message: failure.message, lost: false },
        },
      ];
    return scopesFor(namespaces, limits).map((scope) => ({
      ...NOWHERE,
      kind: rival.kind,
      scope,
      problem: problemOf(rival, failure),
    }));
  }
  const kind: KindPath = {
    base: `/apis/${rival.group}/${version.value}`,
    plural: rival.plural,
    resource: `${rival.plural}.${rival.group}`,
  };
  const scopes = scopesFor(namespaces, limits, memory.heavy.of(listPath(kind)));
  const looked = scopes.map(async (scope) => {
    const where: InScope = { kind, scope, marks: marksIn(scope, marks), addLate };
    const known = withoutList(observing, rival, where);
    if (known || !scope.isHeavy || scope.namespace === undefined)
      return known ?? lookInScope(observing, rival, where);
    addLate(scope.namespace, (budget) => lookInScope({ ...observing, budget }, rival, where));
    return undefined;
  });
  return (await Promise.all(looked)).filter((look) => look !== undefined);
};

/** The marks of the targets that a LIST covers: of the others it says nothing. */
const marksIn = (scope: Scope, marks: WriteMarks): WriteMarks =>
  scope.namespace === undefined && scope.without === undefined
    ? marks
    : new Map(
        [...marks].filter(([key]) => covers(scope, key.slice(0, key.indexOf("/")) as Namespace)),
      );

/**
 * The version of the API group, or a refusal where the group is not served. The last version that
 * was served counts also while discovery fails, or leaves out the group: an API server that starts
 * answers without the groups of its custom resources. The LIST then says whether the kind is there.
 */
const versionOf = async (
  observing: Observing,
  { kind, group, version, versions: having }: RivalKind,
): Promise<Found<string>> => {
  if (version !== undefined) return { kind: "found", value: version };
  const { session, budget, memory } = observing;
  const versions = await session.discovery.groupVersions(group, budget);
  const all = versions.kind === "found" ? versions.value : [];
  const served = having.find((of) => all.includes(of)) ?? all[0];
  if (served !== undefined) memory.rivalVersions.set(kind, served);
  else if (isKnownKind(observing, kind)) session.discovery.forget(group);
  const known = memory.rivalVersions.get(kind);
  if (known !== undefined) return { kind: "found", value: known };
  return versions.kind === "failed" ? versions : { kind: "failed", failure: notServed(group) };
};

const isRefusal = ({ code }: ApiFailure): boolean => code === FORBIDDEN || code === NOT_FOUND;
const notServed = (group: string): ApiFailure => ({
  code: NOT_FOUND,
  reason: "NotFound",
  message: `the API group "${group}" is not served`,
});
const isKnownKind = ({ limits: { knownRivalKinds } }: Observing, kind: string): boolean =>
  knownRivalKinds?.has(kind) === true;

const problemOf = ({ kind }: RivalKind, { message }: ApiFailure): string =>
  `no ${kind} could be looked for: ${message}`;

interface InScope {
  readonly kind: KindPath;
  readonly scope: Scope;
  readonly marks: WriteMarks;
  readonly addLate: Place["addLate"];
}

/** What is known where no LIST is needed in this sync. */
const withoutList = (
  observing: Observing,
  rival: RivalKind,
  { kind, marks, scope }: InScope,
): Looked | undefined => {
  const { memory } = observing;
  const path = listPath(kind, scope.namespace);
  const of = { kind: rival.kind, scope };
  const refusedBefore = memory.refusedList(path);
  if (refusedBefore !== undefined && !isKnownKind(observing, rival.kind))
    return { ...NOWHERE, ...of, refused: { message: refusedBefore, lost: false } };
  const known = memory.rivals.stillTrue(path, marks);
  return known && { ...known, ...of, earlier: true };
};

const lookInScope = async (
  observing: Observing,
  rival: RivalKind,
  where: InScope,
): Promise<Looked> => {
  const { session, budget, memory } = observing;
  const { kind, addLate } = where;
  const path = listPath(kind, where.scope.namespace);
  const { listed, scope, heavy } = await listScope(
    observing,
    { whole: listPath(kind), scope: where.scope },
    {
      path,
      resource: kind.resource,
      ...(rival.protobuf ? { protobuf: rival.protobuf } : { light: true }),
      read: (raw) => rivalIn(raw, rival, where.marks),
    },
    budget,
  );
  for (const each of heavy) {
    const own = { ...where, scope: each, marks: marksIn(each, where.marks) };
    if (own.marks.size > 0)
      addLate(each.namespace, (late) => lookInScope({ ...observing, budget: late }, rival, own));
  }
  const marks = heavy.length === 0 ? where.marks : marksIn(scope, where.marks);
  const of = { kind: rival.kind, scope };
  if (listed.kind === "listed") {
    const rivals = new Map(
      [...Map.groupBy(listed.items, ({ key }) => key)].map(([key, items]) => [
        key,
        items.map((item) => item.rival),
      ]),
    );
    const looked: LookedFor = { targets: new Set(marks.keys()), rivals };
    const passedOver = new Map(
      listed.passedOver.map((object) => [
        object.namespace,
        problemOf(rival, passedOverFailure(kind.resource, object)),
      ]),
    );
    // The next sync looks again.
    if (passedOver.size > 0) return { ...looked, ...of, passedOver };
    memory.rivals.keep(path, looked, marks);
    return { ...looked, ...of };
  }
  const last = memory.rivals.last(path);
  const before = withoutCounts(last ?? NOWHERE);
  const { failure } = listed;
  // On doubt, hold: after a temporary failure the last LIST still counts, and a target that no LIST
  // ever covered holds.
  if (!isRefusal(failure)) return { ...before, ...of, problem: problemOf(rival, failure) };
  // A sync holds where the LIST was answered before (lib/stack/sync/load/known-rivals.ts).
  // Elsewhere it does not: without the right to list, or without the API, rivals are not searched,
  // and a notice says so. A hold would stop every cluster that grants no such right.
  if (!last) memory.refuseList(path, failure.message);
  if (failure.code === FORBIDDEN)
    memory.once(
      `Cannot look for a ${rival.kind} on the same targets in cluster "${session.cluster}": ${failure.message}`,
    );
  return { ...before, ...of, refused: { message: failure.message, lost: last !== undefined } };
};

const rivalIn = (
  raw: Json,
  rival: RivalKind,
  targets: WriteMarks,
): { readonly key: string; readonly rival: Rival } | undefined => {
  const metadata = asObject(raw["metadata"]);
  const key = rivalKey(asText(metadata["namespace"]), rival.target(asObject(raw["spec"])));
  return targets.has(key) && !rival.idle?.(raw)
    ? { key, rival: readRival(raw, rival.kind) }
    : undefined;
};

/**
 * One rival for a ScaledObject and for the HPA that it owns: the first has the uid, the other the
 * counts.
 */
const merged = (rivals: readonly Rival[]): readonly Rival[] => {
  if (rivals.length < 2) return rivals;
  const byName = Map.groupBy(rivals, ({ kind, name }) => `${kind}/${name}`);
  return [...byName.values()].map(([first, ...more]) => Object.assign({}, first, ...more) as Rival);
};

/** The rivals of an earlier sync, without the counts of that time. */
const withoutCounts = ({ targets, rivals }: LookedFor): LookedFor => ({
  targets,
  rivals: new Map(
    [...rivals].map(([key, known]) => [
      key,
      known.map(({ kind, name, uid }) => ({ kind, name, ...(uid !== undefined && { uid }) })),
    ]),
  ),
});
