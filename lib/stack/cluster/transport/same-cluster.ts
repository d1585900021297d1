import { foreignText } from "../../../rules/model/foreign-text.ts";
import { isObject } from "../../../rules/model/json.ts";
import type { ApiFailure } from "../../../rules/model/observation.ts";
import {
  IDENTITY_AGAIN_MS,
  IDENTITY_FRESH_MS,
  IDENTITY_MS,
  MAX_DISCOVERY_BYTES,
} from "../request-limits.ts";
import { message, one } from "../wire/message.ts";
import { callBudget } from "./budget.ts";
import {
  type ReadAnswer,
  type Transport,
  type TransportOptions,
  uncheckedTransport,
} from "./transport.ts";

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

interface Look {
  /** By the wall clock, and by the monotonic one: a machine that stood still stops the latter. */
  readonly atMs: number;
  readonly elapsedMs: number;
  /** Why no call may be sent; absent where the own cluster has answered. */
  readonly failure?: ApiFailure;
}

export interface IdentifiedOptions extends TransportOptions {
  /**
   * The uid of the namespace kube-system when the connection was stored; undefined where none is
   * stored, and any cluster may answer. Every caller says which it is.
   */
  readonly kubeSystemUid: string | undefined;
}

/*
 *  "eu-1" ── kube-system a ✓ ── LISTs, PUTs ── the address leads to another cluster ── kube-system b ✗, 403, 404, no answer ── every call fails: hold
 *                                                                                      └── asked again ── kube-system a ✓ ── LISTs, PUTs
 */

/**
 * Calls reach the cluster that the connection was stored for, or none. This is the only way to a
 * transport, so reads, scales, statuses, services and the edits of a person all go through it.
 *
 * A read is sent only within seconds of an answer 200 with the stored uid, and a write only after
 * such an answer that was asked for when the last read had come: so what the write rests on came
 * from the own cluster, and its uid and resourceVersion are of there. On doubt, hold: another uid,
 * a missing right (403, 404) and a reading that fails all fail every call, until an answer 200 has
 * the stored uid again. A lost right is not "no identity", because the cluster behind the address
 * may be another one that never grants it.
 */
export const clusterTransport = ({ kubeSystemUid, ...options }: IdentifiedOptions): Transport => {
  const transport = uncheckedTransport(options);
  return kubeSystemUid === undefined ? transport : sameCluster(transport, kubeSystemUid, options);
};

/** The look that another call has begun, which may be too early for this call, and an own one. */
const LOOKS_MAX = 2;

