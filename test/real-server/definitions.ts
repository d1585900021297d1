import { podAutoscalerDefinition } from "../../lib/manifest/crd/definition.ts";
import type { ApiCalls } from "../control-plane/api-calls.ts";
import { until } from "./scene.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const POD_AUTOSCALERS = "/apis/tidemark.dev/v1";

/** Makes the kind PodAutoscaler known to the cluster that all files share, as `tidemark crd | kubectl apply -f -` does. */
export const installPodAutoscalers = async ({ call }: Pick<ApiCalls, "call">): Promise<void> => {
  const { status, body } = await call("POST", DEFINITIONS, podAutoscalerDefinition());
  if (status !== 201 && status !== 409) throw new Error(`the definition was refused: ${body}`);
  await until("PodAutoscalers are served", async () => (await call("GET", `${POD_AUTOSCALERS}/podautoscalers`)).status === 200);
};

/** The kind WatermarkPodAutoscaler without its controller, and without its schema: any field is kept. */
const WATERMARK_DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "watermarkpodautoscalers.datadoghq.com" },
  spec: {
    group: "datadoghq.com",
    scope: "Namespaced",
    names: { plural: "watermarkpodautoscalers", singular: "watermarkpodautoscaler", kind: "WatermarkPodAutoscaler", shortNames: ["wpa"] },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        subresources: { status: {} },
      },
    ],
  },
};

/** Makes the kind WatermarkPodAutoscaler known to the cluster that all files share. */
export const installWatermarkPodAutoscalers = async ({ call }: Pick<ApiCalls, "call">): Promise<void> => {
  const { status, body } = await call("POST", DEFINITIONS, WATERMARK_DEFINITION);
  if (status !== 201 && status !== 409) throw new Error(`the definition was refused: ${body}`);
  await until(
    "WatermarkPodAutoscalers are served",
    async () => (await call("GET", "/apis/datadoghq.com/v1alpha1/watermarkpodautoscalers")).status === 200,
  );
};
