import type { Namespace } from "../../../rules/model/ids.ts";
import {
  isObject,
  asCount,
  asList,
  asName,
  asObject,
  asText,
  type Json,
  readTime,
} from "../../../rules/model/json.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import type { SpecKind } from "../../../rules/model/spec.ts";
import { type KindPath, listPath } from "../discovery.ts";
import { fieldManagerOf, isOfTidemark, type ApiSession } from "../scale.ts";
import { passedOverFailure } from "../list.ts";
import { listScope, covers, type Scope } from "../observe/scopes.ts";
import type { ClientMemory } from "../observe/memory.ts";
import { MAX_OBSERVE_BYTES, MAX_OBSERVE_CALLS } from "../request-limits.ts";
import { type CallBudget, callBudget } from "../transport/budget.ts";
import type {
  ListedSpecs,
  SeenObject,
  SpecListing,
  SpecObject,
  SpecRequest,
} from "../cluster-client.ts";
import { NOT_FOUND } from "../../../rules/model/http-status.ts";

/**
 * Lists the objects that hold specs: one LIST for each kind, or for each kind and namespace. Each
 * goes to the store of the API server (no resourceVersion), so that no answer is older than its
 * call. A kind that is not installed (404) is a failure like any other, because it is no proof that
 * its objects were deleted. The namespaces that were much heavier than the others in the last sync
 * have LISTs of their own, which come last: where their time does not suffice, only their objects
 * hold.
 */
export const listSpecs = async (
  {
    session,
    memory,
  }: { readonly session: ApiSession; readonly memory: Pick<ClientMemory, "heavy"> },
  cluster: Partial<Pick<ClusterRecord, "uid">>,
  request: SpecRequest,
): Promise<ListedSpecs> => {
  const { elapsed } = session;
  const budget = callBudget({
    budgetMs: request.budgetMs,
    maxCalls: MAX_OBSERVE_CALLS,
    maxBytes: MAX_OBSERVE_BYTES,
    elapsed,
  });
  const wanted = request.kinds.flatMap((kind) =>
    scopesOf(request, memory.heavy.of(listPath(kindPath(kind)))).map((scope) => ({ kind, scope })),
  );
  const heavy = wanted.filter(({ scope }) => scope.isHeavy);
  const read = (scopes: typeof wanted): Promise<readonly SpecListing[]> =>
    Promise.all(
      scopes.map((of) =>
        listKind({ session, memory }, budget, {
          ...of,
          cluster,
          request,
          leaveOut: (scope) => heavy.push({ kind: of.kind, scope }),
        }),
      ),
    );
  const light = await read(wanted.filter(({ scope }) => !scope.isHeavy));
  return { listings: [...light, ...(await read([...heavy]))], ...budget.spent() };
};

/**
 * Any namespace may get its first object at any time. So the LIST of the whole cluster leaves out
 * the heavy namespaces only, and each of them is read.
 */
const scopesOf = ({ namespaces }: SpecRequest, heavy: ReadonlySet<Namespace>): readonly Scope[] =>
  namespaces === "all"
    ? [
        heavy.size > 0 ? { without: heavy } : {},
        ...[...heavy].map((namespace): Scope => ({ namespace, isHeavy: true })),
      ]
    : namespaces.map((namespace) => ({ namespace }));

const kindPath = ({ group, version, plural }: SpecKind): KindPath => ({
  base: `/apis/${group}/${version}`,
  plural,
  resource: `${plural}.${group}`,
});

const listKind = async (
  observing: { readonly session: ApiSession; readonly memory: Pick<ClientMemory, "heavy"> },
  budget: CallBudget,
  of: Pick<SpecListing, "kind"> & {
    readonly scope: Scope;
    readonly cluster: Partial<Pick<ClusterRecord, "uid">>;
    readonly request: SpecRequest;
    /** Gets a heavy namespace that the LIST has left out. */
    readonly leaveOut: (scope: Scope) => void;
  },
): Promise<SpecListing> => {
  const { kind, cluster, request } = of;
  const { namespace } = of.scope;
  const where = kindPath(kind);
  const { resource } = where;
  const as = { ...kind, cluster, knownVersion: request.knownVersion };
  const { listed, scope, heavy } = await listScope<SpecObject>(
    observing,
    { whole: listPath(where), scope: of.scope },
    { path: listPath(where, namespace), resource, read: (raw) => specObject(raw, as) },
    budget,
  );
  for (const each of heavy) of.leaveOut(each);
  const { without } = scope;
  // A server that knows no field selector gives the objects of all namespaces. Objects of a
  // heavy one are in the LIST of their namespace, and twice they would be two objects of one name.
  const isCovered = (object: { readonly namespace: string }): boolean =>
    covers(scope, object.namespace as Namespace);
  const outcome =
    listed.kind === "failed"
      ? withFix(listed, kind)
      : ({
          kind: "listed",
          objects: listed.items.filter(isCovered),
          ...(listed.passedOver.some(isCovered) && {
            unread: listed.passedOver.filter(isCovered).map((object) => ({
              ...object,
              message: passedOverFailure(resource, object).message,
            })),
          }),
        } as const);
  return {
    kind,
    ...(namespace !== undefined && { namespace }),
    ...(without && { without }),
    outcome,
  };
};

