import { beforeAll, expect, inject, it } from "vitest";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import type {
  ClusterClient,
  ObjectUpdate,
  UpdatedObject,
} from "../../lib/stack/cluster/cluster-client.ts";
import { connect } from "../../lib/stack/cluster/connect.ts";
import { clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { SPEC_KINDS } from "../../lib/rules/model/spec.ts";
import { type ApiCalls, apiCalls } from "../control-plane/api-calls.ts";
import { document } from "../manifest/native/contradictions.ts";
import { POD_AUTOSCALERS } from "./definitions.ts";
import { onServer } from "./on-server.ts";
import type { Scene } from "./scene.ts";
import { giveStatusRole } from "./status-role.ts";

const LIMITS = { budgetMs: 5_000, callsMax: 100 };
const [OWN] = SPEC_KINDS;
const AT = Date.parse("2030-01-31T08:00:00Z");

const status = (message: string) => ({
  observedGeneration: 1,
  currentReplicas: 4,
  desiredReplicas: 5,
  targets: "cpu: 41%/60%",
  conditions: [
    {
      type: "Ready",
      status: "True",
      reason: "WithinTarget",
      message,
      lastTransitionTime: "2030-01-31T08:00:00Z",
      observedGeneration: 1,
    },
    {
      type: "ScalingActive",
      status: "True",
      reason: "ValidMetricFound",
      message: "",
      lastTransitionTime: "2030-01-31T08:00:00Z",
      observedGeneration: 1,
    },
  ],
});

onServer("what is written back to the objects of a real API server", (newScene) => {
  let scene: Scene;
  let calls: ApiCalls;
  let client: ClusterClient;
  let objects = 0;
  beforeAll(async () => {
    const { url, ca, adminToken: token, missing } = inject("cluster");
    if (missing !== undefined) return;
    calls = apiCalls({ url, ca, token });
    scene = await newScene("told");
    client = await clientOf("told");
    return () => {
      client.close();
      calls.close();
    };
  });

  const clientOf = (uid: string): Promise<ClusterClient> =>
    connect(
      {
        name: clusterName("real"),
        kubeSystemUid: undefined,
        uid,
        connection: { kind: "kubeconfig", path: scene.kubeconfig },
      },
      { clock: Date.now, trusted: ON_THIS_MACHINE },
    );
  const writeBack = async (from: ClusterClient, ...updates: readonly ObjectUpdate[]) =>
    from.writeBack?.(updates, LIMITS);

  const made = async (): Promise<UpdatedObject & { readonly path: string }> => {
    const name = `web-${++objects}`;
    const place = `${POD_AUTOSCALERS}/namespaces/${scene.namespace}/podautoscalers`;
    const { metadata } = await scene.admin("POST", place, {
      ...document(),
      metadata: { name, namespace: scene.namespace },
    });
    if (!OWN) throw new Error("there is no kind of our own");
    const { uid, resourceVersion } = metadata as {
      readonly uid: string;
      readonly resourceVersion: string;
    };
    return {
      of: OWN,
      namespace: scene.namespace,
      name,
      uid,
      resourceVersion,
      path: `${place}/${name}`,
    };
  };

  it("is refused without the role, which delays and fails nothing, and is not asked for again for ten minutes", async () => {
    const about = await made();
    const restricted = await clientOf("without");
    const update = { kind: "status", about, status: status("a") } as const;
    expect(await writeBack(restricted, update)).toEqual({ written: 0, failed: 1, left: 0 });
    expect(await writeBack(restricted, update, update)).toEqual({ written: 0, failed: 0, left: 2 });
    restricted.close();
  });

  it("is allowed by the role that tidemark cluster rbac --status prints", async () => {
    await giveStatusRole(scene);
    const about = await made();
    const fresh = await clientOf("fresh");
    expect(await writeBack(fresh, { kind: "status", about, status: status("a") })).toEqual({
      written: 1,
      failed: 0,
      left: 0,
    });
    fresh.close();
  });

  it("is the status of the object, under the field manager of the stack, and no other generation", async () => {
    const about = await made();
    expect(
      await writeBack(client, {
        kind: "status",
        about,
        status: status("no metric asks for another count"),
      }),
    ).toEqual({
      written: 1,
      failed: 0,
      left: 0,
    });
    const object = await scene.admin("GET", about.path);
    expect(object).toMatchObject({
      metadata: { generation: 1 },
      status: status("no metric asks for another count"),
    });
    const { managedFields } = object["metadata"] as { readonly managedFields: readonly object[] };
    expect(managedFields).toContainEqual(
      expect.objectContaining({
        manager: "tidemark-told",
        operation: "Apply",
        subresource: "status",
      }),
    );
  });

  it("is read again by the LIST of the specs, as what it is compared with", async () => {
    const about = await made();
    await writeBack(client, { kind: "status", about, status: status("a") });
    const { kubeconfig, close } = await newScene("listing", {
      namespace: scene.namespace,
      token: inject("cluster").adminToken,
    });
    const reader = await connect(
      {
        name: clusterName("real"),
        kubeSystemUid: undefined,
        uid: "told",
        connection: { kind: "kubeconfig", path: kubeconfig },
      },
      { clock: Date.now, trusted: ON_THIS_MACHINE },
    );
    const { listings } = await reader.listSpecs({
      kinds: [about.of],
      namespaces: [namespace(scene.namespace)],
      knownVersion: () => undefined,
      budgetMs: 5_000,
    });
    const [listing] = listings;
    const object =
      listing?.outcome.kind === "listed"
        ? listing.outcome.objects.find(({ name }) => name === about.name)
        : undefined;
    expect(object?.status).toEqual(status("a"));
    expect(object?.statusBy).toBeUndefined();
    reader.close();
    await close();
  });

  it("is written without its newer fields where the definition in the cluster is of an earlier release", async () => {
    const about = await made();
    const fresh = await clientOf("later");
    const later = (message: string) => ({
      kind: "status" as const,
      about,
      status: { ...status(message), fieldOfALaterRelease: "x" },
      newer: ["fieldOfALaterRelease"],
    });
    expect(await writeBack(fresh, later("a"))).toEqual({ written: 1, failed: 0, left: 0 });
    expect((await scene.admin("GET", about.path))["status"]).toEqual(status("a"));
    fresh.close();
  });

  it("is read with the person who wrote it since, until Tidemark has written it again", async () => {
    const about = await made();
    await writeBack(client, { kind: "status", about, status: status("a") });
    const edit = { status: { currentReplicas: 99, targets: "cpu: 99%/60%" } };
    const edited = await scene.admin(
      "PATCH",
      `${about.path}/status?fieldManager=kubectl-edit`,
      edit,
      "application/merge-patch+json",
    );
    const seen = async () => {
      const { listings } = await client.listSpecs({
        kinds: [about.of],
        namespaces: [namespace(scene.namespace)],
        knownVersion: () => undefined,
        budgetMs: 5_000,
      });
      const [listing] = listings;
      return listing?.outcome.kind === "listed"
        ? listing.outcome.objects.find(({ name }) => name === about.name)
        : undefined;
    };
    const before = await seen();
    expect(before?.statusEdit).toMatchObject({ manager: "kubectl-edit" });
    expect(before?.statusBy).toBeUndefined();
    const { resourceVersion } = edited["metadata"] as { readonly resourceVersion: string };
    expect(
      await writeBack(client, {
        kind: "status",
        about: { ...about, resourceVersion },
        status: status("a"),
      }),
    ).toMatchObject({ written: 1 });
    expect((await seen())?.status).toEqual(status("a"));
    expect((await seen())?.statusEdit).toBeUndefined();
  });

  it("takes a condition away that is not told any more, and leaves one of another writer", async () => {
    const about = await made();
    await writeBack(client, { kind: "status", about, status: status("a") });
    const other = {
      type: "Reviewed",
      status: "True",
      reason: "Person",
      message: "",
      lastTransitionTime: "2030-01-31T08:00:00Z",
    };
    const apply = {
      apiVersion: "tidemark.dev/v1",
      kind: "PodAutoscaler",
      status: { conditions: [other] },
    };
    await scene.admin(
      "PATCH",
      `${about.path}/status?fieldManager=person`,
      apply,
      "application/apply-patch+yaml",
    );
    const { conditions, ...rest } = status("b");
    const { metadata } = await scene.admin("GET", about.path);
    const now = { ...about, ...(metadata as Pick<UpdatedObject, "resourceVersion">) };
    await writeBack(client, {
      kind: "status",
      about: now,
      status: { ...rest, conditions: conditions.slice(0, 1) },
    });
    const object = await scene.admin("GET", about.path);
    const types = (
      object["status"] as { readonly conditions: readonly { readonly type: string }[] }
    ).conditions.map(({ type }) => type);
    expect(types.toSorted()).toEqual(["Ready", "Reviewed"]);
  });

  it("never reaches an object that was edited, or deleted and made anew under the same name, since the LIST", async () => {
    const about = await made();
    await scene.admin("DELETE", about.path);
    const place = about.path.slice(0, -about.name.length - 1);
    await scene.admin("POST", place, {
      ...document(),
      metadata: { name: about.name, namespace: scene.namespace },
    });
    expect(await writeBack(client, { kind: "status", about, status: status("a") })).toEqual({
      written: 0,
      failed: 1,
      left: 0,
    });
    expect(await scene.admin("GET", about.path)).not.toHaveProperty("status");
  });

  it("shows in the columns of kubectl get: the targets, the bounds, the count and why", async () => {
    const about = await made();
    await writeBack(client, { kind: "status", about, status: status("a") });
    const table = JSON.parse(
      (
        await calls.call(
          "GET",
          about.path,
          undefined,
          undefined,
          "application/json;as=Table;v=v1;g=meta.k8s.io",
        )
      ).body,
    );
    const names = table.columnDefinitions
      .filter(({ priority }: { readonly priority: number }) => priority === 0)
      .map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual([
      "Name",
      "Reference",
      "Targets",
      "MinPods",
      "MaxPods",
      "Replicas",
      "Why",
      "Age",
    ]);
    expect(table.rows[0].cells.slice(0, 6)).toEqual([about.name, "web", "cpu: 41%/60%", 2, 10, 4]);
    expect(table.rows[0].cells).toContain("WithinTarget");
  });

  it("is an Event about the object, and the same Event when it is told again", async () => {
    const about = await made();
    const event = {
      id: "object-web:7",
      occurrence: "object-web:7",
      type: "Normal",
      reason: "SuccessfulRescale",
      note: `Scaled from 2 to 4: ${"ä".repeat(1_000)}`,
      atMs: AT,
    };
    expect(await writeBack(client, { kind: "event", about, event })).toEqual({
      written: 1,
      failed: 0,
      left: 0,
    });
    expect(await writeBack(client, { kind: "event", about, event })).toEqual({
      written: 1,
      failed: 0,
      left: 0,
    });
    const { items } = await scene.admin(
      "GET",
      `/api/v1/namespaces/${scene.namespace}/events?fieldSelector=involvedObject.uid%3D${about.uid}`,
    );
    expect(items).toMatchObject([
      {
        type: "Normal",
        reason: "SuccessfulRescale",
        involvedObject: { kind: "PodAutoscaler", name: about.name },
      },
    ]);
    expect(items).toHaveLength(1);
  });

  it("is one Event with a count where it repeats, one for all that are similar, and no more than the burst of an object", async () => {
    const about = await made();
    const eventsOf = async () => {
      const path = `/apis/events.k8s.io/v1/namespaces/${scene.namespace}/events?fieldSelector=regarding.uid%3D${about.uid}`;
      return (await scene.admin("GET", path))["items"] as readonly {
        readonly metadata: { readonly name: string };
        readonly note: string;
        readonly series?: object;
      }[];
    };
    const scaled = (note: string, at: number): ObjectUpdate => {
      const id = `${about.name}:${note}:${at}`;
      return {
        kind: "event",
        about,
        event: {
          id,
          occurrence: id,
          type: "Normal",
          reason: "SuccessfulRescale",
          note,
          atMs: AT + at * 1_000,
        },
      };
    };
    await writeBack(client, scaled("Scaled from 2 to 4", 0));
    await writeBack(client, scaled("Scaled from 2 to 4", 60));
    expect(await writeBack(client, scaled("Scaled from 2 to 4", 120))).toEqual({
      written: 1,
      failed: 0,
      left: 0,
    });
    expect(await eventsOf()).toMatchObject([
      {
        note: "Scaled from 2 to 4",
        series: { count: 3, lastObservedTime: "2030-01-31T08:02:00.000000Z" },
      },
    ]);
    const [first] = await eventsOf();
    await scene.admin(
      "DELETE",
      `/api/v1/namespaces/${scene.namespace}/events/${first?.metadata.name}`,
    );
    expect(await writeBack(client, scaled("Scaled from 2 to 4", 180))).toEqual({
      written: 1,
      failed: 0,
      left: 0,
    });
    let told = { written: 0, failed: 0, left: 0 };
    for (let at = 0; at < 30; at++)
      told = (await writeBack(client, scaled(`Scaled from ${at} to ${at + 1}`, 181 + at))) ?? told;
    expect(told).toEqual({ written: 0, failed: 0, left: 1 });
    const events = await eventsOf();
    expect(events).toHaveLength(11);
    const combined = events.filter(({ note }) =>
      note.startsWith("(combined from similar events): "),
    );
    expect(combined).toMatchObject([{ series: { count: 12 } }]);
  });
});
