import * as z from "zod";
import { autoscalerName, autoscalerUid, clusterName, namespace, partitionName } from "../../model/ids.ts";

/** Items of the state table that people's edits write, parsed where they are read. Unknown attributes are passed over: a later version may have added them. */
const paused = z.object({ by: z.string(), atMs: z.number(), untilMs: z.number().exactOptional() });

export const autoscalerSchema = z.object({
  cluster: z.string().transform(clusterName),
  namespace: z.string().transform(namespace),
  name: z.string().transform(autoscalerName),
  uid: z.string().transform(autoscalerUid),
  generation: z.number().int().positive(),
  manifest: z.string(),
  createdMs: z.number(),
  updatedMs: z.number(),
  updatedBy: z.string(),
  paused: paused.exactOptional(),
});

const connection = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("eks"),
    endpoint: z.string().exactOptional(),
    caData: z.string().exactOptional(),
    clusterId: z.string(),
    region: z.string(),
    roleArn: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal("secret"), secretId: z.string(), context: z.string().exactOptional() }),
  z.object({ kind: z.literal("kubeconfig"), path: z.string(), context: z.string().exactOptional() }),
]);

export const clusterSchema = z.object({
  name: z.string().transform(clusterName),
  uid: z.string().exactOptional(),
  connection,
  syncPeriodMs: z.number().int().min(5_000).max(900_000),
  plannedFromMs: z.number().exactOptional(),
  partitions: z
    .array(z.object({ name: z.string().transform(partitionName), namespaces: z.array(z.string().transform(namespace)).exactOptional() }))
    .min(1),
  paused: paused.exactOptional(),
  settings: z.object({
    tolerance: z.number(),
    downscaleStabilizationMs: z.number(),
    cpuInitializationPeriodMs: z.number(),
    initialReadinessDelayMs: z.number(),
  }),
  removing: z.object({ by: z.string(), atMs: z.number() }).exactOptional(),
  version: z.number().int().positive(),
});

export const fleetSchema = z.object({ frozen: z.object({ by: z.string(), atMs: z.number(), reason: z.string() }).exactOptional() });
