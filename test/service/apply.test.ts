import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type AutoscalerRef,
  autoscalerName,
  clusterName,
  namespace,
  partitionName,
} from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { readHead } from "../../lib/stack/store/head/head.ts";
import { changesOf, insertChange } from "../../lib/stack/store/history/changes.ts";
import { getAutoscaler, putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";
import { specVersion } from "./world/synced.ts";

let world: ServiceWorld;
let service: Service;
let count = 0;
/** A cluster for each test, so that none sees what another stored. */
let cluster = "";

const ref = (name: string, inside = "default"): AutoscalerRef => ({
  cluster: clusterName(cluster),
  namespace: namespace(inside),
  name: autoscalerName(name),
});
const stored = (name: string, inside?: string) => getAutoscaler(world.tables, ref(name, inside));
const changes = (name: string, inside?: string) =>
  Array.fromAsync(changesOf(world.tables, ref(name, inside)));
const apply = (
  text: string,
  options: { readonly namespace?: string; readonly dryRun?: boolean } = {},
) => service.apply([{ file: "a.yaml", text }], { cluster, dryRun: false, ...options });

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
});
afterAll(() => world.close());
beforeEach(async () => {
  world.set(NOON);
  cluster = `c${++count}`;
  await service.addCluster({
    name: cluster,
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
});

const recommended = (url: string): string =>
  `apiVersion: datadoghq.com/v1alpha1
kind: WatermarkPodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 10
  recommender: { url: "${url}", targetType: cpu, highWatermark: "80", lowWatermark: "60" }
`;

it("an apply has one time for the change, the creation and the edit of a document, by a clock that runs fast", async () => {
  let nowMs = NOON;
  const clock = (): number => {
    nowMs += 15_000;
    return nowMs;
  };
  const fast = openService({ ...world.context, clock });
  await fast.apply([{ file: "a.yaml", text: hpa("web") }], { cluster, dryRun: false });
  const record = await stored("web");
  const [change] = await changes("web");
  expect([record?.createdMs, change?.atMs]).toEqual([record?.updatedMs, record?.updatedMs]);
});

describe("a recommender in a manifest", () => {
  const refusal = (url: string): Promise<string> =>
    apply(recommended(url)).then(
      () => "stored",
      (error: Error) => error.message,
    );

  it("is refused with its field and what to do until the cluster allows its host, because the functions would post to it", async () => {
    expect(await refusal("http://10.0.3.7:9200/_search")).toBe(
      `Cannot accept "a.yaml", line 7: spec.recommender.url is not allowed: cluster "${cluster}" allows no recommender; let a person who may connect clusters allow it: tidemark cluster add ${cluster} --replace --recommender-host http://10.0.3.7:9200`,
    );
    await service.replaceCluster({ name: cluster, recommenderHosts: ["r.example.com"] });
    expect(await refusal("http://r.example.com/v1")).toContain(
      "allows only the recommenders r.example.com",
    );
    expect(await refusal("https://ada:pass@r.example.com/v1")).toContain(
      "has a user or a password",
    );
    expect(await stored("web", "shop")).toBeUndefined();
    expect(await refusal("https://r.example.com/v1")).toBe("stored");
  });
});

describe("apply()", () => {
  it("creates an autoscaler with its change item, and tells the partition", async () => {
    expect(await apply(hpa("web", { namespace: "shop" }))).toEqual([
      {
        cluster,
        namespace: "shop",
        name: "web",
        kind: "HorizontalPodAutoscaler",
        outcome: "created",
        uid: expect.any(String),
        generation: 1,
        warnings: [],
      },
    ]);
    const record = await stored("web", "shop");
    expect(record).toMatchObject({
      generation: 1,
      createdMs: NOON,
      updatedMs: NOON,
      updatedBy: "ada",
    });
    expect(JSON.parse(record?.manifest ?? "")).toMatchObject({
      kind: "HorizontalPodAutoscaler",
      spec: { maxReplicas: 10 },
    });
    expect(await changes("web", "shop")).toEqual([
      {
        ...ref("web", "shop"),
        id: `${record?.uid}:1`,
        atMs: NOON,
        by: "ada",
        verb: "apply",
        baseGeneration: 0,
        after: record?.manifest,
      },
    ]);
    expect(await specVersion(world.tables, clusterName(cluster))).toBe(1);
  });

  it("tells the partition that the namespace has moved to since it began", async () => {
    const partitions = [{ name: "default" }, { name: "pay", namespaces: ["shop"] }];
    const whileMoved = openService({
      ...world.context,
      insert: async (items) => {
        await service.replaceCluster({
          name: cluster,
          connection: { kind: "kubeconfig", path: "/kube/config" },
          partitions,
        });
        return world.context.insert(items);
      },
    });
    await whileMoved.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop" }) }], {
      cluster,
      dryRun: false,
    });
    expect(
      (
        await readHead(world.tables, {
          cluster: clusterName(cluster),
          partition: partitionName("pay"),
        })
      )?.specVersion,
    ).toBe(1);
    expect(await specVersion(world.tables, clusterName(cluster))).toBe(0);
  });

  it("warns of windows that are shorter than the sync period of the cluster it applies to", async () => {
    const spec = `spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }, maxReplicas: 9, scaleUp: { sustainSeconds: 59 }, metrics: [{ external: { metric: lag }, target: 1 }] }`;
    const text = `apiVersion: tidemark.dev/v1\nkind: PodAutoscaler\nmetadata: { name: web }\n${spec}\n`;
    expect((await apply(text, { dryRun: true }))[0]?.warnings).toEqual([]);
    await service.addCluster({
      name: `${cluster}-slow`,
      connection: { kind: "kubeconfig", path: "/kube/config" },
      syncPeriodMs: 60_000,
    });
    const [slow] = await service.apply([{ file: "a.yaml", text }], {
      cluster: `${cluster}-slow`,
      dryRun: true,
    });
    expect(slow?.warnings).toEqual([
      '"a.yaml", line 4: spec.scaleUp.sustainSeconds: 59 s are shorter than the sync period of 60 s, so the next sync comes after it; write 60 or more',
    ]);
  });

  it("warns of a pause that has passed", async () => {
    const at = async (pausedUntil: string) => {
      const text = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: web }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 9
  pausedUntil: ${pausedUntil}
  metrics: [{ external: { metric: lag }, target: 1 }]
`;
      return (await apply(text, { dryRun: true }))[0]?.warnings;
    };
    expect(await at(new Date(NOON + 1000).toISOString())).toEqual([]);
    expect(await at(new Date(NOON).toISOString())).toEqual([
      '"a.yaml", line 7: spec.pausedUntil: the time has passed, so it has no effect; remove it, or write a later time',
    ]);
  });

  it("updates under the next generation and keeps uid and time of creation", async () => {
    await apply(hpa("web"));
    const before = await stored("web");
    world.set(NOON + 60_000);
    expect((await apply(hpa("web", { max: 20 })))[0]).toMatchObject({
      outcome: "configured",
      generation: 2,
    });
    const after = await stored("web");
    expect(after).toMatchObject({
      uid: before?.uid,
      generation: 2,
      createdMs: NOON,
      updatedMs: NOON + 60_000,
    });
    expect((await changes("web"))[1]).toMatchObject({
      id: `${before?.uid}:2`,
      before: before?.manifest,
      after: after?.manifest,
    });
    expect(await specVersion(world.tables, clusterName(cluster))).toBe(2);
  });

  it("stores nothing for a manifest of the same meaning", async () => {
    await apply(hpa("web"));
    expect((await apply(`# a remark\n${hpa("web")}`))[0]).toMatchObject({
      outcome: "unchanged",
      generation: 1,
    });
    expect(await changes("web")).toHaveLength(1);
  });

  it("stores a manifest that differs in its labels or annotations alone", async () => {
    const labelled = (team: string): string =>
      hpa("web").replace("metadata:", `metadata:\n  labels: { team: ${team} }`);
    await apply(labelled("red"));
    expect((await apply(labelled("red")))[0]).toMatchObject({
      outcome: "unchanged",
      generation: 1,
    });
    expect((await apply(labelled("blue")))[0]).toMatchObject({
      outcome: "configured",
      generation: 2,
    });
    expect((await stored("web"))?.manifest).toContain('"team":"blue"');
    expect(
      (await apply(hpa("web").replace("metadata:", "metadata:\n  annotations: { note: x }")))[0],
    ).toMatchObject({ outcome: "configured" });
  });

  it("keeps a pause through an update", async () => {
    await apply(hpa("web"));
    await service.pause({ name: "web", cluster });
    await apply(hpa("web", { max: 30 }));
    expect(await stored("web")).toMatchObject({ generation: 3, paused: { by: "ada", atMs: NOON } });
  });

  it("checks everything and stores nothing in a dry run", async () => {
    expect((await apply(hpa("web"), { dryRun: true }))[0]).toMatchObject({
      outcome: "created",
      generation: 0,
    });
    expect(await stored("web")).toBeUndefined();
    expect(await changes("web")).toEqual([]);
  });

  it("puts manifests without a namespace where the person says, beside others of that namespace", async () => {
    await apply(documents(hpa("web"), hpa("api", { namespace: "shop" })), { namespace: "shop" });
    expect(await stored("web", "shop")).toBeDefined();
    expect(await stored("api", "shop")).toBeDefined();
  });

  it("refuses a manifest of another namespace than the one that was asked for", async () => {
    await expect(
      apply(documents(hpa("web"), hpa("api", { namespace: "infra" })), { namespace: "shop" }),
    ).rejects.toMatchObject({
      code: "manifest.invalid",
      message: expect.stringMatching(
        /^Cannot accept "a\.yaml, document 2", line \d+: metadata\.namespace is "infra", and the request says namespace "shop"; remove one of the two$/,
      ),
    });
    expect(await stored("web", "shop")).toBeUndefined();
  });

  it("takes the items of Lists", async () => {
    const items = [
      JSON.stringify({
        apiVersion: "autoscaling/v1",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "one" },
        spec: {
          scaleTargetRef: { kind: "Deployment", name: "one", apiVersion: "apps/v1" },
          maxReplicas: 3,
        },
      }),
    ];
    const applied = await apply(
      `{"apiVersion": "v1", "kind": "List", "items": [${items.join(",")}]}`,
    );
    expect(applied.map(({ name, outcome }) => [name, outcome])).toEqual([["one", "created"]]);
  });

  it("changes nothing when one of several documents is wrong, and names every problem with its line and field", async () => {
    const text = documents(
      hpa("good"),
      hpa("bad", { max: 1 }),
      "kind: PodAutoscalr\napiVersion: v1\nmetadata: {name: x}\n",
    );
    await expect(apply(text)).rejects.toMatchObject({
      code: "manifest.invalid",
      message: expect.stringMatching(
        /^Cannot accept "a\.yaml, document 2", line 30: spec\.maxReplicas .+\nCannot accept "a\.yaml, document 3", line \d+: kind .+$/,
      ),
    });
    expect(await stored("good")).toBeUndefined();
    expect(await changes("good")).toEqual([]);
  });

  it("refuses a name that is given twice, in one file or in two", async () => {
    await expect(
      service.apply(
        [
          { file: "a.yaml", text: hpa("web") },
          { file: "b.yaml", text: hpa("web", { max: 12 }) },
        ],
        { cluster, dryRun: false },
      ),
    ).rejects.toMatchObject({
      code: "manifest.invalid",
      message: 'Cannot accept "b.yaml": "default/web" is also in "a.yaml"; keep one of them',
    });
    expect(await stored("web")).toBeUndefined();
  });

  it("names file, line and column of broken YAML, of every file", async () => {
    await expect(
      service.apply(
        [
          { file: "a.yaml", text: "a: [1\nb: 2\n" },
          { file: "b.yaml", text: "\tx" },
        ],
        { cluster, dryRun: false },
      ),
    ).rejects.toMatchObject({
      code: "manifest.unreadable",
      message: expect.stringMatching(
        /^Cannot read "a\.yaml", line 2, .+\nCannot read "b\.yaml", line 1, /,
      ),
    });
  });

  it("asks for the cluster when there are several, and suggests the nearest name", async () => {
    await service.addCluster({
      name: `${cluster}-b`,
      connection: { kind: "kubeconfig", path: "/kube/config" },
    });
    await expect(
      service.apply([{ file: "a.yaml", text: hpa("web") }], { dryRun: false }),
    ).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringMatching(
        /^Cannot apply: there are \d+ clusters, "c1" is the first; choose one with --cluster$/,
      ),
    });
    await expect(
      service.apply([{ file: "a.yaml", text: hpa("web") }], {
        cluster: `${cluster}-c`,
        dryRun: false,
      }),
    ).rejects.toMatchObject({
      code: "service.unknown",
      message: `Cannot find cluster "${cluster}-c": the nearest name is "${cluster}-b"`,
    });
  });
});