const sameCluster = (
  transport: Transport,
  uid: string,
  { cluster, clock, elapsed }: TransportOptions,
): Transport => {
  let last: Look | undefined;
  let asked: Promise<Look> | undefined;
  /** When the last answer to a read came. */
  let readMs = Number.NEGATIVE_INFINITY;
  const isFresh = ({ atMs, elapsedMs, failure }: Look): boolean => {
    const freshMs = failure ? IDENTITY_AGAIN_MS : IDENTITY_FRESH_MS;
    return Math.abs(clock() - atMs) < freshMs && elapsed() - elapsedMs < freshMs;
  };
  const look = async (): Promise<Look> => {
    // Read before the question: an address that moves while it is answered is seen by the next one.
    const [atMs, elapsedMs] = [clock(), elapsed()];
    const limits = { budgetMs: IDENTITY_MS, maxCalls: 3, maxBytes: MAX_DISCOVERY_BYTES, elapsed };
    const answer = await transport.get(IDENTITY_REQUEST, callBudget(limits));
    const failure = refusalOf(answer, { cluster, uid });
    last = failure ? { atMs: clock(), elapsedMs: elapsed(), failure } : { atMs, elapsedMs };
    return last;
  };
  /** `sinceMs`: a look that began earlier says too little. */
  const refusal = async (sinceMs = Number.NEGATIVE_INFINITY): Promise<ApiFailure | undefined> => {
    for (let looks = 0; ; looks++) {
      if (last && isFresh(last) && (last.failure || last.elapsedMs >= sinceMs)) return last.failure;
      // On doubt, hold: an answer that is old when it comes says too little, and a slow server is
      // not asked again and again.
      if (looks === LOOKS_MAX) return lateLook(cluster);
      asked ??= look().finally(() => {
        asked = undefined;
      });
      await asked;
    }
  };
  const answered = <Answer>(answer: Answer): Answer => {
    readMs = elapsed();
    return answer;
  };
  /** A look takes its time from the call that waits for it, so that no PUT lands past its deadline. */
  const sendOnce = async <Answer>(
    timeoutMs: number,
    send: (leftMs: number) => Promise<Answer>,
    refused: (failure: ApiFailure) => Answer,
    sinceMs?: number,
  ): Promise<Answer> => {
    const beganMs = elapsed();
    const failure = await refusal(sinceMs);
    if (failure) return refused(failure);
    const leftMs = timeoutMs - (elapsed() - beganMs);
    return leftMs > 0 ? send(leftMs) : refused(lateLook(cluster));
  };
  const unsent = (failure: ApiFailure) => ({ kind: "failed", failure, sent: false }) as const;
  return {
    get: async (request, budget) => {
      const failure = await refusal();
      return failure ? { kind: "failed", failure } : answered(await transport.get(request, budget));
    },
    getOnce: (request, timeoutMs) =>
      sendOnce(
        timeoutMs,
        async (leftMs) => answered(await transport.getOnce(request, leftMs)),
        (failure) => ({ kind: "failed", failure }),
      ),
    put: (request, timeoutMs) =>
      sendOnce(timeoutMs, (leftMs) => transport.put(request, leftMs), unsent, readMs),
    edit: (request, timeoutMs) =>
      sendOnce(timeoutMs, (leftMs) => transport.edit(request, leftMs), unsent, readMs),
    doubt: () => refusal(readMs),
    close: transport.close,
  };
};

/** A transport that sends nothing: each call has failed so. */
export const refusingTransport = (failure: ApiFailure): Transport => {
  const failed = async () => ({ kind: "failed", failure, sent: false }) as const;
  return {
    get: failed,
    getOnce: failed,
    put: failed,
    edit: failed,
    doubt: () => Promise.resolve(failure),
    close: () => undefined,
  };
};

const IDENTITY_REQUEST = {
  path: IDENTITY_PATH,
  resource: IDENTITY_RESOURCE,
  fields: IDENTITY,
  maxBytes: MAX_DISCOVERY_BYTES,
};

/** No code of HTTP: 403 and 404 mean something else to those who read an object. */
const refusalOf = (
  answer: ReadAnswer,
  { cluster, uid }: { readonly cluster: string; readonly uid: string },
): ApiFailure | undefined => {
  const anew = `store the connection anew with tidemark cluster add ${cluster} --replace --force`;
  if (answer.kind === "failed") {
    const { code, message: words } = answer.failure;
    if (code !== 403 && code !== 404) return answer.failure;
    return {
      code: 0,
      reason: "IdentityUnknown",
      message: `Cannot call cluster "${cluster}": its identity was known and cannot be read any more (${code}), so another cluster may answer; give back the right to get the namespace kube-system (tidemark cluster rbac), or ${anew}: ${words}`,
    };
  }
  const found = identityIn(answer.body);
  if (found === uid) return undefined;
  return {
    code: 0,
    reason: "OtherCluster",
    message: `Cannot call cluster "${cluster}": another cluster answers, whose kube-system has the uid ${foreignText(found ?? "none")}, not ${uid}; correct its address, or ${anew}`,
  };
};

const lateLook = (cluster: string): ApiFailure => ({
  code: 0,
  reason: "Timeout",
  message: `Cannot call cluster "${cluster}": its identity was read too late for this call`,
});
