import { randomUUID } from "node:crypto";
import type { Context, SQSEvent } from "aws-lambda";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import {
  autoscalerName,
  autoscalerUid,
  type ClusterName,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { messageBody, type SyncMessage } from "../../lib/stack/plan/message.ts";
import { kubernetes, pod, podMetrics, workload } from "../cluster/stand-in/kubernetes.ts";
import { type Answer, type StandIn, status } from "../cluster/stand-in/server.ts";

/** What may be wrong with a cluster. */
export type Trouble = "hangs" | "answers 500" | "resets";
export const TROUBLES: readonly Trouble[] = ["hangs", "answers 500", "resets"];

const BAD: Readonly<Record<Trouble, Answer>> = {
  hangs: () => undefined,
  "answers 500": status(500, "InternalError", "etcdserver: request timed out"),
  resets: (_seen, _response, socket) => void socket.destroy(),
};

const APPS = ["web", "api", "jobs"] as const;
const SHOP = "shop";

/**
 * A real HTTPS server with three small workloads that want one replica more than they have, or with
 * one trouble.
 */
export const standInCluster = async (trouble?: Trouble): Promise<StandIn> => {
  const server = await kubernetes();
  server.collections.set(
    "/apis/apps/v1/deployments",
    APPS.map((app) => workload(SHOP, app, 1)),
  );
  server.collections.set(
    "/api/v1/pods",
    APPS.map((app) => pod(SHOP, app)),
  );
  server.collections.set(
    "/apis/metrics.k8s.io/v1beta1/pods",
    APPS.map((app) => podMetrics(SHOP, app)),
  );
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  if (trouble) server.answer = BAD[trouble];
  return server;
};

export const nameOf = (at: number): ClusterName => clusterName(`c-${at}`);

/** The manifest of each workload: a mean CPU of half its request. */
export const manifestOf = (name: string): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: SHOP },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        },
      ],
    },
  });

/** Stores a cluster with an autoscaler for each of its workloads. */
export const storeCluster = async (
  tables: Tables,
  name: ClusterName,
  syncPeriodMs: number,
  apps: readonly string[] = APPS,
): Promise<ClusterRecord> => {
  const rest = { partitions: [{ name: WHOLE_CLUSTER }], settings: DEFAULT_SETTINGS, version: 1 };
  const record: ClusterRecord = { name, uid: `uid-of-${name}`, syncPeriodMs, ...rest };
  await putCluster(tables, record, undefined);
  for (const app of apps) {
    const uid = autoscalerUid(`uid-${name}-${app}`);
    const times = { generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" };
    const place = { cluster: name, namespace: namespace(SHOP), name: autoscalerName(app) };
    await putAutoscaler(tables, { ...place, uid, manifest: manifestOf(app), ...times }, undefined);
  }
  return record;
};

/** Gives each record the client of its cluster, opened once, as a warm function has it. */
export const connectedTo =
  (clients: ReadonlyMap<ClusterName, ClusterClient>) =>
  async (record: Pick<ClusterRecord, "name">): Promise<ClusterClient> => {
    const client = clients.get(record.name);
    if (!client) throw new Error(`there is no cluster ${record.name}`);
    return client;
  };

export const CONTEXT = {
  functionName: "tidemark-sync",
  awsRequestId: "1",
  getRemainingTimeInMillis: () => 30_000,
} as Context;

/** An event as the queue's event source mapping makes it of one message. */
export const sqsEvent = (message: SyncMessage): SQSEvent => ({
  Records: [
    {
      messageId: randomUUID(),
      receiptHandle: randomUUID(),
      body: messageBody(message),
      attributes: {
        ApproximateReceiveCount: "1",
        SentTimestamp: "0",
        SenderId: "A",
        ApproximateFirstReceiveTimestamp: "0",
      },
      messageAttributes: {},
      md5OfBody: "",
      eventSource: "aws:sqs",
      eventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:tidemark-sync",
      awsRegion: "eu-central-1",
    },
  ],
});