describe("an edit", () => {
  it("takes the next generation past the change of an edit that died before it stored its record", async () => {
    await apply(hpa("web"));
    const record = await stored("web");
    await insertChange(world.context, {
      ...ref("web"),
      id: `${record?.uid}:2`,
      atMs: NOON,
      by: "bob",
      verb: "apply",
      after: "{}",
    });
    expect((await apply(hpa("web", { max: 20 })))[0]).toMatchObject({
      outcome: "configured",
      generation: 3,
    });
    expect(await stored("web")).toMatchObject({ generation: 3 });
    // The one that counts says what it was made on, so that the other can be told from it.
    expect(
      (await changes("web")).map(({ id, baseGeneration }) => [id.split(":")[1], baseGeneration]),
    ).toEqual([
      ["1", 0],
      ["2", undefined],
      ["3", 1],
    ]);
  });

  it("is made again on what another editor stored in between", async () => {
    await apply(hpa("web"));
    const first = await stored("web");
    if (!first) throw new Error("not stored");
    let raced = false;
    const racing = openService({
      ...world.context,
      insert: async (items) => {
        // Between the change item and the record, another editor pauses the autoscaler.
        if (!raced)
          await putAutoscaler(
            world.tables,
            { ...first, generation: 2, paused: { by: "bob", atMs: NOON } },
            1,
          );
        raced = true;
        return world.context.insert(items);
      },
    });
    const [applied] = await racing.apply([{ file: "a.yaml", text: hpa("web", { max: 20 }) }], {
      cluster,
      dryRun: false,
    });
    expect(applied).toMatchObject({ outcome: "configured", generation: 3 });
    expect(await stored("web")).toMatchObject({ generation: 3, paused: { by: "bob" } });
  });

  it("stores nothing when history cannot be written", async () => {
    const broken = openService({
      ...world.context,
      insert: () => Promise.reject(new Error("history is read-only")),
    });
    await expect(
      broken.apply([{ file: "a.yaml", text: hpa("web") }], { cluster, dryRun: false }),
    ).rejects.toThrow("history is read-only");
    expect(await stored("web")).toBeUndefined();
  });
});

