import * as z from "zod";
import { parseQuantity } from "../../model/quantity.ts";

/** The schema of `datadoghq.com/v1alpha1 WatermarkPodAutoscaler`, before defaulting (watermark.md 1.1). */

const MAX_I32 = 2_147_483_647;
const count = (least: number) => z.number().int().min(least).max(MAX_I32);

/** Integers and texts, as the API server takes them; a bare fraction is taken as well, because people write `tolerance: 0.01`. */
const quantity = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine((text) => parseQuantity(text) !== undefined, { error: 'must be a quantity such as "0.1", 100m or 5k' });

const selector = z.object({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() })).optional(),
});

const marks = { highWatermark: quantity.optional(), lowWatermark: quantity.optional() };

const tls = z.object({
  caFile: z.string().optional(),
  certFile: z.string().optional(),
  keyFile: z.string().optional(),
  serverName: z.string().optional(),
  insecureSkipVerify: z.boolean().optional(),
  minVersion: z.string().optional(),
  maxVersion: z.string().optional(),
});

export const watermarkSpecShape = z.object({
  scaleTargetRef: z
    .object({ kind: z.string().default(""), name: z.string().default(""), apiVersion: z.string().default("") })
    .default({ kind: "", name: "", apiVersion: "" }),
  metrics: z
    .array(
      z.object({
        type: z.string(),
        external: z.object({ metricName: z.string(), metricSelector: selector.optional(), ...marks }).optional(),
        resource: z.object({ name: z.string(), metricSelector: selector.optional(), ...marks }).optional(),
      }),
    )
    .default([]),
  recommender: z
    .object({
      url: z.string(),
      targetType: z.string().default(""),
      settings: z.record(z.string(), z.string()).default({}),
      ...marks,
      tlsConfig: tls.optional(),
    })
    .optional(),
  minReplicas: count(0).optional(),
  maxReplicas: count(0).default(0),
  algorithm: z.string().default(""),
  tolerance: quantity.optional(),
  scaleUpLimitFactor: quantity.optional(),
  scaleDownLimitFactor: quantity.optional(),
  upscaleForbiddenWindowSeconds: count(0).default(0),
  downscaleForbiddenWindowSeconds: count(0).default(0),
  upscaleDelayAboveWatermarkSeconds: count(0).default(0),
  downscaleDelayBelowWatermarkSeconds: count(0).default(0),
  replicaScalingAbsoluteModulo: count(0).optional(),
  convergeTowardsWatermark: z.string().default(""),
  dryRun: z.boolean().default(false),
  tolerateZero: z.boolean().default(false),
  minAvailableReplicaPercentage: z.number().int().max(100).default(0),
  readinessDelaySeconds: count(0).default(0),
});

export type WatermarkManifestSpec = z.output<typeof watermarkSpecShape>;
export type WatermarkManifestMetric = WatermarkManifestSpec["metrics"][number];
