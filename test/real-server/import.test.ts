import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, inject, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { inside } from "../cli/inside.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { personKubeconfig, sessionOn } from "./person.ts";
import type { Scene } from "./scene.ts";

const fill = async ({ admin, namespace, make }: Scene) => {
  const web = await make("Deployment", "web");
  const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
  await admin("POST", hpas, MANIFESTS.hpa(web, "cpu"));
  const jobs = { kind: "Deployment", apiVersion: "apps/v1", name: "jobs" } as const;
  const scaled = await admin(
    "POST",
    `/apis/keda.sh/v1alpha1/namespaces/${namespace}/scaledobjects`,
    {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: { name: "jobs" },
      spec: {
        scaleTargetRef: { name: "jobs" },
        minReplicaCount: 1,
        triggers: [{ type: "kafka", metadata: { topic: "orders", lagThreshold: "5" } }],
      },
    },
  );
  const { uid } = scaled["metadata"] as { readonly uid: string };
  const ownerReferences = [
    { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "jobs", uid },
  ];
  await admin("POST", hpas, {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "keda-hpa-jobs", ownerReferences },
    spec: {
      scaleTargetRef: jobs,
      minReplicas: 1,
      maxReplicas: 100,
      metrics: [
        {
          type: "External",
          external: {
            metric: { name: "s0-kafka-orders" },
            target: { type: "AverageValue", averageValue: "5" },
          },
        },
      ],
    },
  });
  const watermark = MANIFESTS.watermark({ ...web, name: "api" }, "external");
  await admin(
    "POST",
    `/apis/datadoghq.com/v1alpha1/namespaces/${namespace}/watermarkpodautoscalers`,
    watermark,
  );
};

onServer("tidemark import", (newScene) => {
  it("prints every autoscaler of a namespace as a manifest that apply takes, KEDA's own HPA not again, and says what works in another way", async () => {
    const scene = await newScene("import");
    const { namespace } = scene;
    await fill(scene);
    const person = personKubeconfig(scene);
    const printed = await inside(["import", "--kubeconfig", person, "-n", namespace]);
    const documents = parseAllDocuments(printed.out).map((document) => document.toJS());
    expect(documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "WatermarkPodAutoscaler api",
      "HorizontalPodAutoscaler jobs",
      "HorizontalPodAutoscaler web",
    ]);
    for (const { metadata, status } of documents)
      expect([Object.keys(metadata), status]).toEqual([["name", "namespace"], undefined]);
    expect(printed.err).toContain('note: ScaledObject "jobs" in namespace');
    expect(printed.code).toBe(0);
    // What is printed can be applied as it is, and --apply does both at once.
    const open = sessionOn(scene);
    const dry = await inside(["apply", "-f", "-", "--cluster", "real", "--dry-run"], {
      stdin: printed.out,
      open,
    });
    expect([dry.code, dry.err]).toEqual([0, ""]);
    const stored = await inside(
      [
        "import",
        "--kubeconfig",
        person,
        "-n",
        namespace,
        "--cluster",
        "real",
        "--apply",
        "--as",
        "native",
      ],
      { open },
    );
    expect(stored.out.trim().split("\n").sort()).toEqual(
      ["api", "jobs", "web"].map(
        (name) => `PodAutoscaler "${name}" in namespace "${namespace}" of cluster "real" created`,
      ),
    );
  });

  it("carries the hours of kube-downscaler over as a schedule, which the annotated HPA becomes a PodAutoscaler for", async () => {
    const scene = await newScene("import");
    const { namespace, admin } = scene;
    const hpa = MANIFESTS.hpa(await scene.make("Deployment", "web"), "cpu") as {
      readonly metadata: object;
    };
    const annotations = { "downscaler/uptime": "Mon-Fri 08:00-18:00 Europe/Berlin" };
    await admin("POST", `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, {
      ...hpa,
      metadata: { ...hpa.metadata, annotations },
    });
    const printed = await inside([
      "import",
      "--kubeconfig",
      personKubeconfig(scene),
      "-n",
      namespace,
      "-o",
      "json",
    ]);
    const [document] = JSON.parse(printed.out).items;
    expect(document).toMatchObject({ kind: "PodAutoscaler", spec: { rules: "hpa" } });
    expect(document.spec.schedule[0]).toMatchObject({
      name: "downtime",
      timeZone: "Europe/Berlin",
      from: "18:00",
      to: "08:00",
      minReplicas: 1,
    });
    expect(printed.err).toContain("it keeps 1 pod, and not 0");
    expect(printed.code).toBe(0);
  });

  it("names what may not be listed, prints the rest and ends with 1", async () => {
    const scene = await newScene("import");
    const { namespace, admin } = scene;
    await admin(
      "POST",
      `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`,
      MANIFESTS.hpa(await scene.make("Deployment", "web"), "cpu"),
    );
    // The credentials of Tidemark may list in this cluster; an unknown token may not.
    const { url, ca } = inject("cluster");
    const stranger = join(dirname(scene.kubeconfig), "stranger");
    writeFileSync(stranger, kubeconfigText({ url, ca }, { token: "unknown" }), { mode: 0o600 });
    const refused = await inside(["import", "--kubeconfig", stranger, "-n", namespace]);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain("error: Cannot list horizontalpodautoscalers.autoscaling: ");
    const own = await inside(["import", "--cluster", "real", "-n", namespace, "-o", "json"], {
      open: sessionOn(scene),
    });
    expect(JSON.parse(own.out)).toMatchObject({
      kind: "List",
      items: [{ metadata: { name: "web" } }],
      findings: [],
    });
  });
});
