import type {
  ListedSpecs,
  SpecListing,
  SpecObject,
  SpecRequest,
} from "../../../lib/stack/cluster/cluster-client.ts";
import type { ApiFailure } from "../../../lib/rules/model/observation.ts";
import type { SpecKindName } from "../../../lib/rules/model/spec.ts";
import type { ClusterObject, ObjectStore } from "./object-store.ts";

/** How the LISTs of one sync are answered. */
export interface Listing {
  /** Kinds whose LIST fails while the other answers. */
  readonly failing: ReadonlySet<SpecKindName>;
  /** How old the answer is. */
  readonly staleMs: number;
}

/** An answer is old by this at most. An API server gives none; a proxy may. */
export const STALE_MAX_MS = 40_000;

const UNREADABLE: ApiFailure = {
  code: 500,
  reason: "InternalError",
  message: "the kind could not be read",
};

/** What the LISTs of a request find, all of it at one instant. */
export const listNow = (
  store: ObjectStore,
  request: SpecRequest,
  nowMs: number,
  { failing, staleMs }: Listing,
): ListedSpecs => {
  const objects = store.at(nowMs - staleMs);
  const outcomeOf = ({
    kind,
    namespace,
  }: Pick<SpecListing, "kind" | "namespace">): SpecListing["outcome"] => {
    if (failing.has(kind.kind)) return { kind: "failed", failure: UNREADABLE };
    const found = objects.filter(
      ({ of, namespace: inside }) => of.kind === kind.kind && (namespace ?? inside) === inside,
    );
    return { kind: "listed", objects: found.map((object) => specObjectOf(object, request)) };
  };
  return answerOf(request, outcomeOf);
};

/** No LIST was answered. */
export const unlisted = (request: SpecRequest, failure: ApiFailure): ListedSpecs =>
  answerOf(request, () => ({ kind: "failed", failure }));

const answerOf = (
  { kinds, namespaces }: SpecRequest,
  outcomeOf: (listing: Pick<SpecListing, "kind" | "namespace">) => SpecListing["outcome"],
): ListedSpecs => {
  const scopes = namespaces === "all" ? [{}] : namespaces.map((namespace) => ({ namespace }));
  const listings = kinds.flatMap((kind) =>
    scopes.map((scope) => ({ kind, ...scope, outcome: outcomeOf({ kind, ...scope }) })),
  );
  return { listings, calls: listings.length, bytes: 0 };
};

const specObjectOf = (object: ClusterObject, { knownVersion }: SpecRequest): SpecObject => {
  const { namespace, name, uid, generation, manifest, status, statusBy } = object;
  const resourceVersion = String(object.resourceVersion);
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation,
    deleting: false,
    changedBy: "a person",
    ...(status && { status }),
    ...(statusBy && { statusBy }),
    ...(knownVersion(uid) === resourceVersion ? {} : { manifest }),
  };
};
