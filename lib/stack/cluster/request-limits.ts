import { boundedRequests } from "../aws/bounded-requests.ts";

/**
 * The bounds of this room. A cluster that is slow, huge or unreachable exceeds one of them and
 * becomes a failure value. It cannot delay a sync beyond its budget.
 */

/** Longest wait for one read. A LIST of 500 objects usually takes well under a second. */
export const READ_TIMEOUT_MS = 10_000;

/**
 * A watch has shown all that has changed once nothing has come for so long after its status; on a
 * server at rest the changes follow within a millisecond or two. One that never pauses is ended,
 * and the next sync goes on behind what has come.
 */
export const WATCH_QUIET_MS = 100;
export const WATCH_MOST_MS = 500;

/** Longest wait for a watch. A LIST in its place comes after it in the same sync. */
export const WATCH_TIMEOUT_MS = 2_000;

/**
 * A LIST with more objects than this is followed by watches. With fewer it costs no more than a
 * watch.
 */
export const WATCHED_OBJECTS_MIN = 500;

/** How long changes are added to a LIST before all of it is read again. */
export const WATCHED_MS = 5 * 60_000;

/**
 * Elements of lists and maps in all LISTs of the process that changes are added to: those of 20,000
 * pods.
 */
export const WATCHED_PARTS_MAX = 500_000;

/**
 * An event has as many bytes as so many packed objects of a LIST. A watch with more events than
 * this share of the objects is followed by a LIST.
 */
export const WATCHED_EVENT_OBJECTS = 30;

/**
 * Most connections to one cluster. Only a burst of writes opens so many, where it finds that they
 * bring more answers (lib/stack/sync/scale/pace.ts). Each call in flight takes a seat of API
 * Priority and Fairness.
 */
export const MAX_SOCKETS = 64;

/**
 * Connections to one cluster that stay open while idle. A warm function has hundreds of clusters,
 * and a process may open 1,024 files.
 */
export const MAX_IDLE_SOCKETS = 8;

/**
 * Calls in flight of one observation: as many as connections stay open, so that a sync at rest
 * opens none.
 */
export const MAX_PARALLEL_CALLS = 8;

/**
 * A read that takes longer than this gives its room to the reads of other namespaces, so that one
 * slow adapter does not delay them.
 */
export const SLOW_CALL_MS = 100;

/**
 * Most reads in flight that are for one namespace each: 32 slow namespaces do not take the
 * connections of the writes.
 */
export const MAX_FLOW_CALLS = 32;

/**
 * Most calls and unpacked bytes for one namespace in one observation, beside the LISTs. An answer
 * about one metric has less than a kilobyte.
 */
export const MAX_FLOW_SHARE_CALLS = 2_500;
export const MAX_FLOW_SHARE_BYTES = 4 * 1024 * 1024;

/**
 * Most bytes on the wire of the LISTs of one namespace that is read by itself: half of what a sync
 * may have.
 */
export const MAX_FLOW_LIST_BYTES = 128 * 1024 * 1024;

/** Calls of an observation that are left for the LISTs that all namespaces need. */
export const SHARED_CALLS = 1_000;

/**
 * A namespace with more than this, and with more than a tenth of what all namespaces have together,
 * is read after the others were decided: a MiB takes some ten milliseconds. There are nine of one
 * answer at most; of the answers of several syncs so many are remembered.
 */
export const HEAVY_BYTES = 1024 * 1024;
export const HEAVY_SHARE = 0.1;
export const MAX_HEAVY_NAMESPACES = 20;

/**
 * A page of a LIST that takes longer is looked at while it comes: where one namespace is why, the
 * LIST begins again without it. On a link of 8 MB/s these are 8 MB.
 */
export const SLOW_PAGE_MS = 1_000;

/** Pods that the rules of a namespace look at before it counts as heavy: some ten milliseconds. */
export const HEAVY_LOOKS = 20_000;

/**
 * The time after which the first decisions no longer wait for a namespace. Each later round waits
 * twice as long.
 */
export const FLOW_SHARE_MS = 100;

/** How long the first decisions wait for all namespaces together, once the LISTs are read. */
export const FLOWS_PATIENCE_MS = 500;

/**
 * How long a namespace counts as slow after its questions took longer than its share: the others
 * are decided before it is asked.
 */
export const SLOW_TTL_MS = 10 * 60_000;

/**
 * Questions of one namespace that begin before the others were decided. The rest begins when a slow
 * namespace would: a thousand requests take a tenth of a sync of a thousand autoscalers.
 */
export const MAX_EARLY_QUESTIONS = 100;

