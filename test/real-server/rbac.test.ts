import { beforeAll, expect, inject, it } from "vitest";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import { checkConnection } from "../../lib/stack/cluster/check/check-connection.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { MANIFESTS, type Workload } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { pointsOf, RULES, type Rule, TABLE, wordsOf } from "./rbac-rules.ts";
import { newScene as openScene, type Scene, until } from "./scene.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MONITORED = { "wpa.datadoghq.com/lifecycle-control.enabled": "true" };

/**
 * Nine workloads of two pods whose loads ask for three. Four have another autoscaler, one a
 * monitor.
 */
interface Stage {
  readonly scene: Scene;
  readonly workloads: Readonly<Record<string, Workload>>;
  readonly manifests: readonly object[];
}

const NAMES = [
  "cpu",
  "custom",
  "external",
  "controller",
  "hpa",
  "keda",
  "wpa",
  "dpa",
  "gated",
] as const;

const stageOf = async (scene: Scene): Promise<Stage> => {
  const { namespace: ns, admin } = scene;
  const made = NAMES.map(
    async (name) =>
      [
        name,
        await scene.make(name === "controller" ? "ReplicationController" : "Deployment", name, 2),
      ] as const,
  );
  const workloads = Object.fromEntries(await Promise.all(made));
  const of = (name: (typeof NAMES)[number]): Workload => workloads[name] as Workload;
  for (const name of NAMES) await scene.metrics({ [`external ${ns}/load-${name}`]: 30 });
  await scene.metrics({ [`cpu ${ns}/cpu`]: 300, [`pods ${ns}/custom/rps`]: 30 });
  const create = async (path: string, object: object): Promise<void> =>
    until(`${path} is served`, () =>
      admin("POST", path, object).then(
        () => true,
        () => false,
      ),
    );
  // Its metric is missing, so that it writes nothing.
  await create(
    `/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`,
    MANIFESTS.hpa(of("hpa"), "pods"),
  );
  const scaledObject = {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { name: "keda" },
    spec: { scaleTargetRef: { name: "keda" } },
  };
  await create(`/apis/keda.sh/v1alpha1/namespaces/${ns}/scaledobjects`, scaledObject);
  await create(
    `/apis/datadoghq.com/v1alpha1/namespaces/${ns}/watermarkpodautoscalers`,
    MANIFESTS.watermark(of("wpa"), "external"),
  );
  await create(`/apis/datadoghq.com/v1alpha1/namespaces/${ns}/datadogpodautoscalers`, {
    apiVersion: "datadoghq.com/v1alpha1",
    kind: "DatadogPodAutoscaler",
    metadata: { name: "dpa" },
    spec: { targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "dpa" } },
  });
  const monitor = {
    apiVersion: "datadoghq.com/v1alpha1",
    kind: "DatadogMonitor",
    metadata: { name: "gated" },
    status: { monitorState: "OK" },
  };
  await create(`/apis/datadoghq.com/v1alpha1/namespaces/${ns}/datadogmonitors`, monitor);
  const gated = MANIFESTS.watermark(of("gated"), "external");
  const manifests = [
    MANIFESTS.hpa(of("cpu"), "cpu"),
    MANIFESTS.hpa(of("custom"), "pods"),
    ...(["external", "controller", "hpa", "keda", "wpa", "dpa"] as const).map((name) =>
      MANIFESTS.hpa(of(name), "external"),
    ),
    { ...gated, metadata: { ...gated.metadata, annotations: MONITORED } },
  ];
  return { scene, workloads, manifests };
};

