import { boundedRequests } from "../aws/bounded-requests.ts";

/**
 * Every bound of this room in one place. A cluster that is slow, huge or gone reaches one of these and becomes a failure value; it cannot hold a sync longer than its budget.
 */

/** Longest wait for one read. A LIST of 500 objects answers in well under a second; ten is a server in trouble. */
export const READ_TIMEOUT_MS = 10_000;

/** Connections per cluster. API servers write as fast over 10 as over 50, and a seat of API Priority and Fairness is held by each call in flight. */
export const MAX_SOCKETS = 8;

/** Calls in flight per observation; the pool above queues the rest anyway, but a queued call already burns its deadline. */
export const MAX_PARALLEL_CALLS = 8;

/** An idle connection older than this carries no PUT: it may have been closed while the process was frozen, and a PUT that dies on it is unclear. */
export const PUT_SOCKET_IDLE_MS = 5_000;

/** An idle connection older than this carries nothing. API servers close theirs after 90 s, load balancers after 350 s. */
export const READ_SOCKET_IDLE_MS = 60_000;

/** Decompressed bytes of one answer: 500 pods of 20 KB are 10 MB, PodMetrics of 10,000 pods 6 MB in one page. Also what stops a gzip bomb. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * Elements of lists and maps that one protobuf answer may hold: PodMetrics of 100,000 pods have about 900,000. An element may take two bytes of the answer and a hundred of memory, so
 * the bytes alone are no bound.
 */
export const MAX_ANSWER_PARTS = 1_000_000;

/** Bytes on the wire of one observation, all answers together. */
export const MAX_OBSERVE_BYTES = 256 * 1024 * 1024;

/** Calls of one observation, repetitions included. */
export const MAX_OBSERVE_CALLS = 5_000;

/** How often one read waits as `Retry-After` asks before it gives up. */
export const MAX_RETRY_AFTER_WAITS = 3;

/** Objects per page: parsing one page of pods blocks the loop for about 30 ms. */
export const PAGE_LIMIT = 500;

/** Pages of one LIST: 500,000 objects, ten times what Kubernetes supports. A server that never ends its list ends here. */
export const MAX_PAGES = 1_000;

/** A continue token expired on the server (410): how often the LIST starts again. */
export const MAX_LIST_RESTARTS = 2;

/** One LIST object costs the server an eighth of a GET of one scale. */
export const LIST_WINS_FROM = 1 / 8;

/** Up to so many namespaces are listed one by one even where the whole cluster could be: a constant, so calls still do not grow with autoscalers. */
export const MAX_NAMESPACED_LISTS = 3;

/** How long what discovery said is believed. */
export const DISCOVERY_TTL_MS = 10 * 60_000;

/** How long an absence is believed: the API may be installed any minute. */
export const ABSENCE_TTL_MS = 60_000;

/** How long the LISTs of other autoscalers are believed that showed none of a watched target, while no target changes. It is how late a rival is noticed that has not written yet. */
export const RIVALS_TTL_MS = 60_000;

/** How many syncs in a row go without those LISTs: the same bound where the clock of the cluster runs faster than ours, as in the embedded run. */
export const MAX_RIVAL_LOOKS_SPARED = 3;

/** A secret is read again after this time, so that a rotated token reaches warm environments; a 401 asks for it at once. */
export const SECRET_TTL_MS = 5 * 60_000;

/** How long what a kubeconfig gave is used before it is asked again; the library behind it keeps tokens itself, this makes parallel calls share one plugin run. */
export const KUBECONFIG_TTL_MS = 10_000;

/** EKS accepts a token for 15 minutes after its date; the last one is left for clock differences. */
export const EKS_TOKEN_TTL_MS = 14 * 60_000;

/** Calls to AWS for credentials: bounded, because the clusters' own deadlines run meanwhile. */
export const AWS_CALLS = { maxAttempts: 2, requestHandler: boundedRequests({ connectMs: 1_000, wholeMs: 3_000 }) } as const;

/** One question about an EKS cluster: a description is a few kilobytes, and answers in a fraction of a second. */
export const DESCRIBE_TIMEOUT_MS = 3_000;
export const MAX_DESCRIPTION_BYTES = 256 * 1024;

/** Descriptions of EKS clusters kept by a warm environment: more than clients, because AWS limits how often an account may ask, and one has 2 KB. */
export const MAX_DESCRIPTIONS = 1_000;

/** Clients kept for warm invocations, least recently used first to go. */
export const MAX_CLIENTS = 64;

/** Longest wait for an external recommender, as in the original (watermark.md 2.16); the observation's own budget may be shorter. */
export const RECOMMENDER_TIMEOUT_MS = 10_000;

/** A reply is a few hundred bytes. */
export const MAX_RECOMMENDER_BYTES = 64 * 1024;
