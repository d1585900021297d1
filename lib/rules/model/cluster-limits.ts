/** Below 5 s the delays of the queue show; 15 min is the longest delay of a message. */
export const PERIOD_LEAST_MS = 5_000;
export const PERIOD_MOST_MS = 900_000;
/** The sync period of a cluster that names none. */
export const PERIOD_MS = 15_000;
/** A longer window of recommendations would outgrow its page (docs/storage.md, "Bytes"). */
export const STABILIZATION_MOST_MS = 3_600_000;
/** Longer than any pod takes to become ready. */
export const POD_PERIOD_MOST_MS = 31 * 86_400_000;
export const TOLERANCE_MOST = 1_000;
/** The change item of a cluster holds its record twice, and an item has at most 400 KB. */
export const CLUSTER_LABELS_MAX = 40;
