import type { Namespace } from "../../model/ids.ts";
import type { ApiFailure } from "../../model/observation.ts";
import { type Found, groupOf, type KindPath } from "../discovery.ts";
import { list } from "../list.ts";
import { listPath } from "../paths.ts";
import type { Observed, Rival, Watched } from "../port.ts";
import { asList, asName, asObject, asText } from "../read/json.ts";
import type { JsonObject } from "../transport/transport.ts";
import type { WireKind } from "../wire/message.ts";
import { HPA_LIST } from "../wire/workloads.ts";
import type { LookedFor } from "./memory.ts";
import { type Scope, scopesFor } from "./scopes.ts";
import type { Observing } from "./workloads.ts";

/** A target whatever version names it. */
export const rivalKey = (namespace: string, target: { readonly apiVersion: string; readonly kind: string; readonly name: string }): string =>
  `${namespace}/${groupOf(target.apiVersion) ?? target.apiVersion}/${target.kind}/${target.name}`;

interface RivalKind {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  /** Only the API server's own kinds have one. */
  readonly protobuf?: WireKind;
  /** A version that is there for certain; else discovery tells whether the group is installed at all. */
  readonly version?: string;
  readonly target: (spec: JsonObject) => { readonly apiVersion: string; readonly kind: string; readonly name: string };
  /** Does not scale, whatever it says. */
  readonly idle?: (raw: JsonObject) => boolean;
}

const scaleTargetRef = (spec: JsonObject, otherwise = { apiVersion: "", kind: "" }): { apiVersion: string; kind: string; name: string } => {
  const ref = asObject(spec["scaleTargetRef"]);
  return { apiVersion: asText(ref["apiVersion"]) || otherwise.apiVersion, kind: asText(ref["kind"]) || otherwise.kind, name: asText(ref["name"]) };
};

const RIVAL_KINDS: readonly RivalKind[] = [
  {
    kind: "HorizontalPodAutoscaler",
    group: "autoscaling",
    version: "v2",
    plural: "horizontalpodautoscalers",
    protobuf: HPA_LIST,
    target: (spec) => scaleTargetRef(spec),
    // The hand of a ScaledObject, which is reported itself.
    idle: (raw) => asList(asObject(raw["metadata"])["ownerReferences"]).some((owner) => asObject(owner)["kind"] === "ScaledObject"),
  },
  {
    kind: "ScaledObject",
    group: "keda.sh",
    plural: "scaledobjects",
    target: (spec) => scaleTargetRef(spec, { apiVersion: "apps/v1", kind: "Deployment" }),
  },
  {
    kind: "WatermarkPodAutoscaler",
    group: "datadoghq.com",
    plural: "watermarkpodautoscalers",
    target: (spec) => scaleTargetRef(spec),
    idle: (raw) => asObject(raw["spec"])["dryRun"] === true,
  },
];

/** What is known of the other controllers of a target: those that were seen, and why there may be others. */
export type LookForRivals = (namespace: Namespace, target: Watched["spec"]["target"]) => Pick<Observed, "rivals" | "rivalsUnknown">;

/** Looks for other controllers in the cluster that scale a watched target. A LIST that fails is no empty list: where no earlier one showed the target, its rivals are not known. */
export const observeRivals = async (observing: Observing, watched: readonly Watched[]): Promise<LookForRivals> => {
  const targets = new Set(watched.map(({ namespace, spec }) => rivalKey(namespace, spec.target)));
  if (watched.length === 0) return () => ({ rivals: [] });
  const scopes = scopesFor(new Set(watched.map(({ namespace }) => namespace)), observing.limits);
  const looks = (await Promise.all(RIVAL_KINDS.map((rival) => lookForKind(observing, rival, { targets, scopes })))).flat();
  const byNamespace = Map.groupBy(looks, ({ scope }) => scope.namespace);
  return (namespace, target) => {
    const key = rivalKey(namespace, target);
    const inScope = [...(byNamespace.get(undefined) ?? []), ...(byNamespace.get(namespace) ?? [])];
    const unknown = inScope.find(({ problem, targets: known }) => problem !== undefined && !known.has(key))?.problem;
    return { rivals: inScope.flatMap(({ found }) => found.get(key) ?? []), ...(unknown !== undefined && { rivalsUnknown: unknown }) };
  };
};

