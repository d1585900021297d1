import { foreignText } from "../../../rules/model/foreign-text.ts";
import { isObject } from "../../../rules/model/json.ts";
import type { ApiFailure } from "../../../rules/model/observation.ts";
import {
  ABSENCE_TTL_MS,
  DISCOVERY_TTL_MS,
  IDENTITY_AGAIN_MS,
  IDENTITY_MS,
  MAX_DISCOVERY_BYTES,
} from "../request-limits.ts";
import { message, one } from "../wire/message.ts";
import { callBudget } from "./budget.ts";
import type { Transport } from "./transport.ts";

/**
 * The namespace that every cluster has from its first minute to its last. Its uid is the identity
 * of the cluster, as OpenTelemetry has it for `k8s.cluster.uid`.
 */
export const IDENTITY_PATH = "/api/v1/namespaces/kube-system";
export const IDENTITY_RESOURCE = "namespaces";

const IDENTITY = message("k8s.io.api.core.v1.Namespace", {
  metadata: one(
    1,
    message("k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta", { uid: one(5, "text") }),
  ),
});

/** The uid in an answer to IDENTITY_PATH. */
export const identityIn = (body: unknown): string | undefined => {
  const metadata = isObject(body) && isObject(body["metadata"]) ? body["metadata"] : {};
  return typeof metadata["uid"] === "string" && metadata["uid"] !== ""
    ? metadata["uid"]
    : undefined;
};

type Identity = { readonly untilMs: number; readonly failure?: ApiFailure };

interface Expected {
  readonly cluster: string;
  /** The uid of the namespace kube-system when the connection was stored. */
  readonly uid: string;
  readonly clock: () => number;
  readonly elapsed: () => number;
}

/*
 *  "eu-1" ── kube-system a ✓ ── LISTs, PUTs ── ten minutes ── the address leads to another cluster ── kube-system b ✗ ── every call fails: hold
 */

/**
 * Calls reach the cluster that the connection was stored for, or none. On doubt, hold: while the
 * identity cannot be read for another reason than a missing right (403, 404), every call fails as
 * that reading did. It is read before the first call and every ten minutes. A PUT does not wait for
 * it: the reads of its sync have.
 */
export const sameCluster = (transport: Transport, expected: Expected): Transport => {
  const { clock, elapsed } = expected;
  let known: Identity | undefined;
  let asked: Promise<Identity> | undefined;
  const ask = async (): Promise<Identity> => {
    const budget = callBudget({
      budgetMs: IDENTITY_MS,
      maxCalls: 3,
      maxBytes: MAX_DISCOVERY_BYTES,
      elapsed,
    });
    const request = {
      path: IDENTITY_PATH,
      resource: IDENTITY_RESOURCE,
      fields: IDENTITY,
      maxBytes: MAX_DISCOVERY_BYTES,
    };
    const answer = await transport.get(request, budget);
    if (answer.kind === "read") {
      const failure = otherCluster(expected, identityIn(answer.body));
      return {
        untilMs: clock() + (failure ? ABSENCE_TTL_MS : DISCOVERY_TTL_MS),
        ...(failure && { failure }),
      };
    }
    const { failure } = answer;
    return failure.code === 403 || failure.code === 404
      ? { untilMs: clock() + ABSENCE_TTL_MS }
      : { untilMs: clock() + IDENTITY_AGAIN_MS, failure };
  };
  const identity = async (): Promise<ApiFailure | undefined> => {
    if (known && clock() < known.untilMs) return known.failure;
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    known = await asked;
    return known.failure;
  };
  const refused = (failure: ApiFailure) => ({ kind: "failed", failure }) as const;
  return {
    get: async (request, budget) => {
      const failure = await identity();
      return failure ? refused(failure) : transport.get(request, budget);
    },
    getOnce: async (request, timeoutMs) => {
      const failure = await identity();
      return failure ? refused(failure) : transport.getOnce(request, timeoutMs);
    },
    put: async (request, timeoutMs) =>
      known?.failure
        ? { ...refused(known.failure), sent: false }
        : transport.put(request, timeoutMs),
    update: async (request, timeoutMs) =>
      known?.failure
        ? { ...refused(known.failure), sent: false }
        : transport.update(request, timeoutMs),
    close: transport.close,
  };
};

const otherCluster = (
  { cluster, uid }: Expected,
  found: string | undefined,
): ApiFailure | undefined => {
  if (found === uid) return undefined;
  const difference = `Cannot call cluster "${cluster}": another cluster answers, whose kube-system has the uid ${foreignText(found ?? "none")}, not ${uid}; correct its address, or store the connection anew with tidemark cluster add ${cluster} --replace --force`;
  return { code: 0, reason: "OtherCluster", message: difference };
};