describe("pause(), resume() and delete()", () => {
  const asked = () => ({ name: "web", cluster });

  it("pause and resume by edits with their changes, and say when it was so already", async () => {
    await apply(hpa("web"));
    expect(await service.pause(asked(), NOON + 3_600_000)).toMatchObject({ changed: true });
    expect(await service.pause(asked(), NOON + 3_600_000)).toMatchObject({ changed: false });
    expect((await service.get(asked())).paused).toEqual({
      by: "ada",
      at: "2026-03-01T12:00:00.000Z",
      until: "2026-03-01T13:00:00.000Z",
    });
    expect(await service.resume(asked())).toMatchObject({ changed: true });
    expect(await service.resume(asked())).toMatchObject({ changed: false });
    expect((await stored("web"))?.paused).toBeUndefined();
    expect((await changes("web")).map(({ verb }) => verb)).toEqual(["apply", "pause", "resume"]);
  });

  it("treat a pause whose end has come as over", async () => {
    await apply(hpa("web"));
    await service.pause(asked(), NOON + 1_000);
    world.set(NOON + 999);
    expect((await service.get(asked())).state).toBe("paused");
    world.set(NOON + 1_000);
    expect((await service.get(asked())).state).toBe("waiting");
    expect(await service.resume(asked())).toMatchObject({ changed: false });
  });

  it.each([
    [NOON, "its end has passed, it is 2026-03-01T12:00:00.000Z"],
    [Number.MAX_SAFE_INTEGER, "the latest end is 9999-12-31T23:59:59.999Z"],
  ])("refuse a pause that ends at %d before anything is stored", async (untilMs, problem) => {
    const message = `Cannot pause "default/web" in cluster "${cluster}": ${problem}`;
    await apply(hpa("web"));
    await expect(service.pause(asked(), untilMs)).rejects.toMatchObject({
      code: "service.invalid",
      message,
    });
    expect((await changes("web")).map(({ verb }) => verb)).toEqual(["apply"]);
    expect(await stored("web")).toMatchObject({ generation: 1 });
  });

  it("delete the record, keep its history, and give a new one of that name another uid", async () => {
    await apply(hpa("web"));
    const before = await stored("web");
    expect(await service.delete(asked())).toEqual({
      cluster,
      namespace: "default",
      name: "web",
      changed: true,
    });
    expect(await stored("web")).toBeUndefined();
    expect(
      (await changes("web")).map(({ verb, before: text }) => [verb, text !== undefined]),
    ).toEqual([
      ["apply", false],
      ["delete", true],
    ]);
    await apply(hpa("web"));
    expect((await stored("web"))?.uid).not.toBe(before?.uid);
  });
});

