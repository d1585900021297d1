import { TidemarkError } from "../../rules/model/errors.ts";
import { asObject, type Json } from "../../rules/model/json.ts";
import type { ApiFailure } from "../../rules/model/observation.ts";
import { kubeconfigFileAccess } from "./access/kubeconfig-file.ts";
import { accessReview } from "./check/ask.ts";
import { type KindPath, listPath, objectPath } from "./discovery.ts";
import { list, passedOverFailure } from "./list.ts";
import { EDIT_MS, MAX_OBSERVE_BYTES, MAX_OBSERVE_CALLS, READ_ALL_MS } from "./request-limits.ts";
import { callBudget } from "./transport/budget.ts";
import { type Exchange, connectionPool } from "./transport/exchange.ts";
import {
  answeredFailure,
  brokenFailure,
  malformedFailure,
  type Subject,
} from "./transport/failure.ts";
import { type ApiRequest, type Method, sender } from "./transport/send.ts";
import { apiTransport } from "./transport/transport.ts";
import { decodeDocument } from "./wire/decode-json.ts";

export type ApiAnswer<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/**
 * The objects of a cluster with the rights of a kubeconfig, which are a person's and never the
 * syncs'. A failed call is a value. No edit is repeated.
 */
export interface KubeconfigApi {
  /** Every object of the kind, of one namespace or of all. */
  readonly list: (kind: KindPath, namespace?: string) => Promise<ApiAnswer<readonly Json[]>>;
  readonly get: (kind: KindPath, ref: ObjectRef) => Promise<ApiAnswer<Json>>;
  readonly create: (kind: KindPath, namespace: string, object: Json) => Promise<ApiAnswer<Json>>;
  /** Replaces the object. Its resourceVersion is the precondition. */
  readonly replace: (kind: KindPath, ref: ObjectRef, object: Json) => Promise<ApiAnswer<Json>>;
  /** Deletes exactly this version of exactly this object: any other answers 409. */
  readonly remove: (
    kind: KindPath,
    ref: ObjectRef,
    version: { readonly uid: string; readonly resourceVersion: string },
  ) => Promise<ApiAnswer<Json>>;
  /** True where the person has this right on all objects of the kind in the namespace. */
  readonly may: (
    verb: "create" | "delete" | "update",
    kind: KindPath,
    namespace: string,
  ) => Promise<ApiAnswer<boolean>>;
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

/** Opens the cluster of a kubeconfig. It sends nothing yet. Throws `cluster.access.kubeconfig`. */
export const openKubeconfig = async ({
  path,
  context,
}: KubeconfigSource): Promise<KubeconfigApi> => {
  const cluster = context ?? path;
  const clock = Date.now;
  const access = await kubeconfigFileAccess({
    path,
    cluster,
    clock,
    ...(context !== undefined && { context }),
  });
  const elapsed = (): number => performance.now();
  const reads = apiTransport({ cluster, access, clock, elapsed });
  const pool = connectionPool(access, clock);
  const send = sender(access, pool, elapsed);
  const budget = () =>
    callBudget({
      budgetMs: READ_ALL_MS,
      maxCalls: MAX_OBSERVE_CALLS,
      maxBytes: MAX_OBSERVE_BYTES,
      elapsed,
    });
  const edit = async (
    method: Exclude<Method, "GET">,
    request: ApiRequest,
  ): Promise<ApiAnswer<Json>> => {
    // A connection that the server closed while it was idle would make the outcome unclear.
    pool.dropIdle(0);
    const outcome = await send(method, request, EDIT_MS, false);
    if (outcome.kind === "no-credentials") return failed(outcome.failure);
    return answerOf(outcome, { cluster, method, resource: request.resource });
  };
  return {
    list: async (kind, namespace) => {
      const what = {
        path: listPath(kind, namespace),
        resource: kind.resource,
        read: (raw: Json) => raw,
      };
      const listed = await list(reads, what, budget());
      if (listed.kind === "failed") return listed;
      const [unread] = listed.passedOver;
      return unread ? failed(passedOverFailure(kind.resource, unread)) : done(listed.items);
    },
    get: async (kind, ref) => {
      const answer = await reads.get(
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
    close: () => {
      reads.close();
      pool.close();
    },
  };
};

const done = <Value>(value: Value): ApiAnswer<Value> => ({ kind: "done", value });
const failed = (failure: ApiFailure): ApiAnswer<never> => ({ kind: "failed", failure });

const answerOf = (outcome: Exchange, subject: Subject): ApiAnswer<Json> => {
  if (outcome.kind === "broken") return failed(brokenFailure(outcome, subject, EDIT_MS));
  const body = decodeDocument(outcome.bytes);
  if (outcome.status < 200 || outcome.status > 299)
    return failed(answeredFailure(outcome.status, body, subject));
  return body === undefined
    ? failed(
        malformedFailure(subject, `the server answered ${outcome.status} without a JSON object`),
      )
    : done(body);
};

/** Throws a failed call as `cluster.refused`, with what was to be done. */
export const valueOrThrow = <Value>(answer: ApiAnswer<Value>, action: string): Value => {
  if (answer.kind === "done") return answer.value;
  throw new TidemarkError("cluster.refused", `Cannot ${action}: ${answer.failure.message}`, {
    failure: answer.failure,
  });
};
