import type { Namespace } from "../../../rules/model/ids.ts";
import type { ApiFailure, ScaleReading } from "../../../rules/model/observation.ts";
import { asObject } from "../../../rules/model/json.ts";
import type { TargetRef } from "../../../rules/model/spec-common.ts";
import type { ObserveLimits, Watched } from "../cluster-client.ts";
import { isBuiltIn, type KindPath, listPath } from "../discovery.ts";
import { passedOverFailure } from "../list.ts";
import { readWorkloadScale, type ApiSession, readScaleAt, readTargetScale } from "../scale.ts";
import { LIST_WINS_FROM, PAGE_LIMIT } from "../request-limits.ts";
import type { CallBudget } from "../transport/budget.ts";
import { WORKLOAD_LISTS } from "../wire/objects.ts";
import type { NamespaceCalls } from "./namespace-calls.ts";
import { listScope, covers, type Scope, type ScopeRead, scopesFor } from "./scopes.ts";
import type { ClientMemory } from "./memory.ts";

/** The scales by `targetKey`. */
export type Scales = ReadonlyMap<string, ScaleReading>;

type KeyOfTarget = (namespace: string, target: TargetRef) => string;

/**
 * Keeps the key of each target for as long as the target itself. The specs of a warm environment
 * are the same objects in every sync, and each sync needs the keys of all of them several times: a
 * new text would have to be made, hashed and compared each time. Equal specs may share a target
 * over namespaces, so that the namespace is compared.
 */
export const keptKeys = (keyOf: KeyOfTarget): KeyOfTarget => {
  const kept = new WeakMap<TargetRef, { readonly namespace: string; readonly key: string }>();
  return (namespace, target) => {
    const known = kept.get(target);
    if (known?.namespace === namespace) return known.key;
    const key = keyOf(namespace, target);
    kept.set(target, { namespace, key });
    return key;
  };
};

export interface WatchedTarget {
  readonly namespace: Namespace;
  readonly target: TargetRef;
}

/**
 * Key of a target. Autoscalers of one target share its scale. The key has the version of apiVersion
 * as in the manifest, though it selects nothing.
 */
export const targetKey = ({ namespace, target }: WatchedTarget): string => keyOf(namespace, target);

const keyOf = keptKeys(
  (namespace, target) => `${namespace}/${target.apiVersion}/${target.kind}/${target.name}`,
);

export interface Observing {
  readonly session: ApiSession;
  readonly budget: CallBudget;
  readonly calls: NamespaceCalls;
  readonly limits: ObserveLimits;
  readonly memory: ClientMemory;
}

/**
 * Reads the scale of every watched target: by LISTs for built-in kinds where they are cheaper, by
 * GETs for the others. It ends when the LISTs are read. The GETs go on, each in the flow of its
 * namespace, and add their scales as they come.
 */
export const observeScales = async (
  observing: Observing,
  watched: readonly Watched[],
  scales: Map<string, ScaleReading>,
): Promise<void> => {
  const targets = new Map(
    watched.map(({ namespace, spec }) => [
      targetKey({ namespace, target: spec.target }),
      { namespace, target: spec.target },
    ]),
  );
  const listed: WatchedTarget[] = [];
  for (const target of targets.values()) {
    if (isBuiltIn(target.target)) listed.push(target);
    else
      getAlone(observing, target, scales, (budget) =>
        readTargetScale(observing.session, target.namespace, target.target, budget),
      );
  }
  const kinds = Map.groupBy(listed, ({ target }) => `${target.apiVersion} ${target.kind}`);
  await Promise.all([...kinds.values()].map((wanted) => observeKind(observing, wanted, scales)));
};

/** Asks for one scale. Nothing waits for it here: `NamespaceCalls` knows what is open. */
const getAlone = (
  { calls }: Pick<Observing, "calls">,
  target: WatchedTarget,
  scales: Map<string, ScaleReading>,
  get: (budget: CallBudget) => Promise<ScaleReading>,
): void => {
  calls.ask(target.namespace, async (budget) => {
    scales.set(targetKey(target), await get(budget));
  });
};

const observeKind = async (
  observing: Observing,
  wanted: readonly WatchedTarget[],
  scales: Map<string, ScaleReading>,
): Promise<void> => {
  const [first] = wanted;
  if (!first) return;
  const kind = await observing.session.discovery.kindPath(first.target, observing.budget);
  if (kind.kind === "failed") {
    for (const target of wanted) scales.set(targetKey(target), kind);
    return;
  }
  const heavy = observing.memory.heavy.of(listPath(kind.value));
  const scopes = scopesFor(
    new Set(wanted.map(({ namespace }) => namespace)),
    observing.limits,
    heavy,
  );
  const parts = scopes.map((scope) => ({
    kind: kind.value,
    scope,
    wanted: wanted.filter(({ namespace }) => covers(scope, namespace)),
  }));
  for (const part of parts) observeLate(observing, part, scales);
  await Promise.all(
    parts
      .filter(({ scope }) => !scope.isHeavy)
      .map((part) => observeScope(observing, part, scales)),
  );
};

/** Reads a heavy namespace after the others were decided. */
const observeLate = (observing: Observing, part: Part, scales: Map<string, ScaleReading>): void => {
  const { isHeavy, namespace } = part.scope;
  if (isHeavy && namespace !== undefined && part.wanted.length > 0)
    observing.calls.listLate(namespace, (budget) =>
      observeScope({ ...observing, budget }, part, scales),
    );
};

