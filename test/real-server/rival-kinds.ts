import { setTimeout as wait } from "node:timers/promises";
import type { Scene } from "./scene.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LOOK_AGAIN_MS = 50;
const LOOKS_MAX = 200;

const definition = (group: string, plural: string, kind: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural, singular: kind.toLowerCase(), kind },
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
});

/** The kinds of KEDA and of the Watermark Pod Autoscaler, without their controllers. */
const KINDS = [
  definition("keda.sh", "scaledobjects", "ScaledObject"),
  definition("datadoghq.com", "watermarkpodautoscalers", "WatermarkPodAutoscaler"),
];

/** Makes the kinds known, waits until they are served, and gives what takes them away again. */
export const installRivalKinds = async (admin: Scene["admin"]): Promise<() => Promise<void>> => {
  for (const kind of KINDS) await admin("POST", DEFINITIONS, kind);
  for (const { spec } of KINDS) await served(admin, `/apis/${spec.group}/v1alpha1/${spec.names.plural}`);
  return async () => {
    for (const { metadata } of KINDS) await admin("DELETE", `${DEFINITIONS}/${metadata.name}`);
  };
};

const served = async (admin: Scene["admin"], path: string): Promise<void> => {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const answered = await admin("GET", path).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await wait(LOOK_AGAIN_MS);
  }
  throw new Error(`${path} is not served`);
};
