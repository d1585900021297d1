import { setTimeout as wait } from "node:timers/promises";
import { expect, inject, it } from "vitest";
import { inside } from "../cli/inside.ts";
import { watchReplicas } from "../control-plane/watch.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { personKubeconfig, sessionOn } from "./person.ts";
import { type Scene, until } from "./scene.ts";

const BETWEEN_SYNCS_MS = 300;
/**
 * The period of the rates that an HPA has by default: for so long its last scale counts against
 * those of Tidemark.
 */
const RATE_PERIOD_MS = 15_000;

/**
 * Syncs again and again while the work goes on, and notes every count of the workloads that the API
 * server tells of.
 */
const whileSyncing = async <Result>(
  scene: Scene,
  work: () => Promise<Result>,
): Promise<readonly [Result, ReadonlySet<number>]> => {
  const { url, ca, adminToken: token } = inject("cluster");
  const seen = new Set<number>();
  const watch = watchReplicas(
    { url, ca, token },
    `/apis/apps/v1/namespaces/${scene.namespace}/deployments`,
    (_name, replicas) => seen.add(replicas),
  );
  await watch.ready;
  let over = false;
  const syncing = (async () => {
    while (!over) {
      await scene.sync();
      await wait(BETWEEN_SYNCS_MS);
    }
  })();
  try {
    return [await work(), seen];
  } finally {
    over = true;
    await syncing;
    watch.stop();
  }
};

interface HpaMetadata {
  readonly uid: string;
  readonly annotations?: object;
}

const besideHpa = async (
  scene: Scene,
  name: string,
  change: (manifest: ReturnType<typeof MANIFESTS.hpa>) => object = (manifest) => manifest,
) => {
  const { namespace, admin } = scene;
  const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
  const workload = await scene.make("Deployment", name, 2);
  await scene.running(workload, 2);
  await scene.metrics({ [`cpu ${namespace}/${name}`]: 400 });
  const manifest = MANIFESTS.hpa(workload, "cpu");
  const made = await admin("POST", hpas, {
    ...manifest,
    metadata: { name, labels: { team: "shop" }, annotations: { note: "by hand" } },
  });
  await scene.apply(change(manifest));
  await scene.running(workload, 4);
  await until(
    "the HPA wants four",
    async () =>
      ((await admin("GET", `${hpas}/${name}`))["status"] as { readonly desiredReplicas?: number })
        .desiredReplicas === 4,
  );
  await scene.sync();
  const hpa = async (): Promise<HpaMetadata | undefined> =>
    admin("GET", `${hpas}/${name}`).then(
      ({ metadata }) => metadata as HpaMetadata,
      () => undefined,
    );
  return { workload, hpas, hpa, uid: (made["metadata"] as { readonly uid: string }).uid };
};

/** The lines of `tidemark writers` about one namespace, from the audit log of the API server. */
const writersIn = async (namespace: string, history: Scene) => {
  const words = [
    "writers",
    "--audit-log",
    inject("cluster").auditLog,
    "-n",
    namespace,
    "--cluster",
    "real",
  ];
  return inside(words, { open: sessionOn(history) });
};