describe("apply() of two autoscalers for one workload", () => {
  const aimedAt = (name: string, target: string): string =>
    hpa(name).replace(`name: ${name}\n  minReplicas`, `name: ${target}\n  minReplicas`);

  it("warns of each other, whether stored or applied together", async () => {
    expect((await apply(hpa("web")))[0]?.warnings).toEqual([]);
    const applied = await apply(
      documents(aimedAt("second", "web"), aimedAt("third", "web"), hpa("api")),
    );
    expect(applied.map(({ warnings }) => warnings)).toEqual([
      [
        'Deployment "web" is also the target of "default/web", "default/third": "default/second" and they hold until only one of them has this target',
      ],
      [
        'Deployment "web" is also the target of "default/web", "default/second": "default/third" and they hold until only one of them has this target',
      ],
      [],
    ]);
  });

  it("warns of no dry run and in no dry run, because it writes nothing", async () => {
    const dry = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: trial }
spec:
  dryRun: true
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 9
  metrics: [{ resource: { name: cpu }, target: 60 }]
`;
    expect((await apply(documents(hpa("web"), dry))).map(({ warnings }) => warnings)).toEqual([
      [],
      [],
    ]);
    expect((await apply(hpa("web"))).map(({ warnings }) => warnings)).toEqual([[]]);
  });

  it("forgets the target that an autoscaler had before", async () => {
    await apply(hpa("web"));
    const [moved, next] = await apply(documents(aimedAt("web", "other"), aimedAt("second", "web")));
    expect([moved?.warnings, next?.warnings]).toEqual([[], []]);
  });
});