interface Part {
  readonly kind: KindPath;
  readonly scope: Scope;
  readonly wanted: readonly WatchedTarget[];
}

const observeScope = async (
  observing: Observing,
  part: Part,
  scales: Map<string, ScaleReading>,
): Promise<void> => {
  const { kind, scope } = part;
  const path = `${listPath(kind, scope.namespace)}`;
  if (
    observing.memory.refusedList(path) !== undefined ||
    !listWins(part.wanted.length, observing.memory.listedBefore(path))
  ) {
    getEach(observing, part, part.wanted, scales);
    return;
  }
  const { heavy, ...outcome } = await listWanted(observing, part);
  for (const each of heavy)
    observeLate(
      observing,
      {
        kind,
        scope: each,
        wanted: part.wanted.filter(({ namespace }) => namespace === each.namespace),
      },
      scales,
    );
  const wanted = part.wanted.filter(
    ({ namespace }) => !heavy.some((each) => each.namespace === namespace),
  );
  for (const [key, scale] of outcome.readings) scales.set(key, scale);
  const missing = wanted.filter((target) => !outcome.readings.has(targetKey(target)));
  if (outcome.kind === "failed" && outcome.failure.code === 403)
    observing.memory.refuseList(path, outcome.failure.message);
  const ask =
    outcome.kind === "incomplete" || (outcome.kind === "failed" && outcome.failure.code === 403);
  if (ask) {
    getEach(observing, part, missing, scales);
    return;
  }
  for (const target of missing)
    scales.set(targetKey(target), {
      kind: "failed",
      failure: outcome.kind === "failed" ? outcome.failure : notFound(kind, target),
    });
};

type Outcome = {
  readonly readings: ReadonlyMap<string, ScaleReading>;
  readonly heavy: ScopeRead<unknown>["heavy"];
} & (
  | { readonly kind: "complete" }
  /** GETs of the missing objects are cheaper than the rest of the LIST. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "failed"; readonly failure: ApiFailure }
);

const listWanted = async (
  observing: Observing,
  { kind, scope, wanted }: Part,
): Promise<Outcome> => {
  const keys = new Map(
    wanted.map((target) => [`${target.namespace}/${target.target.name}`, targetKey(target)]),
  );
  const readings = new Map<string, ScaleReading>();
  const path = listPath(kind, scope.namespace);
  let seen = 0;
  const { listed, heavy } = await listScope<{
    readonly name: string;
    readonly scale: ScaleReading;
  }>(
    observing,
    { whole: listPath(kind), scope },
    {
      path,
      resource: kind.resource,
      ...(WORKLOAD_LISTS[kind.resource] && { protobuf: WORKLOAD_LISTS[kind.resource] }),
      // The first page has no more objects than the GETs would cost. The estimate of the server
      // then decides whether the LIST goes on.
      firstLimit: Math.min(PAGE_LIMIT, Math.ceil(wanted.length / LIST_WINS_FROM)),
      begin: () => {
        seen = 0;
        readings.clear();
      },
      read: (raw) => {
        const metadata = asObject(raw["metadata"]);
        const name = `${metadata["namespace"]}/${metadata["name"]}`;
        return keys.has(name) ? { name, scale: readWorkloadScale(raw) } : undefined;
      },
      unchanged: {
        begin: () => observing.memory.unchanged.begin(path),
        isSame: ({ name }) => keys.has(name),
      },
      onPage: (scales, objects) => {
        seen += objects;
        for (const { name, scale } of scales) readings.set(keys.get(name) ?? "", scale);
      },
      enough: (remaining) =>
        readings.size === keys.size || !listWins(keys.size - readings.size, remaining),
    },
    observing.budget,
  );
  if (listed.kind === "failed") return { kind: "failed", failure: listed.failure, readings, heavy };
  for (const object of listed.passedOver) {
    const key = keys.get(`${object.namespace}/${object.name}`);
    if (key !== undefined)
      readings.set(key, { kind: "failed", failure: passedOverFailure(kind.resource, object) });
  }
  if (listed.remaining !== undefined) observing.memory.remember(path, seen + listed.remaining);
  return { kind: listed.complete ? "complete" : "incomplete", readings, heavy };
};

/**
 * True when a LIST is cheaper: each object of a LIST costs the server an eighth of a GET. While the
 * size is not known a LIST finds it out.
 */
const listWins = (wanted: number, objects: number | undefined): boolean =>
  objects === undefined || wanted >= objects * LIST_WINS_FROM;

const getEach = (
  observing: Observing,
  { kind }: Part,
  targets: readonly WatchedTarget[],
  scales: Map<string, ScaleReading>,
): void => {
  for (const wanted of targets) {
    const { namespace, target } = wanted;
    getAlone(observing, wanted, scales, (budget) =>
      readScaleAt(observing.session, { kind, namespace, name: target.name, target }, budget),
    );
  }
};

/** The Status that the server would have answered. */
const notFound = ({ resource }: KindPath, { target }: WatchedTarget): ApiFailure => ({
  code: 404,
  reason: "NotFound",
  message: `${resource} "${target.name}" not found`,
});
