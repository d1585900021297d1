import type {
  ClusterClient,
  ObservedCluster,
  ObserveLimits,
  Watched,
} from "../../../lib/stack/cluster/cluster-client.ts";
import { type ConnectOptions, clientFor } from "../../../lib/stack/cluster/connect.ts";
import { newReadContext } from "../../../lib/rules/fields/shape.ts";
import { WATERMARK_SPEC, watermarkSpecFrom } from "../../../lib/rules/manifest/watermark/shape.ts";
import { watermarkSpecOf } from "../../../lib/rules/manifest/watermark/spec.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../../lib/rules/model/ids.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import type { TargetRef } from "../../../lib/rules/model/spec-common.ts";
import type { HpaMetric } from "../../../lib/rules/model/spec-hpa.ts";
import { asksOf } from "../../../lib/rules/policy/dialects.ts";
import { accessTo } from "./connected.ts";
import type { StandIn } from "./server.ts";

export const CPU: HpaMetric = {
  type: "Resource",
  name: "cpu",
  target: { type: "Utilization", averageUtilization: 50 },
};
export const QUEUE: HpaMetric = {
  type: "External",
  metric: { name: "queue_depth" },
  target: { type: "AverageValue", averageValueMilli: 30_000n },
};

export const deployment = (name: string): TargetRef => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  name,
});

/** A spec with what its rules ask, as a sync gives them to the cluster. */
export const asking = (
  spec: AutoscalerSpec,
  ns: string,
): Pick<Watched, "spec" | "questions" | "asksMonitor"> => ({ spec, ...asksOf(spec, ns) });

export const watch = (
  ns: string,
  name: string,
  more: { metrics?: readonly HpaMetric[]; target?: TargetRef; selector?: string } = {},
): Watched => ({
  uid: autoscalerUid(`${ns}/${name}`),
  namespace: namespace(ns),
  name: autoscalerName(name),
  ...asking(
    {
      dialect: "hpa",
      target: more.target ?? deployment(name),
      minReplicas: 1,
      maxReplicas: 10,
      metrics: more.metrics ?? [CPU],
    },
    ns,
  ),
  ...(more.selector !== undefined && { selector: more.selector }),
});

/** A WatermarkPodAutoscaler that its monitor may stop. */
export const watermarkWithMonitor = (ns: string, name: string): Watched => ({
  uid: autoscalerUid(`${ns}/${name}`),
  namespace: namespace(ns),
  name: autoscalerName(name),
  ...asking(
    watermarkSpecOf(
      watermarkSpecFrom(
        WATERMARK_SPEC(
          { scaleTargetRef: deployment("web"), maxReplicas: 10 },
          "spec",
          newReadContext(),
        ) ?? {},
      ),
      { "wpa.datadoghq.com/lifecycle-control.enabled": "true" },
      { skipNotScalingEvents: false, clusterName: "" },
    ),
    ns,
  ),
});

export const WHOLE: ObserveLimits = { budgetMs: 5_000, namespaces: "all" };

export const clientTo = (
  server: Pick<StandIn, "url" | "ca">,
  {
    uid = "uid-of-eu-1",
    kubeSystemUid,
    ...options
  }: Partial<ConnectOptions> & { readonly uid?: string; readonly kubeSystemUid?: string } = {},
): ClusterClient =>
  clientFor({ name: clusterName("eu-1"), uid, kubeSystemUid }, accessTo(server), {
    clock: Date.now,
    ...options,
  });

/** What was observed of an autoscaler. Throws when nothing was. */
export const seen = (observed: ObservedCluster, watched: Watched) => {
  const found = observed.observations.get(watched.uid);
  if (!found) throw new Error(`nothing observed for ${watched.uid}`);
  return found;
};
