import type { Namespace } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import type { SpecKind } from "../../model/spec-kinds.ts";
import type { KindPath } from "../discovery.ts";
import { passedOverFailure } from "../list.ts";
import { listScope } from "../observe/heavy-namespaces.ts";
import type { Memory } from "../observe/memory.ts";
import { covers, type Scope } from "../observe/scopes.ts";
import { listPath } from "../paths.ts";
import { MAX_OBSERVE_BYTES, MAX_OBSERVE_CALLS } from "../request-limits.ts";
import type { ApiSession } from "../scale.ts";
import { type CallBudget, callBudget } from "../transport/budget.ts";
import type { ListedSpecs, SpecListing, SpecObject, SpecRequest } from "./spec-listing.ts";
import { specObject } from "./spec-object.ts";

/**
 * Lists the objects that hold specs: one LIST for each kind, or for each kind and namespace. Each goes to the store of the API server (no resourceVersion), so that no answer is older than
 * its call. A kind that is not installed (404) is a failure like any other, because it is no proof that its objects were deleted. The namespaces that were much heavier than the others in the last
 * sync have LISTs of their own, which come last: where their time does not suffice, only their objects hold.
 */
export const listSpecs = async (
  { session, memory }: { readonly session: ApiSession; readonly memory: Pick<Memory, "heavy"> },
  cluster: Pick<ClusterRecord, "uid">,
  request: SpecRequest,
): Promise<ListedSpecs> => {
  const { elapsed } = session;
  const budget = callBudget({ budgetMs: request.budgetMs, maxCalls: MAX_OBSERVE_CALLS, maxBytes: MAX_OBSERVE_BYTES, elapsed });
  const wanted = request.kinds.flatMap((kind) => scopesOf(request, memory.heavy.of(listPath(kindPath(kind)))).map((scope) => ({ kind, scope })));
  const read = (scopes: typeof wanted): Promise<readonly SpecListing[]> =>
    Promise.all(scopes.map((of) => listKind({ session, memory }, budget, { ...of, cluster, request })));
  const light = await read(wanted.filter(({ scope }) => !scope.isHeavy));
  const heavy = await read(wanted.filter(({ scope }) => scope.isHeavy));
  return { listings: [...light, ...heavy], ...budget.spent() };
};

/** Any namespace may get its first object at any time. So the LIST of the whole cluster leaves out the heavy namespaces only, and each of them is read. */
const scopesOf = ({ namespaces }: SpecRequest, heavy: ReadonlySet<Namespace>): readonly Scope[] =>
  namespaces === "all"
    ? [heavy.size > 0 ? { without: heavy } : {}, ...[...heavy].map((namespace): Scope => ({ namespace, isHeavy: true }))]
    : namespaces.map((namespace) => ({ namespace }));

const kindPath = ({ group, version, plural }: SpecKind): KindPath => ({ base: `/apis/${group}/${version}`, plural, resource: `${plural}.${group}` });

const listKind = async (
  observing: { readonly session: ApiSession; readonly memory: Pick<Memory, "heavy"> },
  budget: CallBudget,
  of: Pick<SpecListing, "kind"> & { readonly scope: Scope; readonly cluster: Pick<ClusterRecord, "uid">; readonly request: SpecRequest },
): Promise<SpecListing> => {
  const { kind, scope, cluster, request } = of;
  const { namespace, without } = scope;
  const where = kindPath(kind);
  const { resource } = where;
  const as = { ...kind, cluster, knownVersion: request.knownVersion };
  const listed = await listScope<SpecObject>(
    observing,
    { whole: listPath(where), scope },
    { path: listPath(where, namespace), resource, read: (raw) => specObject(raw, as) },
    budget,
  );
  // A server that knows no field selector gives the objects of all namespaces. Those of a heavy one are in the LIST of their namespace, and twice they would be two objects of one name.
  const isCovered = (object: { readonly namespace: string }): boolean => covers(scope, object.namespace as Namespace);
  const outcome =
    listed.kind === "failed"
      ? listed
      : ({
          kind: "listed",
          objects: listed.items.filter(isCovered),
          ...(listed.passedOver.some(isCovered) && {
            unread: listed.passedOver.filter(isCovered).map((object) => ({ ...object, message: passedOverFailure(resource, object).message })),
          }),
        } as const);
  return { kind, ...(namespace !== undefined && { namespace }), ...(without && { without }), outcome };
};
