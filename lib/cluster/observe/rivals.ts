import type { Namespace } from "../../model/ids.ts";
import { groupOf, type KindPath } from "../discovery.ts";
import { list } from "../list.ts";
import { listPath } from "../paths.ts";
import type { Rival, Watched } from "../port.ts";
import { asList, asObject, asText } from "../read/json.ts";
import type { JsonObject } from "../transport/transport.ts";
import { type Scope, scopesFor } from "./scopes.ts";
import type { Observing } from "./workloads.ts";

/** Rivals by `rivalKey` of the target that they scale. */
export type Rivals = ReadonlyMap<string, readonly Rival[]>;

/** A target whatever version names it. */
export const rivalKey = (namespace: string, target: { readonly apiVersion: string; readonly kind: string; readonly name: string }): string =>
  `${namespace}/${groupOf(target.apiVersion) ?? target.apiVersion}/${target.kind}/${target.name}`;

interface RivalKind {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
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

/** Other controllers in the cluster that scale a watched target. */
export const observeRivals = async (observing: Observing, watched: readonly Watched[]): Promise<Rivals> => {
  if (watched.length === 0) return NONE;
  const wanted = new Set(watched.map(({ namespace, spec }) => rivalKey(namespace, spec.target)));
  const scopes = scopesFor(new Set(watched.map(({ namespace }) => namespace)), observing.limits);
  const parts = await Promise.all(RIVAL_KINDS.map((rival) => rivalsOfKind(observing, rival, { wanted, scopes })));
  const rivals = new Map<string, Rival[]>();
  for (const [key, found] of parts.flatMap((part) => part.flatMap((map) => [...map]))) rivals.set(key, [...(rivals.get(key) ?? []), ...found]);
  return rivals;
};

const rivalsOfKind = async (
  observing: Observing,
  rival: RivalKind,
  { wanted, scopes }: { readonly wanted: ReadonlySet<string>; readonly scopes: readonly Scope[] },
): Promise<readonly Rivals[]> => {
  const version = rival.version ?? (await servedVersion(observing, rival));
  if (version === undefined) return [];
  const kind: KindPath = { base: `/apis/${rival.group}/${version}`, plural: rival.plural, resource: `${rival.plural}.${rival.group}` };
  return Promise.all(
    scopes.map((scope) => listRivals(observing, rival, { kind, wanted, ...(scope.namespace !== undefined && { namespace: scope.namespace }) })),
  );
};

/** Undefined when the group is not installed, or nobody could say. */
const servedVersion = async ({ line, budget }: Observing, rival: RivalKind): Promise<string | undefined> => {
  const versions = await line.discovery.groupVersions(rival.group, budget);
  return versions.kind === "found" ? versions.value[0] : undefined;
};

const listRivals = async (
  { line, budget, memory }: Observing,
  rival: RivalKind,
  place: { readonly kind: KindPath; readonly wanted: ReadonlySet<string>; readonly namespace?: Namespace },
): Promise<Rivals> => {
  const { kind, wanted, namespace } = place;
  const path = listPath(kind, namespace);
  if (memory.listIsForbidden(path)) return NONE;
  const listed = await list(
    line.transport,
    {
      path,
      resource: kind.resource,
      read: (raw) => {
        const metadata = asObject(raw["metadata"]);
        const key = rivalKey(asText(metadata["namespace"]), rival.target(asObject(raw["spec"])));
        return wanted.has(key) && !rival.idle?.(raw) ? { key, rival: { kind: rival.kind, name: asText(metadata["name"]) } } : undefined;
      },
    },
    budget,
  );
  if (listed.kind === "listed") {
    const found = new Map([...Map.groupBy(listed.items, ({ key }) => key)].map(([key, items]) => [key, items.map((item) => item.rival)]));
    memory.rivals.set(path, found);
    return found;
  }
  // Not allowed to look, or no such API: nothing is known and nothing is held back, but it is said. A passing failure: what was seen last still counts.
  if (listed.failure.code !== 403 && listed.failure.code !== 404) return memory.rivals.get(path) ?? NONE;
  memory.forbid(path);
  if (listed.failure.code === 403)
    memory.once(`Cannot look for a ${rival.kind} on the same targets in cluster "${line.cluster}": ${listed.failure.message}`);
  return NONE;
};

const NONE: Rivals = new Map();