/** A token of a service account with these rules alone. */
const tokenWith = async (
  { admin, namespace }: Scene,
  name: string,
  rules: readonly Rule[],
): Promise<string> => {
  await admin("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  await admin("POST", `${RBAC}/clusterroles`, {
    metadata: { name: `${namespace}-${name}` },
    rules,
  });
  const roleRef = {
    apiGroup: "rbac.authorization.k8s.io",
    kind: "ClusterRole",
    name: `${namespace}-${name}`,
  };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  await admin("POST", `${RBAC}/clusterrolebindings`, {
    metadata: { name: roleRef.name },
    roleRef,
    subjects,
  });
  await untilBound(admin, `system:serviceaccount:${namespace}:${name}`, rules);
  const { status } = await admin(
    "POST",
    `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    { spec: { expirationSeconds: 3_600 } },
  );
  return (status as { readonly token: string }).token;
};

/** The authorizer knows a new role a moment after it was made. */
const untilBound = async (
  admin: Scene["admin"],
  user: string,
  [first]: readonly Rule[],
): Promise<void> => {
  const [resource, subresource] = (first?.resources[0] ?? "").split("/");
  const resourceAttributes = {
    group: first?.apiGroups[0],
    resource,
    subresource,
    verb: first?.verbs[0],
  };
  await until(`${user} has its rights`, async () => {
    const { status } = await admin("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      spec: { user, resourceAttributes },
    });
    return (status as { readonly allowed: boolean }).allowed;
  });
};

interface Outcome {
  /** By autoscaler: `applied`, `refused`, or the reason of a hold. */
  readonly shows: Readonly<Record<string, string>>;
  readonly notices: readonly string[];
  readonly calls: number;
  /** The points of `tidemark cluster check` that are not right. */
  readonly troubles: readonly string[];
}

let roles = 0;

/** One sync of a new Tidemark with these rules, from two pods each. */
const syncWith = async (
  { scene, workloads, manifests }: Stage,
  rules: readonly Rule[],
): Promise<Outcome> => {
  const { namespace, admin } = scene;
  for (const { plural, apiVersion, name } of Object.values(workloads)) {
    const base = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
    await admin(
      "PATCH",
      `${base}/namespaces/${namespace}/${plural}/${name}/scale`,
      { spec: { replicas: 2 } },
      "application/merge-patch+json",
    );
  }
  for (const workload of Object.values(workloads)) await scene.running(workload, 2);
  const token = await tokenWith(scene, `role-${++roles}`, rules);
  const restricted = await openScene("rbac", { namespace, token });
  try {
    await restricted.apply(...manifests);
    const { calls } = await restricted.sync();
    const shows: Record<string, string> = {};
    for (const name of NAMES) {
      const { events, decision } = await restricted.service.describe({ name });
      shows[name] = events[0]?.outcome ?? decision?.reason ?? "nothing";
    }
    const connection = { kind: "kubeconfig", path: restricted.kubeconfig } as const;
    const { checks } = await checkConnection(
      { name: clusterName("real"), connection },
      { clock: Date.now, trusted: ON_THIS_MACHINE },
    );
    const troubles = checks
      .filter(({ result }) => result === "warning" || result === "failed")
      .map(({ check }) => check);
    return { shows, notices: restricted.notices, calls, troubles };
  } finally {
    await restricted.close();
  }
};

onServer("the rights of infra/cluster-rbac.yaml on a real API server", (newScene) => {
  let stage: Stage;
  let whole: Outcome;
  beforeAll(async () => {
    if (inject("cluster").missing !== undefined) return;
    stage = await stageOf(await newScene("rbac"));
    whole = await syncWith(stage, RULES);
  });

  it("are enough: everything that no other controller or monitor holds is scaled", () => {
    expect([whole.notices, whole.troubles]).toEqual([[], []]);
    expect(whole.shows).toEqual({
      ...Object.fromEntries(
        ["cpu", "custom", "external", "controller", "gated"].map((name) => [name, "applied"]),
      ),
      ...Object.fromEntries(["hpa", "keda", "wpa", "dpa"].map((name) => [name, "RivalController"])),
    });
  });

  it("are each a row of the table in docs/clusters.md", () => {
    expect(TABLE.map(({ without }) => without.toSorted())).toEqual(
      RULES.map((rule) => wordsOf(rule).toSorted()),
    );
  });

  // The kinds that hold specs are read where the cluster has --specs cluster alone, which this one
  // has not (test/sync/specs shows a LIST that is refused).
  it.each(
    RULES.filter(({ apiGroups }) => !apiGroups.includes("tidemark.dev")).map(
      (rule) => [wordsOf(rule).join(" "), rule] as const,
    ),
  )(
    "without %s what the table says happens, and nothing else; cluster check finds it",
    async (_words, rule) => {
      const { shows, notices, troubles } = await syncWith(
        stage,
        RULES.filter((other) => other !== rule),
      );
      const changed = NAMES.filter((name) => shows[name] !== whole.shows[name]);
      const row = TABLE[RULES.indexOf(rule)];
      expect(new Set(changed.map((name) => shows[name]))).toEqual(new Set(row?.shows));
      const unseen = row?.shows.includes("applied");
      expect(notices).toHaveLength(unseen ? 1 : 0);
      expect(troubles.toSorted()).toEqual(pointsOf(rule).toSorted());
    },
  );

  it.each([
    [
      "get of the objects alone",
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"] },
    ],
    [
      "get of their scales alone",
      { apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["get"] },
    ],
  ] satisfies readonly (readonly [string, Rule])[])(
    "read Deployments one by one with %s: more calls, the same decisions",
    async (_what, instead) => {
      const { shows, calls } = await syncWith(stage, [
        instead,
        ...RULES.filter(({ resources }) => !resources.includes("deployments")),
      ]);
      expect(shows).toEqual(whole.shows);
      expect(calls).toBeGreaterThan(whole.calls);
    },
  );
});
