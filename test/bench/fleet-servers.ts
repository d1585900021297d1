import { kubernetes, pod, podMetrics, workload } from "../cluster/stand-in/kubernetes.ts";

/**
 * Clusters in a process of their own: `fork("fleet-servers.ts", [clusters, workloads, scaling])`
 * sends `{ url, ca }` of each, and ends with its parent. Of the workloads of each, the first
 * `scaling` want twice what they have, the others what they have. Asked by any message, it answers
 * with the ms of CPU that it took so far.
 */
const [clusters = 0, workloads = 0, scaling = 0] = process.argv.slice(2).map(Number);
const SHOP = "shop";
const names = Array.from({ length: workloads }, (_, at) => `app-${at}`);
/** The manifests want 50m of each pod. */
const metricsOf = (name: string, at: number) =>
  podMetrics(SHOP, name, 0, at < scaling ? "100m" : "50m");

const servers = [];
for (let at = 0; at < clusters; at++) {
  const server = await kubernetes();
  server.collections.set(
    "/apis/apps/v1/deployments",
    names.map((name) => workload(SHOP, name, 1)),
  );
  server.collections.set(
    "/api/v1/pods",
    names.map((name) => pod(SHOP, name)),
  );
  server.collections.set("/apis/metrics.k8s.io/v1beta1/pods", names.map(metricsOf));
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  servers.push({ url: server.url, ca: server.ca });
}
process.once("disconnect", () => process.exit(0));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1_000);
});
process.send?.(servers);
