import type { ClusterRecord } from "../../model/records.ts";
import { list, passedOverFailure } from "../list.ts";
import { listPath } from "../paths.ts";
import { MAX_OBSERVE_BYTES, MAX_OBSERVE_CALLS } from "../request-limits.ts";
import type { ApiSession } from "../scale.ts";
import { type CallBudget, callBudget } from "../transport/budget.ts";
import type { ListedSpecs, SpecListing, SpecRequest } from "./spec-listing.ts";
import { specObject } from "./spec-object.ts";

/**
 * Lists the objects that hold specs: one LIST for each kind, or for each kind and namespace. Each goes to the store of the API server (no resourceVersion), so that no answer is older than
 * its call. A kind that is not installed (404) is a failure like any other, because it is no proof that its objects were deleted.
 */
export const listSpecs = async (session: ApiSession, cluster: Pick<ClusterRecord, "uid">, request: SpecRequest): Promise<ListedSpecs> => {
  const { elapsed } = session;
  const budget = callBudget({ budgetMs: request.budgetMs, maxCalls: MAX_OBSERVE_CALLS, maxBytes: MAX_OBSERVE_BYTES, elapsed });
  const scopes = request.namespaces === "all" ? [undefined] : request.namespaces;
  const wanted = request.kinds.flatMap((kind) => scopes.map((namespace) => ({ kind, ...(namespace !== undefined && { namespace }) })));
  const listings = await Promise.all(wanted.map((listing) => listKind(session, budget, { ...listing, cluster, request })));
  return { listings, ...budget.spent() };
};

const listKind = async (
  { transport }: ApiSession,
  budget: CallBudget,
  of: Omit<SpecListing, "outcome"> & { readonly cluster: Pick<ClusterRecord, "uid">; readonly request: SpecRequest },
): Promise<SpecListing> => {
  const { kind, namespace, cluster, request } = of;
  const { group, version, plural } = kind;
  const resource = `${plural}.${group}`;
  const path = listPath({ base: `/apis/${group}/${version}`, plural, resource }, namespace);
  const as = { ...kind, cluster, knownVersion: request.knownVersion };
  const listed = await list(transport, { path, resource, read: (raw) => specObject(raw, as) }, budget);
  const outcome =
    listed.kind === "failed"
      ? listed
      : ({
          kind: "listed",
          objects: listed.items,
          ...(listed.passedOver.length > 0 && {
            unread: listed.passedOver.map((object) => ({ ...object, message: passedOverFailure(resource, object).message })),
          }),
        } as const);
  return { kind, ...(namespace !== undefined && { namespace }), outcome };
};