/**
 * When a slow namespace is asked at the latest, so that a long burst of writes of the others does
 * not take the time for it.
 */
export const SLOW_BEGINS_MS = 1_000;

/** Most slow namespaces that a client remembers. */
export const MAX_SLOW_NAMESPACES = 10_000;

/**
 * Most characters of the selector of a workload: sixty requirements of the longest legal names. It
 * is compared with each pod of its namespace.
 */
export const MAX_SELECTOR_CHARACTERS = 16 * 1024;

/**
 * An older idle connection is not used for a PUT: the server may have closed it while the process
 * was frozen, and a PUT that fails on it is unclear.
 */
export const PUT_SOCKET_IDLE_MS = 5_000;

/**
 * An older idle connection is not used at all. API servers close theirs after 90 s, load balancers
 * after 350 s.
 */
export const READ_SOCKET_IDLE_MS = 60_000;

/**
 * Most decompressed bytes of one answer: 500 pods of 20 KB are 10 MB, PodMetrics of 10,000 pods 6
 * MB in one page. It also stops a gzip bomb.
 */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * Elements of lists and maps that one answer may hold, of JSON those that are kept: PodMetrics of
 * 100,000 pods have about 900,000. An element may take two bytes of the answer and a hundred of
 * memory, so a limit of bytes is not enough.
 */
export const MAX_ANSWER_PARTS = 1_500_000;

/**
 * Memory of such an element, with the object that a rule reads. All answers of one sync may have as
 * many as a third of the heap has room for: 1.4 million with 512 MB.
 */
export const PART_BYTES = 64;

/**
 * Elements of lists and maps that are kept of one item of a list. A pod has some twenty; with more
 * than these a smaller page is asked for, and in the end the object is passed over. Of an item of a
 * kind without a table all values count, and are held only while the item is read: an object of
 * etcd's 1.5 MiB has fewer.
 */
export const MAX_ITEM_PARTS = 20_000;
export const MAX_ITEM_VALUES = 800_000;

/** What was made of a larger item is not kept for the next LIST: it is decoded each time. */
export const KEPT_ITEM_BYTES_MAX = 16_000;
/** An item of a list counts as this many elements: what is made of an empty one takes 200 bytes. */
export const PARTS_OF_AN_ITEM = 4;

/**
 * Values that one JSON document beside a list may have. The list of 1,000 API groups has 15,000.
 */
export const MAX_DOCUMENT_PARTS = 200_000;

/**
 * How deep lists and objects of a JSON answer may be nested. Objects of Kubernetes have some 15
 * levels; what walks through an object calls itself for each.
 */
export const MAX_JSON_DEPTH = 100;

/**
 * Most decompressed bytes of an answer of discovery, and of one with values of a custom or external
 * metric: 300 kinds of one group have 200 KB, the values of 5,000 pods 1.5 MB.
 */
export const MAX_DISCOVERY_BYTES = 2 * 1024 * 1024;
export const MAX_METRIC_BYTES = 2 * 1024 * 1024;

/** Most bytes of one object of an answer. An API server takes objects of 3 MiB at most. */
export const MAX_OBJECT_BYTES = 4 * 1024 * 1024;

/**
 * Most fields of one object in a protobuf answer, skipped ones included. The event loop stands
 * still while one object is decoded: 25 ms for so many of the slowest fields. etcd stores objects
 * of 1.5 MiB, and the smallest element of a list that an API server writes takes seven bytes, so
 * that no stored object has so many.
 */
export const MAX_OBJECT_FIELDS = 300_000;

/**
 * Bytes of protobuf that are decoded before the event loop goes on: 13 pods of 20 KB, and less than
 * 10 ms whatever they hold.
 */
export const DECODE_BYTES_AT_ONCE = 256 * 1024;

/** Most bytes on the wire of all answers of one observation. */
export const MAX_OBSERVE_BYTES = 256 * 1024 * 1024;

/** Most calls of one observation, repeats included. */
export const MAX_OBSERVE_CALLS = 5_000;

/** How often one read waits for `Retry-After` before it fails. */
export const MAX_RETRY_AFTER_WAITS = 3;

/** Objects of one page. Parsing a page of pods blocks the event loop for about 30 ms. */
export const PAGE_LIMIT = 500;

/**
 * Most pages of one LIST: 500,000 objects, ten times what Kubernetes supports. It stops a list that
 * never ends.
 */
export const MAX_PAGES = 1_000;

/** How often a LIST starts again after its continue token expired on the server (410). */
export const MAX_LIST_RESTARTS = 2;