/** A kind that is not installed: its definition was deleted, and its objects with it. */
const withFix = (
  failed: Extract<SpecListing["outcome"], { kind: "failed" }>,
  { kind }: SpecKind,
): typeof failed =>
  failed.failure.code === NOT_FOUND && kind === OWN_KIND
    ? {
        ...failed,
        failure: {
          ...failed.failure,
          message: `${failed.failure.message}; the definition of the kind is not there: apply it (tidemark crd | kubectl apply -f -) and the objects again, or read the autoscalers from the table (tidemark cluster add NAME --replace --specs table)`,
        },
      }
    : failed;

const STATUS = "status";

const OWN_KIND = "PodAutoscaler";

interface ReadAs extends Pick<SpecKind, "annotations"> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly cluster: Partial<Pick<ClusterRecord, "uid">>;
  /** The resourceVersion of the object with this uid whose manifest the caller has. */
  readonly knownVersion: (uid: string) => string | undefined;
}

/**
 * Reads one object of a LIST; undefined for one that no API server gives: without name, namespace,
 * uid or version.
 */
export const specObject = (raw: Json, as: ReadAs): SpecObject | undefined => {
  const metadata = asObject(raw["metadata"]);
  const [namespace, name, uid, resourceVersion] = [
    "namespace",
    "name",
    "uid",
    "resourceVersion",
  ].map((field) => asText(metadata[field]));
  if (!namespace || !name || !uid || !resourceVersion) return undefined;
  const writers = asList(metadata["managedFields"]).map(asObject);
  const changedBy = managerOf(
    newest(writers.filter(({ subresource }) => asText(subresource) === "")),
  );
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation: asCount(metadata["generation"]) ?? 0,
    deleting: asText(metadata["deletionTimestamp"]) !== "",
    ...(isObject(raw[STATUS]) && { status: raw[STATUS] }),
    ...(changedBy !== undefined && { changedBy }),
    ...statusWriter(writers, as),
    ...statusEdit(writers, as),
    ...(as.knownVersion(uid) === resourceVersion ? {} : { manifest: manifestOf(raw, as) }),
  };
};

/**
 * Who wrote the status beside us. A WatermarkPodAutoscaler has a controller of its own, which may
 * be at work; of our own kind only another Tidemark scales: a person, a backup or a restore that
 * writes its status does not.
 */
const statusWriter = (
  writers: readonly Json[],
  { kind, cluster }: Pick<ReadAs, "kind" | "cluster">,
): Pick<SeenObject, "statusBy"> => {
  const own = fieldManagerOf(cluster);
  const statusBy = newestOfStatus(
    writers,
    (manager) => manager !== own && (kind !== OWN_KIND || isOfTidemark(manager)),
  );
  return statusBy ? { statusBy } : {};
};

/** Of our own kind: who else wrote the status, which the next write-back makes right. */
const statusEdit = (
  writers: readonly Json[],
  { kind }: Pick<ReadAs, "kind">,
): Pick<SpecObject, "statusEdit"> => {
  const edit =
    kind === OWN_KIND ? newestOfStatus(writers, (manager) => !isOfTidemark(manager)) : undefined;
  return edit ? { statusEdit: edit } : {};
};

const newestOfStatus = (
  writers: readonly Json[],
  isWanted: (manager: string) => boolean,
): SeenObject["statusBy"] | undefined => {
  const writer = newest(
    writers.filter(
      (entry) => entry["subresource"] === STATUS && isWanted(asText(entry["manager"])),
    ),
  );
  const [manager, atMs] = [managerOf(writer), writer && readTime(writer["time"])];
  return manager === undefined || atMs === undefined ? undefined : { manager, atMs };
};

/**
 * The entry with the latest time. RFC 3339 times of an API server are in UTC and whole seconds, so
 * that they sort as text.
 */
const newest = (entries: readonly Json[]): Json | undefined =>
  entries.toSorted((a, b) => (asText(a["time"]) < asText(b["time"]) ? 1 : -1))[0];

const managerOf = (entry: Json | undefined): string | undefined =>
  entry === undefined ? undefined : asName(entry["manager"]) || undefined;

/**
 * What rules or people read of an object: people choose by labels, and the rules of its kind read a
 * few annotations. So 250 KB of foreign annotations are never stored, and an edit of them is no
 * edit here. The keys stay in the order of the answer, which an API server sorts. So equal objects
 * give equal texts.
 */
const manifestOf = (raw: Json, { apiVersion, kind, annotations: read }: ReadAs): string => {
  const { name, namespace, labels, annotations } = asObject(raw["metadata"]);
  const kept = Object.entries(asObject(annotations)).filter(([key]) => read.includes(key));
  const metadata = {
    name,
    namespace,
    ...(labels !== undefined && { labels }),
    ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
  };
  return JSON.stringify({ apiVersion, kind, metadata, spec: raw["spec"] });
};
