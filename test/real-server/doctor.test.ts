import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { inside } from "../cli/inside.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { sessionOn } from "./person.ts";
import { type Scene, until } from "./scene.ts";

const MERGE = "application/merge-patch+json";
const VERTICALS = "/apis/autoscaling.k8s.io/v1";

/** The kind of the Vertical Pod Autoscaler, without its schema. */
const VERTICAL_DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "verticalpodautoscalers.autoscaling.k8s.io",
    annotations: {
      "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/63797",
    },
  },
  spec: {
    group: "autoscaling.k8s.io",
    scope: "Namespaced",
    names: {
      plural: "verticalpodautoscalers",
      singular: "verticalpodautoscaler",
      kind: "VerticalPodAutoscaler",
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    ],
  },
};

/** Gives the rights that the command prints, as `kubectl apply -f -` does. */
const giveRights = async ({ admin, namespace }: Scene): Promise<void> => {
  const { out } = await inside(["cluster", "rbac", "--doctor", "--namespaces", namespace]);
  for (const document of parseAllDocuments(out)) {
    const object: { readonly kind: string } = document.toJS();
    const plural = `${object.kind.toLowerCase()}s`;
    await admin(
      "POST",
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${plural}`,
      object,
    );
  }
};

/** Sets a quota of pods. Its controller, which counts them, does not run here. */
const setQuota = async ({ admin, namespace }: Scene, hard: number, used: number): Promise<void> => {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const amounts = { hard: { pods: String(hard) } };
  await admin("PATCH", `${path}/team`, { spec: amounts }, MERGE).catch(() =>
    admin("POST", path, { metadata: { name: "team" }, spec: amounts }),
  );
  const status = { ...amounts, used: { pods: String(used) } };
  await admin("PATCH", `${path}/team/status`, { status }, MERGE);
};

onServer("tidemark doctor --ask-cluster", (newScene) => {
  it("names each right that is missing, and with the rights that the command prints what acts on the pods too", async () => {
    const scene = await newScene("doctor");
    const { admin, namespace } = scene;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    const { spec, ...head } = MANIFESTS.hpa(web, "cpu");
    await scene.apply({ ...head, spec: { ...spec, minReplicas: 2, maxReplicas: 6 } });
    const doctor = () =>
      inside(["doctor", `${namespace}/web`, "--ask-cluster"], { open: sessionOn(scene) });

    const without = await doctor();
    expect(without).toMatchObject({ code: 0, err: "" });
    for (const kind of [
      "verticalpodautoscalers.autoscaling.k8s.io",
      "poddisruptionbudgets.policy",
      "resourcequotas",
    ])
      expect(without.out).toMatch(
        new RegExp(
          `^  not looked at: ${kind}: .*forbidden.* \\(tidemark cluster rbac --doctor \\| kubectl apply -f -\\)$`,
          "m",
        ),
      );

    await giveRights(scene);
    await until("the rights are known", async () => !(await doctor()).out.includes("forbidden"));
    // No VerticalPodAutoscaler is served, which is no finding.
    expect((await doctor()).out).toBe("1 autoscaler examined: nothing found\n");

    await admin(
      "POST",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      VERTICAL_DEFINITION,
    );
    const verticals = `${VERTICALS}/namespaces/${namespace}/verticalpodautoscalers`;
    await until("the kind is served", () =>
      admin("POST", verticals, {
        apiVersion: "autoscaling.k8s.io/v1",
        kind: "VerticalPodAutoscaler",
        metadata: { name: "sizes" },
        spec: {
          targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          updatePolicy: { updateMode: "Recreate" },
        },
      }).then(
        () => true,
        () => false,
      ),
    );
    await admin("POST", `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`, {
      metadata: { name: "keep" },
      spec: { minAvailable: "100%", selector: { matchLabels: { app: "web" } } },
    });
    await setQuota(scene, 2, 2);
    expect(await doctor()).toEqual({
      code: 1,
      err: "",
      out: `real/${namespace}/web
  vertical-autoscaler: VerticalPodAutoscaler "sizes" (updateMode Recreate) sets the requests of cpu of Deployment "web", and cpu is measured in percent of them
    costs:  each request that it changes moves the percentage, and so the count, without a change of the load
    change: VerticalPodAutoscaler "sizes": spec.resourcePolicy.containerPolicies.controlledResources (leave out cpu, or measure an amount for each pod (averageValue) in place of a percentage)
  quota-refuses: ResourceQuota "team" has 2 of 2 of pods in use, and one more pod does not fit; the count is 2, and maxReplicas 6
    costs:  a scale up is accepted and its pods are refused: the load stays on the pods that are there
    change: ResourceQuota "team": spec.hard["pods"] (raise it, or free what other workloads hold)
  disruption-budget: PodDisruptionBudget "keep" has minAvailable 100%, and Deployment "web" has 2 pods at its minimum: none of them may be evicted
    costs:  a drain of a node waits until there are more pods; scaling down is not refused
    change: PodDisruptionBudget "keep": spec.minAvailable (write a value that lets one pod go at the minimum)
1 autoscaler examined: 2 problems, 1 advice
`,
    });

    // What the finding says is so: the API server accepts the count, and refuses the pod.
    await scene.metrics({ [`cpu ${namespace}/web`]: 300 });
    await scene.sync();
    expect(await scene.replicas(web)).toBe(3);
    await until("a sync has read that the pod is refused", async () => {
      scene.later(15_000);
      await scene.sync();
      return (await doctor()).out.includes("  pods-refused: ");
    });

    await setQuota(scene, 5, 2);
    await scene.running(web, 3);
    const { out } = await doctor();
    expect(out).toContain(
      'quota-below-maximum: ResourceQuota "team" has 3 of 5 of pods in use: 2 more pods fit, and maxReplicas 6 is 3 above the count of 3',
    );
    expect(out).not.toContain("quota-refuses");
  });
});
