import type {
  ClusterClient,
  Observed,
  ServiceAnswer,
  ServiceRequest,
  Watched,
} from "../../lib/stack/cluster/cluster-client.ts";
import type { Answer, ApiFailure, RecommenderReply } from "../../lib/rules/model/observation.ts";
import type { TargetRef } from "../../lib/rules/model/spec-common.ts";
import type { Effect, SimulatedCluster, Workload } from "./cluster.ts";
import type { Invocation } from "./invocation.ts";
import { type Listing, listNow, unlisted } from "./objects/list-objects.ts";
import { tellNow } from "./objects/tell-objects.ts";
import { type Failing, observeNow, recommendationOf } from "./observe.ts";
import type { Network, Process } from "./process.ts";

const SILENT: ApiFailure = { code: 0, reason: "Timeout", message: "no answer in time" };
export const BROKEN: ApiFailure = {
  code: 500,
  reason: "InternalError",
  message: "the server failed",
};

const DENIALS: readonly ApiFailure[] = [
  { code: 403, reason: "Forbidden", message: "the user cannot update scale" },
  { code: 422, reason: "Invalid", message: "an admission webhook denied the request" },
];

/** One of the refusals, by a number below 1. */
export const denialOf = (share: number): ApiFailure =>
  DENIALS[Math.floor(share * (DENIALS.length + 1))] ?? BUSY;
export const BUSY: ApiFailure = {
  code: 429,
  reason: "TooManyRequests",
  message: "the server is busy",
};

/**
 * A client of one cluster, for one process. `effect` is called for every PUT that moved a count, as
 * only the cluster knows it.
 */
export const clusterClient = (
  network: Network,
  caller: Process,
  cluster: SimulatedCluster,
  now: {
    readonly nowMs: () => number;
    readonly effect: (effect: Effect) => void;
    readonly by: Invocation;
    /** What fails in the next observation. */
    readonly failing: () => Failing;
    /** How the next LISTs of objects are answered. */
    readonly listing: () => Listing;
    /** What a service of the cluster answers. */
    readonly serve: (request: ServiceRequest) => ServiceAnswer;
  },
): ClusterClient => ({
  observe: async (watched, { budgetMs }) => ({
    observations: await network.call<ReadonlyMap<Watched["uid"], Observed>>(caller, {
      kind: "observe",
      name: "observe",
      by: now.by,
      what: `observe ${cluster.name}`,
      timeoutMs: budgetMs,
      lateMs: 0,
      execute: () => {
        const failing = now.failing();
        now.by.looked.how = failing.rivals;
        return observeNow(cluster, watched, now.nowMs(), failing);
      },
      unclear: () => {
        now.by.looked.how = undefined;
        return new Map(watched.map(({ uid }) => [uid, unseen]));
      },
    }),
    calls: 2,
    bytes: 0,
  }),
  putScale: (write, timeoutMs) =>
    network.call(caller, {
      kind: "put",
      name: "put",
      by: now.by,
      what: `PUT ${write.target.name} to ${write.replicas}`,
      timeoutMs,
      // The server executes a request until the timeout that it was given, and not after.
      lateMs: timeoutMs,
      execute: () => cluster.put(write, now.effect),
      unclear: ({ fault, lateness }) =>
        fault === "denied" || fault === "copied"
          ? { kind: "refused", failure: denialOf(lateness) }
          : { kind: "unclear", failure: fault === "failed after" ? BROKEN : SILENT },
    }),
  readScale: (namespace, target, timeoutMs) =>
    network.call(caller, {
      kind: "read",
      name: "read scale",
      by: now.by,
      what: `GET ${target.name}`,
      timeoutMs,
      lateMs: 0,
      execute: () => cluster.read(namespace, target),
      unclear: () => ({ kind: "failed", failure: SILENT }),
    }),
  listSpecs: (request) =>
    network.call(caller, {
      kind: "specs",
      name: "list objects",
      by: now.by,
      what: `list the objects of ${cluster.name}`,
      timeoutMs: request.budgetMs,
      lateMs: 0,
      execute: () => listNow(cluster.objects, request, now.nowMs(), now.listing()),
      unclear: ({ fault }) => unlisted(request, fault === "lost request" ? SILENT : BROKEN),
    }),
  writeBack: (tellings, { budgetMs }) =>
    tellings.length === 0
      ? Promise.resolve({ written: 0, failed: 0, left: 0 })
      : network.call(caller, {
          kind: "tell",
          name: "tell objects",
          by: now.by,
          what: `tell ${tellings.length} things to the objects of ${cluster.name}`,
          timeoutMs: budgetMs,
          lateMs: budgetMs,
          execute: () => tellNow(cluster.objects, tellings),
          unclear: () => ({ written: 0, failed: tellings.length, left: 0 }),
        }),
  recommend: (_recommender, request, timeoutMs) =>
    network.call<Answer<RecommenderReply>>(caller, {
      kind: "recommend",
      name: "recommend",
      by: now.by,
      what: "ask the recommender",
      timeoutMs,
      lateMs: 0,
      execute: () => {
        const workload = askedFor(cluster, request);
        return workload
          ? { kind: "answered", items: recommendationOf(workload) }
          : { kind: "failed", failure: BROKEN };
      },
      unclear: ({ fault }) => ({
        kind: "failed",
        failure: fault === "failed before" ? BROKEN : SILENT,
      }),
    }),
  getFromService: (request, { timeoutMs }) =>
    network.call<ServiceAnswer>(caller, {
      kind: "recommend",
      name: "ask a source",
      by: now.by,
      what: `ask source ${request.service.name} for ${request.parameters["query"]}`,
      timeoutMs,
      lateMs: 0,
      execute: () => now.serve(request),
      unclear: ({ fault }) => ({
        kind: "failed",
        failure: fault === "failed before" ? BROKEN : SILENT,
      }),
    }),
  close: () => {},
});

/** The workload that a question names, unless it is gone since. */
const askedFor = (cluster: SimulatedCluster, request: unknown): Workload | undefined => {
  const { namespace, ...target } = (
    request as { readonly targetRef: TargetRef & { readonly namespace: string } }
  ).targetRef;
  return cluster.at(namespace, target);
};

const unseen: Observed = {
  observation: {
    scale: { kind: "failed", failure: SILENT },
    pods: { all: [], select: () => [], looksAt: () => 0 },
    answers: new Map(),
    others: [],
  },
  rivals: [],
};
