import { kubernetes, pod, podMetrics, workload } from "./kubernetes.ts";

/**
 * The stand-in in a process of its own, so that a bench does not measure the server with the
 * client: `fork("serve.ts", [deployments])`, sends `{ url, ca }`, ends with its parent.
 */
const count = Number(process.argv[2] ?? 100);
const server = await kubernetes();
const apps = Array.from(
  { length: count },
  (_, index) => [`team-${Math.floor(index / 50)}`, `app-${index}`] as const,
);
server.collections.set(
  "/apis/apps/v1/deployments",
  apps.map(([ns, app]) => ({ ...workload(ns, app), filler: "x".repeat(3_500) })),
);
server.collections.set(
  "/api/v1/pods",
  apps.map(([ns, app]) => ({ ...pod(ns, app), filler: "x".repeat(4_000) })),
);
server.collections.set(
  "/apis/metrics.k8s.io/v1beta1/pods",
  apps.map(([ns, app]) => podMetrics(ns, app)),
);
server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
process.once("disconnect", () => process.exit(0));
process.send?.({ url: server.url, ca: server.ca });