/** An object of a LIST costs the server an eighth of a GET of one scale. */
export const LIST_WINS_FROM = 1 / 8;

/**
 * Up to this number, namespaces are listed one by one, also where one LIST of the whole cluster
 * would do. It is a constant, so that the number of calls does not grow with autoscalers.
 */
export const MAX_NAMESPACED_LISTS = 3;

/** How long an answer of discovery counts. */
export const DISCOVERY_TTL_MS = 10 * 60_000;

/** How long an absence counts. The API may be installed at any time. */
export const ABSENCE_TTL_MS = 60_000;

/**
 * Longest time for the reading of the cluster's identity, how long it counts, and how long its
 * failure does. It counts for less than the shortest period, so that each sync reads it.
 */
export const IDENTITY_MS = 3_000;
export const IDENTITY_FRESH_MS = 4_000;
export const IDENTITY_AGAIN_MS = 1_000;

/**
 * How long the LISTs of other autoscalers are believed that showed none of a watched target, while
 * no target changes. It is how late a rival is noticed that has not written yet.
 */
export const RIVALS_TTL_MS = 60_000;

/**
 * How many syncs in a row go without those LISTs: the same bound where the clock of the cluster
 * runs faster than ours, as in the embedded run.
 */
export const MAX_RIVAL_LOOKS_SPARED = 3;

/**
 * How long Tidemark holds beside another stack that was the last to scale a target, from when that
 * was first seen: as long as the default stabilization window.
 */
export const OTHER_STACK_MS = 5 * 60_000;

/** Most targets of other stacks that a client remembers. */
export const MAX_OTHER_STACKS = 10_000;

/**
 * A secret is read again after this time, so that a rotated token reaches warm environments. After
 * a 401 it is read at once.
 */
export const SECRET_TTL_MS = 5 * 60_000;

/**
 * How long the credentials of a kubeconfig are used. The library caches tokens itself; this makes
 * parallel calls share one run of a plugin.
 */
export const KUBECONFIG_TTL_MS = 10_000;

/**
 * EKS accepts a token for 15 minutes after its date. The last minute is left for differences of
 * clocks.
 */
export const EKS_TOKEN_TTL_MS = 14 * 60_000;

/** Limits of calls to AWS for credentials, because the deadlines of the clusters run meanwhile. */
export const AWS_CALLS = {
  maxAttempts: 2,
  requestHandler: boundedRequests({ connectMs: 1_000, wholeMs: 3_000 }),
} as const;

/**
 * Limits of one DescribeCluster call. A description has a few kilobytes, and usually arrives in a
 * fraction of a second.
 */
export const DESCRIBE_TIMEOUT_MS = 3_000;
export const MAX_DESCRIPTION_BYTES = 256 * 1024;

/**
 * Most descriptions of EKS clusters in a warm environment. There may be more than clients, because
 * AWS limits the rate of DescribeCluster, and a description has 2 KB.
 */
export const MAX_DESCRIPTIONS = 1_000;

/**
 * Longest wait for an external recommender, as in the original (watermark.md 2.16). The budget of
 * the observation may be shorter.
 */
export const RECOMMENDER_TIMEOUT_MS = 10_000;

/** Most bytes of a reply, which usually has a few hundred. */
export const MAX_RECOMMENDER_BYTES = 64 * 1024;

/** Longest wait for one question of a check, and for the whole check: a person waits for it. */
export const CHECK_QUESTION_MS = 5_000;
export const CHECK_MS = 20_000;

/**
 * Longest wait of a check for the credentials and the address: a call of STS and one of EKS, each
 * repeated once.
 */
export const CHECK_ACCESS_MS = 10_000;

/** Most bytes of one answer to a check. A list of 1,000 API groups has 300 KB. */
export const CHECK_ANSWER_BYTES = 2 * 1024 * 1024;

/**
 * Namespaces for which a check asks each right: 20 rights, 8 questions at once, a few milliseconds
 * each.
 */
export const CHECK_NAMESPACES_MAX = 20;

/** Custom kinds of targets that a check looks for. A cluster has one or two. */
export const CHECK_KINDS_MAX = 20;

/**
 * Objects with specs that a check reads of each kind: with 3 KB each they are half of what one
 * answer may have.
 */
export const CHECK_OBJECTS_MAX = 300;

/** A larger difference of the clocks is a warning. The Date header is exact to a second. */
export const CLOCK_DIFFERENCE_MS = 3_000;

/** Time of all pages of a LIST that a person asked for. */
export const READ_ALL_MS = 60_000;

/** Time of one edit by a person. The API server itself gives up after 60 s. */
export const EDIT_MS = 30_000;
