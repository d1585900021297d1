import { importObjects } from "../../lib/rules/manifest/import/import-objects.ts";
import { LOAD_BEFORE, MESSAGES, QUERY } from "./load.ts";

export const REGION = "eu-central-1";
export const ACCOUNT = "123456789012";
export const QUEUE = "orders";
/** The load that one pod takes. */
export const PER_POD = 20;
export const WORKLOADS = ["prometheus", "sqs"] as const;
export type WorkloadName = (typeof WORKLOADS)[number];

/**
 * Of the defaults of KEDA and the HPA, in seconds of the hour; a run that plays it faster divides
 * them.
 */
const SAMPLE_SECONDS = 15;
const STABILIZATION_SECONDS = 300;
const COOLDOWN_SECONDS = 300;
const POLLING_SECONDS = 30;
const MAX_REPLICAS = 100;

const triggerOf = (name: WorkloadName, prometheusUrl: string): object =>
  name === "prometheus"
    ? {
        type: "prometheus",
        metadata: {
          serverAddress: prometheusUrl,
          query: QUERY,
          threshold: String(PER_POD),
          activationThreshold: "5",
        },
      }
    : {
        type: "aws-sqs-queue",
        metadata: {
          queueURL: `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${QUEUE}`,
          queueLength: String(PER_POD * MESSAGES),
          activationQueueLength: "1",
          awsRegion: REGION,
          identityOwner: "operator",
        },
      };

/**
 * The ScaledObject of a workload, with the behaviour that an HPA has by default and every time
 * divided by the speed of the run.
 */
export const scaledObjectOf = (
  name: WorkloadName,
  { stepSeconds, prometheusUrl }: { readonly stepSeconds: number; readonly prometheusUrl: string },
) => {
  const seconds = (ofTheHour: number): number =>
    Math.max(1, Math.round((ofTheHour * stepSeconds) / SAMPLE_SECONDS));
  const periodSeconds = seconds(SAMPLE_SECONDS);
  return {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { name },
    spec: {
      scaleTargetRef: { name },
      pollingInterval: seconds(POLLING_SECONDS),
      cooldownPeriod: seconds(COOLDOWN_SECONDS),
      minReplicaCount: 0,
      maxReplicaCount: MAX_REPLICAS,
      advanced: {
        horizontalPodAutoscalerConfig: {
          behavior: {
            scaleUp: {
              stabilizationWindowSeconds: 0,
              selectPolicy: "Max",
              policies: [
                { type: "Pods", value: 4, periodSeconds },
                { type: "Percent", value: 100, periodSeconds },
              ],
            },
            scaleDown: {
              stabilizationWindowSeconds: seconds(STABILIZATION_SECONDS),
              policies: [{ type: "Percent", value: 100, periodSeconds }],
            },
          },
        },
      },
      triggers: [triggerOf(name, prometheusUrl)],
    },
  };
};

/** The PodAutoscalers that `convert` makes of ScaledObjects. Throws where one is refused. */
export const convertedOf = (
  scaledObjects: readonly object[],
  namespace: string,
): readonly object[] => {
  const raw = scaledObjects.map((object) => ({
    ...object,
    metadata: { ...(object as { readonly metadata: object }).metadata, namespace },
  }));
  const named = { prometheus: "main", "aws-sqs-queue": "queues" };
  const sources = { named, discovered: false };
  const { manifests, ...rest } = importObjects(
    { hpas: [], watermarks: [], scaledObjects: raw, sources },
    "native",
  );
  if (manifests.length !== scaledObjects.length)
    throw new Error(`a ScaledObject was refused: ${JSON.stringify(rest)}`);
  return manifests as readonly object[];
};

export const STARTING_PODS = LOAD_BEFORE / PER_POD;