/** What one LIST told, or the last one that was answered. */
interface Look extends LookedFor {
  readonly scope: Scope;
  /** Why it was not answered this time: only the targets of an earlier answer are known. */
  readonly problem?: string;
}

interface Place {
  readonly targets: ReadonlySet<string>;
  readonly scopes: readonly Scope[];
}

const NOWHERE: LookedFor = { targets: new Set(), found: new Map() };

const lookForKind = async (observing: Observing, rival: RivalKind, { targets, scopes }: Place): Promise<readonly Look[]> => {
  const version = await versionOf(observing, rival);
  if (version.kind === "failed") return scopes.map((scope) => ({ ...NOWHERE, scope, problem: problemOf(rival, version.failure) }));
  if (version.value === "") return [];
  const kind: KindPath = { base: `/apis/${rival.group}/${version.value}`, plural: rival.plural, resource: `${rival.plural}.${rival.group}` };
  return Promise.all(scopes.map((scope) => lookInScope(observing, rival, { kind, targets, scope })));
};

/** The version to ask for, "" where the group is not installed. What was found last counts while discovery fails; forbidden, it counts as not installed. */
const versionOf = async ({ line, budget, memory }: Observing, { group, version }: RivalKind): Promise<Found<string>> => {
  if (version !== undefined) return { kind: "found", value: version };
  const versions = await line.discovery.groupVersions(group, budget);
  if (versions.kind === "found") memory.rivalVersions.set(group, versions.value[0] ?? "");
  const known = memory.rivalVersions.get(group);
  if (known !== undefined) return { kind: "found", value: known };
  return versions.kind === "failed" && isRefusal(versions.failure) ? { kind: "found", value: "" } : (versions as Found<never>);
};

const isRefusal = ({ code }: ApiFailure): boolean => code === 403 || code === 404;

const problemOf = ({ kind }: RivalKind, { message }: ApiFailure): string => `no ${kind} could be looked for: ${message}`;

const lookInScope = async (
  { line, budget, memory }: Observing,
  rival: RivalKind,
  { kind, targets, scope }: { readonly kind: KindPath; readonly targets: ReadonlySet<string>; readonly scope: Scope },
): Promise<Look> => {
  const path = listPath(kind, scope.namespace);
  if (memory.listIsForbidden(path)) return { ...NOWHERE, scope };
  const listed = await list(
    line.transport,
    { path, resource: kind.resource, ...(rival.protobuf && { protobuf: rival.protobuf }), read: (raw) => rivalIn(raw, rival, targets) },
    budget,
  );
  if (listed.kind === "listed") {
    const found = new Map([...Map.groupBy(listed.items, ({ key }) => key)].map(([key, items]) => [key, items.map((item) => item.rival)]));
    memory.rivals.set(path, { targets, found });
    return { targets, found, scope };
  }
  // A passing failure: what was seen last still counts, and a target that no answer was ever about holds.
  if (!isRefusal(listed.failure)) return { ...(memory.rivals.get(path) ?? NOWHERE), scope, problem: problemOf(rival, listed.failure) };
  // Not allowed to look, or no such API: nothing is known and nothing is held back, but it is said. Holding would stop every cluster that grants no right to look.
  memory.forbid(path);
  if (listed.failure.code === 403)
    memory.once(`Cannot look for a ${rival.kind} on the same targets in cluster "${line.cluster}": ${listed.failure.message}`);
  return { ...NOWHERE, scope };
};

const rivalIn = (raw: JsonObject, rival: RivalKind, targets: ReadonlySet<string>): { readonly key: string; readonly rival: Rival } | undefined => {
  const metadata = asObject(raw["metadata"]);
  const key = rivalKey(asText(metadata["namespace"]), rival.target(asObject(raw["spec"])));
  return targets.has(key) && !rival.idle?.(raw) ? { key, rival: { kind: rival.kind, name: asName(metadata["name"]) } } : undefined;
};
