import { type ConnectOptions, clientFor } from "../../../lib/cluster/connect.ts";
import type { ClusterClient, ObserveLimits, Watched } from "../../../lib/cluster/port.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../../lib/model/ids.ts";
import type { HpaMetric, TargetRef } from "../../../lib/model/spec.ts";
import { accessTo } from "./connected.ts";
import type { StandIn } from "./server.ts";

export const CPU: HpaMetric = { type: "Resource", name: "cpu", target: { type: "Utilization", averageUtilization: 50 } };
export const QUEUE: HpaMetric = { type: "External", metric: { name: "queue_depth" }, target: { type: "AverageValue", averageValueMilli: 30_000n } };

export const deployment = (name: string): TargetRef => ({ apiVersion: "apps/v1", kind: "Deployment", name });

export const watch = (ns: string, name: string, more: { metrics?: readonly HpaMetric[]; target?: TargetRef; selector?: string } = {}): Watched => ({
  uid: autoscalerUid(`${ns}/${name}`),
  namespace: namespace(ns),
  name: autoscalerName(name),
  spec: { dialect: "hpa", target: more.target ?? deployment(name), minReplicas: 1, maxReplicas: 10, metrics: more.metrics ?? [CPU] },
  ...(more.selector !== undefined && { selector: more.selector }),
});

export const WHOLE: ObserveLimits = { budgetMs: 5_000, namespaces: "all" };

export const clientTo = (server: Pick<StandIn, "url" | "ca">, options: Partial<ConnectOptions> = {}): ClusterClient =>
  clientFor("eu-1", accessTo(server), { clock: Date.now, ...options });