onServer("tidemark takeover and handback", (newScene) => {
  it("switch from the HPA and back to it, the count never moves, and the audit log shows one writer after the other", {
    timeout: 120_000,
  }, async () => {
    const scene = await newScene("takeover");
    const { namespace } = scene;
    const { workload, hpa, uid } = await besideHpa(scene, "web");
    const person = personKubeconfig(scene);
    const open = sessionOn(scene);
    const [taken, during] = await whileSyncing(scene, () =>
      inside(["takeover", "web", "--kubeconfig", person], { open }),
    );
    expect(taken).toEqual({
      code: 0,
      out: [
        `"real/${namespace}/web": HorizontalPodAutoscaler "web" deleted; the next 2 syncs are watched\n`,
        `"real/${namespace}/web" taken over at 4 replicas: HorizontalPodAutoscaler "web" deleted, state active\n`,
      ].join(""),
      err: "",
    });
    expect([...during]).toEqual([4]);
    expect(await hpa()).toBeUndefined();
    const changes = await Array.fromAsync(scene.service.changes({ name: "web" }));
    expect(changes.at(-1)).toMatchObject({
      verb: "takeover",
      made: true,
      by: "test",
      rival: { kind: "HorizontalPodAutoscaler", metadata: { labels: { team: "shop" } } },
    });
    // From now on Tidemark scales.
    await scene.metrics({ [`cpu ${namespace}/web`]: 600 });
    await until(
      "Tidemark scales as soon as its limits allow it beside the last scale of the HPA",
      async () => {
        await scene.sync();
        return (await scene.replicas(workload)) === 6;
      },
    );
    await scene.running(workload, 6);
    const [back, after] = await whileSyncing(scene, () =>
      inside(["handback", "web", "--kubeconfig", person], { open }),
    );
    expect(back.err).toBe("");
    expect(back.out).toContain(
      `"real/${namespace}/web" handed back: HorizontalPodAutoscaler "web" made again`,
    );
    expect([...after]).toEqual([6]);
    const again = await hpa();
    expect([again?.uid === uid, again?.annotations]).toEqual([false, { note: "by hand" }]);
    await scene.metrics({ [`cpu ${namespace}/web`]: 800 });
    await scene.running(workload, 8);
    await scene.sync();
    expect((await scene.service.get({ name: "web" })).state).toBe("shadow");
    const { code, out, err } = await writersIn(namespace, scene);
    expect([code, err]).toEqual([0, ""]);
    // The controllers of this cluster have the user "admin".
    expect(out).toMatch(
      / admin -> tidemark-\S+ -> admin +\S+Z takeover by test, \S+Z handback by test$/m,
    );
    expect(out).toMatch(
      /^1 workload, [3-9] writes from .*: no workload had a second writer outside of a takeover or handback$/m,
    );
    // The same log without the history that explains it.
    const unexplained = await writersIn(namespace, await newScene("takeover"));
    expect([unexplained.code, unexplained.out.match(/NOT EXPLAINED/g)]).toEqual([
      1,
      ["NOT EXPLAINED", "NOT EXPLAINED"],
    ]);
    expect(unexplained.err).toContain(
      `1 of 1 workloads had a second writer without a takeover or handback: ${namespace}/web`,
    );
  });

  it("make the HPA again by themselves where the first syncs cannot scale, with the autoscaler paused", {
    timeout: 120_000,
  }, async () => {
    const scene = await newScene("takeover", {
      wrap: (client) => ({
        ...client,
        putScale: async () => ({
          kind: "refused",
          failure: { code: 403, reason: "Forbidden", message: "not for you" },
        }),
      }),
    });
    const { namespace } = scene;
    const { workload, hpa, uid } = await besideHpa(scene, "web");
    await wait(RATE_PERIOD_MS);
    // The load moves at once after the switch, so that Tidemark has something to write.
    const moved = (async () => {
      await until("the HPA is gone", async () => (await hpa()) === undefined);
      await scene.metrics({ [`cpu ${namespace}/web`]: 600 });
    })();
    const work = () =>
      inside(["takeover", "web", "--kubeconfig", personKubeconfig(scene)], {
        open: sessionOn(scene),
      });
    const [taken] = await whileSyncing(scene, work);
    await moved;
    expect([taken.code, taken.out]).toEqual([
      1,
      `"real/${namespace}/web": HorizontalPodAutoscaler "web" deleted; the next 2 syncs are watched\n`,
    ]);
    expect(taken.err).toContain(
      'its scale was refused: not for you; the autoscaler was paused, and HorizontalPodAutoscaler "web" was made again',
    );
    expect([undefined, uid]).not.toContain((await hpa())?.uid);
    expect(await scene.service.get({ name: "web" })).toMatchObject({ paused: { by: "test" } });
    await scene.running(workload, 6);
  });

  it("say that the HPA was made anew by what applies it from Git, and leave that one", {
    timeout: 120_000,
  }, async () => {
    const scene = await newScene("takeover");
    const { hpa, hpas, uid } = await besideHpa(scene, "web");
    const { spec } = await scene.admin("GET", `${hpas}/web`);
    const taking = inside(["takeover", "web", "--kubeconfig", personKubeconfig(scene)], {
      open: sessionOn(scene),
    });
    await until("the HPA is gone", async () => (await hpa()) === undefined);
    const made = await scene.admin("POST", hpas, {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web" },
      spec: spec as object,
    });
    await scene.sync();
    const { code, err } = await taking;
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        'something made HorizontalPodAutoscaler "web" anew, as Flux and Argo CD do',
      ),
    ]);
    expect(err).toContain(
      'the autoscaler was paused, and HorizontalPodAutoscaler "web" was made again',
    );
    const again = (await hpa())?.uid;
    expect([again === uid, again]).toEqual([
      false,
      (made["metadata"] as { readonly uid: string }).uid,
    ]);
  });

  it("leave a WatermarkPodAutoscaler and a ScaledObject in place, in a dry run and paused, and take them back", {
    timeout: 120_000,
  }, async () => {
    const scene = await newScene("takeover");
    const { namespace, admin } = scene;
    const web = await scene.make("Deployment", "web", 2);
    await scene.running(web, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 200 });
    const watermarks = `/apis/datadoghq.com/v1alpha1/namespaces/${namespace}/watermarkpodautoscalers`;
    await admin("POST", watermarks, MANIFESTS.watermark(web, "cpu"));
    await scene.apply(MANIFESTS.watermark(web, "cpu"));
    await scene.sync();
    const person = personKubeconfig(scene);
    const open = sessionOn(scene);
    const dryRun = async (): Promise<unknown> =>
      ((await admin("GET", `${watermarks}/web`))["spec"] as { readonly dryRun?: boolean }).dryRun;
    const [taken, during] = await whileSyncing(scene, () =>
      inside(["takeover", "-A", "-n", namespace, "--kubeconfig", person], { open }),
    );
    expect(taken.err).toBe("");
    expect(taken.out).toContain('WatermarkPodAutoscaler "web" set to a dry run');
    expect([await dryRun(), ...during]).toEqual([true, 2]);
    const all = ["handback", "-A", "-n", namespace, "--kubeconfig", person];
    const none = await inside([...all, "-l", "team=none"], { open });
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringContaining("none of the selected autoscalers has been taken over"),
    ]);
    const [back] = await whileSyncing(scene, () => inside(all, { open }));
    await scene.sync();
    expect([back.code, await dryRun(), (await scene.service.get({ name: "web" })).state]).toEqual([
      0,
      false,
      "shadow",
    ]);
    await admin("DELETE", `${watermarks}/web`);
    // KEDA itself is played: it says by its condition that it has paused.
    const scaled = `/apis/keda.sh/v1alpha1/namespaces/${namespace}/scaledobjects`;
    const spec = {
      scaleTargetRef: { name: "web" },
      triggers: [{ type: "cpu", metadata: { value: "100" } }],
    };
    await admin("POST", scaled, {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: { name: "web" },
      spec,
    });
    for (let syncs = 0; syncs < 4; syncs++) await scene.sync();
    const playing = (async () => {
      const annotated = async (): Promise<boolean> =>
        ((await admin("GET", `${scaled}/web`))["metadata"] as { readonly annotations?: object })
          .annotations !== undefined;
      await until("it is paused", annotated);
      await admin(
        "PATCH",
        `${scaled}/web/status`,
        { status: { conditions: [{ type: "Paused", status: "True" }] } },
        "application/merge-patch+json",
      );
    })();
    const [rested] = await whileSyncing(scene, () =>
      inside(["takeover", "web", "--kubeconfig", person], { open }),
    );
    await playing;
    expect(rested.out).toContain('ScaledObject "web" paused');
  });

  it("of many take those that agree, and leave those that do not agree in their time, in a table", {
    timeout: 120_000,
  }, async () => {
    const scene = await newScene("takeover");
    const { namespace } = scene;
    const web = await besideHpa(scene, "web");
    const api = await besideHpa(scene, "api", (manifest) => ({
      ...manifest,
      spec: { ...manifest.spec, minReplicas: 7 },
    }));
    const words = [
      "takeover",
      "-A",
      "-n",
      namespace,
      "--wait",
      "3s",
      "--kubeconfig",
      personKubeconfig(scene),
    ];
    const open = sessionOn(scene);
    const [{ code, out, err }] = await whileSyncing(scene, () => inside(words, { open }));
    const why = "Tidemark wants 7 replicas, and there are 4: the count would move at the switch";
    expect(code).toBe(1);
    expect(out).toMatch(new RegExp(`^real +${namespace} +web +taken$`, "m"));
    expect(out).toMatch(new RegExp(`^real +${namespace} +api +waiting +${why}$`, "m"));
    expect(err).toContain(`"real/${namespace}/api" waiting: ${why}`);
    expect(err).toContain(
      "Cannot take over 1 of 2: 1 waiting; the same takeover goes on with them",
    );
    expect([await web.hpa(), (await api.hpa())?.uid]).toEqual([undefined, api.uid]);
    // The same command goes on with what is left, and says so to programs.
    const [again] = await whileSyncing(scene, () => inside([...words, "-o", "json"], { open }));
    expect(JSON.parse(again.out)).toMatchObject({
      kind: "List",
      items: [{ namespace, name: "api", result: "waiting", message: why }],
    });
  });

  it("do nothing where the person may delete the HPA and not make it again", {
    timeout: 120_000,
  }, async () => {
    const scene = await newScene("takeover");
    const { namespace, admin } = scene;
    const { hpa, uid } = await besideHpa(scene, "web");
    const rules = [
      {
        apiGroups: ["autoscaling"],
        resources: ["horizontalpodautoscalers"],
        verbs: ["get", "list", "delete"],
      },
    ];
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const subjects = [{ kind: "User", name: "tidemark", apiGroup: "rbac.authorization.k8s.io" }];
    await admin("POST", `${rbac}/roles`, { metadata: { name: "may-delete" }, rules });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "may-delete" };
    await admin("POST", `${rbac}/rolebindings`, {
      metadata: { name: "may-delete" },
      roleRef,
      subjects,
    });
    const work = () =>
      inside(["takeover", "web", "--kubeconfig", scene.kubeconfig], { open: sessionOn(scene) });
    const wanted = `you may not create horizontalpodautoscalers.autoscaling in namespace "${namespace}"`;
    // The authorizer knows a new role a moment after it was made.
    await until(
      "the person may delete",
      async () => !(await work()).err.includes("may not delete"),
    );
    const { code, err } = await work();
    expect([code, err]).toEqual([1, expect.stringContaining(wanted)]);
    expect((await hpa())?.uid).toBe(uid);
  });

  it("do nothing to a ScaledObject whose workload KEDA has scaled to zero: Tidemark would never start it again", async () => {
    const scene = await newScene("takeover");
    const { namespace, admin } = scene;
    const web = await scene.make("Deployment", "web", 0);
    const scaled = `/apis/keda.sh/v1alpha1/namespaces/${namespace}/scaledobjects`;
    const spec = {
      scaleTargetRef: { name: "web" },
      minReplicaCount: 0,
      triggers: [{ type: "cpu", metadata: { value: "100" } }],
    };
    await admin("POST", scaled, {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: { name: "web" },
      spec,
    });
    await scene.apply(MANIFESTS.hpa(web, "cpu"));
    await scene.sync();
    const { code, err } = await inside(
      ["takeover", "web", "--wait", "0s", "--kubeconfig", personKubeconfig(scene)],
      { open: sessionOn(scene) },
    );
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("its workload has 0 replicas, and only KEDA starts it again"),
    ]);
    expect((await admin("GET", `${scaled}/web`))["metadata"]).not.toHaveProperty("annotations");
  });

  it("do nothing where the count would move, where the object is another one, or where nothing is in the shadow", async () => {
    const scene = await newScene("takeover");
    const { namespace, admin } = scene;
    const { hpas } = await besideHpa(scene, "web", (manifest) => ({
      ...manifest,
      spec: { ...manifest.spec, minReplicas: 7 },
    }));
    const person = personKubeconfig(scene);
    const open = sessionOn(scene);
    const refused = async (...args: readonly string[]): Promise<string> => {
      const { code, err } = await inside(["takeover", ...args, "--kubeconfig", person], { open });
      expect(code).toBe(1);
      return err;
    };
    expect(await refused("web", "--wait", "0s")).toContain(
      "Tidemark wants 7 replicas, and there are 4: the count would move at the switch",
    );
    // The HPA was made anew, and no sync has seen that.
    const { spec } = await admin("GET", `${hpas}/web`);
    await admin("DELETE", `${hpas}/web`);
    await admin("POST", hpas, {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web" },
      spec: spec as object,
    });
    expect(await refused("web", "--force")).toContain("is another one than Tidemark sees");
    await admin("DELETE", `${hpas}/web`);
    await scene.sync();
    expect(await refused("-A", "-n", namespace, "-l", "team=none")).toContain(
      "none of the selected autoscalers is in the state shadow",
    );
    expect(
      (await Array.fromAsync(scene.service.changes({ name: "web" }))).map(({ verb }) => verb),
    ).toEqual(["apply"]);
  });
});
