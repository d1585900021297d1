import { podAutoscalerDefinition } from "../../lib/rules/manifest/crd/definition.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { until } from "./scene.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const POD_AUTOSCALERS = "/apis/tidemark.dev/v1";

/** A kind without its controller, and without its schema: any field is kept. */
const definition = (
  group: string,
  kind: string,
  more: { readonly shortNames?: readonly string[]; readonly subresources?: object } = {},
) => {
  const singular = kind.toLowerCase();
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        plural: `${singular}s`,
        singular,
        kind,
        ...(more.shortNames && { shortNames: more.shortNames }),
      },
      versions: [
        {
          name: "v1alpha1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
          ...(more.subresources && { subresources: more.subresources }),
        },
      ],
    },
  };
};

const STATUS = { status: {} };

/** The kind of Tidemark as `tidemark crd` prints it, and the kinds of Datadog and of KEDA. */
const KINDS = [
  { path: `${POD_AUTOSCALERS}/podautoscalers`, definition: podAutoscalerDefinition() },
  {
    path: "/apis/datadoghq.com/v1alpha1/watermarkpodautoscalers",
    definition: definition("datadoghq.com", "WatermarkPodAutoscaler", {
      shortNames: ["wpa"],
      subresources: STATUS,
    }),
  },
  {
    path: "/apis/datadoghq.com/v1alpha1/datadogpodautoscalers",
    definition: definition("datadoghq.com", "DatadogPodAutoscaler", { subresources: STATUS }),
  },
  {
    path: "/apis/keda.sh/v1alpha1/scaledobjects",
    definition: definition("keda.sh", "ScaledObject", { subresources: STATUS }),
  },
  // Its status is written with the object.
  {
    path: "/apis/datadoghq.com/v1alpha1/datadogmonitors",
    definition: definition("datadoghq.com", "DatadogMonitor"),
  },
];

/**
 * Makes the kinds of autoscalers known to the cluster that all files share, before the first of
 * them begins.
 */
export const installDefinitions = async ({ call }: Pick<ControlPlane, "call">): Promise<void> => {
  for (const kind of KINDS) {
    const { status, body } = await call("POST", DEFINITIONS, kind.definition);
    if (status !== 201) throw new Error(`the definition was refused: ${body}`);
  }
  for (const { path } of KINDS)
    await until(`${path} is served`, async () => (await call("GET", path)).status === 200);
};
