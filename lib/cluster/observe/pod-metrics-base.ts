import type { Observing } from "./workloads.ts";

export const METRICS_GROUP = "metrics.k8s.io";
/** Newest first. Their PodMetrics have the same fields. */
export const METRICS_VERSIONS = ["v1", "v1beta1"] as const;
/** Every release of metrics-server so far serves it. */
const OLDEST = "v1beta1";

/** The newest version of a group that both sides know. */
export const newestOf = (known: readonly string[], served: readonly string[]): string | undefined =>
  known.find((version) => served.includes(version));

/**
 * The path of the newest served version of metrics.k8s.io. Discovery tells it once for a warm client. While discovery fails or shows no such group the oldest version is asked, so
 * that a missing API fails with the answer of its server.
 */
export const podMetricsBase = async ({ session, budget, memory }: Observing): Promise<string> => {
  if (memory.metricsVersion === undefined) {
    const versions = await session.discovery.groupVersions(METRICS_GROUP, budget);
    if (versions.kind === "found") memory.metricsVersion = newestOf(METRICS_VERSIONS, versions.value);
  }
  return `/apis/${METRICS_GROUP}/${memory.metricsVersion ?? OLDEST}`;
};

/** Forgets the version after a 404: its server was replaced by one of another version. Discovery is asked again. */
export const forgetMetricsVersion = ({ session, memory }: Observing): void => {
  if (memory.metricsVersion === undefined) return;
  memory.metricsVersion = undefined;
  session.discovery.forget(METRICS_GROUP);
};
