import { TidemarkError } from "../../rules/model/errors.ts";
import { asObject, type Json } from "../../rules/model/json.ts";
import type { ApiFailure } from "../../rules/model/observation.ts";
import { kubeconfigFileAccess } from "./access/kubeconfig-file.ts";
import { accessReview } from "./check/ask.ts";
import { type KindPath, listPath, objectPath } from "./discovery.ts";
import { readList, passedOverFailure } from "./list.ts";
import { EDIT_MS, MAX_OBSERVE_BYTES, MAX_OBSERVE_CALLS, READ_ALL_MS } from "./request-limits.ts";
import { callBudget } from "./transport/budget.ts";
import { clusterTransport, type IdentifiedOptions } from "./transport/same-cluster.ts";
import type { ApiRequest, Method } from "./transport/send.ts";

export type ClusterApiAnswer<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/**
 * The objects of a cluster with the rights of a kubeconfig, which are a person's and never the
 * syncs'. A failed call is a value. No edit is repeated.
 */
export interface KubeconfigApi {
  /** Every object of the kind, of one namespace or of all. */
  readonly list: (kind: KindPath, namespace?: string) => Promise<ClusterApiAnswer<readonly Json[]>>;
  readonly get: (kind: KindPath, ref: ObjectRef) => Promise<ClusterApiAnswer<Json>>;
  readonly create: (
    kind: KindPath,
    namespace: string,
    object: Json,
  ) => Promise<ClusterApiAnswer<Json>>;
  /** Replaces the object. Its resourceVersion is the precondition. */
  readonly replace: (
    kind: KindPath,
    ref: ObjectRef,
    object: Json,
  ) => Promise<ClusterApiAnswer<Json>>;
  /** Deletes exactly this version of exactly this object: any other answers 409. */
  readonly remove: (
    kind: KindPath,
    ref: ObjectRef,
    version: { readonly uid: string; readonly resourceVersion: string },
  ) => Promise<ClusterApiAnswer<Json>>;
  /** True where the person has this right on all objects of the kind in the namespace. */
  readonly may: (
    verb: "create" | "delete" | "update",
    kind: KindPath,
    namespace: string,
  ) => Promise<ClusterApiAnswer<boolean>>;
  readonly close: () => void;
}

export interface ObjectRef {
  readonly namespace: string;
  readonly name: string;
}

export interface KubeconfigSource {
  readonly path: string;
  readonly context?: string;
}

/** The cluster of the stack that the kubeconfig is given for. */
export interface MeantCluster extends Pick<IdentifiedOptions, "kubeSystemUid"> {
  readonly name?: string;
}

/** By the view of a cluster, as a stack answers it. */
export const meantBy = ({
  name,
  kubeSystemUid,
}: {
  readonly name: string;
  readonly kubeSystemUid?: string;
}): MeantCluster => ({ name, kubeSystemUid });

/** For what is only read, and stored for no cluster. */
export const NO_CLUSTER_MEANT: MeantCluster = { kubeSystemUid: undefined };

/**
 * Opens the cluster of a kubeconfig. It sends nothing yet. Where it is meant to be a cluster of the
 * stack with a stored identity, every call is sent to that cluster or fails. Throws
 * `cluster.access.kubeconfig`.
 */
export const openKubeconfig = async (
  { path, context }: KubeconfigSource,
  meant: MeantCluster,
): Promise<KubeconfigApi> => {
  const cluster = meant.name ?? context ?? path;
  const clock = Date.now;
  const access = await kubeconfigFileAccess({
    path,
    cluster,
    clock,
    ...(context !== undefined && { context }),
  });
  const elapsed = (): number => performance.now();
  const transport = clusterTransport({
    cluster,
    kubeSystemUid: meant.kubeSystemUid,
    access,
    clock,
    elapsed,
  });
  const budget = () =>
    callBudget({
      budgetMs: READ_ALL_MS,
      maxCalls: MAX_OBSERVE_CALLS,
      maxBytes: MAX_OBSERVE_BYTES,
      elapsed,
    });
  const edit = async (
    method: Exclude<Method, "GET">,
    request: ApiRequest & { readonly body: unknown },
  ): Promise<ClusterApiAnswer<Json>> => {
    const answer = await transport.edit({ method, ...request }, EDIT_MS);
    return answer.kind === "written" ? done(answer.body) : failed(answer.failure);
  };
  return {
    list: async (kind, namespace) => {
      const what = {
        path: listPath(kind, namespace),
        resource: kind.resource,
        read: (raw: Json) => raw,
      };
      const listed = await readList(transport, what, budget());
      if (listed.kind === "failed") return listed;
      const [unread] = listed.passedOver;
      return unread ? failed(passedOverFailure(kind.resource, unread)) : done(listed.items);
    },
    get: async (kind, ref) => {
      const answer = await transport.get(
        { path: objectPath(kind, ref.namespace, ref.name), resource: kind.resource },
        budget(),
      );
      return answer.kind === "read" ? done(answer.body) : answer;
    },
    create: (kind, namespace, body) =>
      edit("POST", { path: listPath(kind, namespace), resource: kind.resource, body }),
    replace: (kind, ref, body) =>
      edit("PUT", {
        path: objectPath(kind, ref.namespace, ref.name),
        resource: kind.resource,
        body,
      }),
    remove: (kind, ref, preconditions) => {
      const body = {
        apiVersion: "v1",
        kind: "DeleteOptions",
        preconditions,
        propagationPolicy: "Background",
      };
      return edit("DELETE", {
        path: objectPath(kind, ref.namespace, ref.name),
        resource: kind.resource,
        body,
      });
    },
    may: async (verb, kind, namespace) => {
      const [resource, ...group] = kind.resource.split(".");
      const answer = await edit(
        "POST",
        accessReview({ verb, resource, group: group.join("."), namespace }),
      );
      return answer.kind === "done"
        ? done(asObject(answer.value["status"])["allowed"] === true)
        : answer;
    },
    close: transport.close,
  };
};

const done = <Value>(value: Value): ClusterApiAnswer<Value> => ({ kind: "done", value });
const failed = (failure: ApiFailure): ClusterApiAnswer<never> => ({ kind: "failed", failure });

/** Throws a failed call as `cluster.refused`, with what was to be done. */
export const valueOrThrow = <Value>(answer: ClusterApiAnswer<Value>, action: string): Value => {
  if (answer.kind === "done") return answer.value;
  throw new TidemarkError("cluster.refused", `Cannot ${action}: ${answer.failure.message}`, {
    failure: answer.failure,
  });
};
