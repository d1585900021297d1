import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../../lib/stack/cluster/cluster-client.ts";
import { readList } from "../../../lib/stack/cluster/list.ts";
import { readPod, POD_LIST } from "../../../lib/stack/cluster/read/pods.ts";
import { readWorkloadScale } from "../../../lib/stack/cluster/scale.ts";
import type { WireKind } from "../../../lib/stack/cluster/wire/message.ts";
import { budgetOf, transportTo } from "../stand-in/connected.ts";
import { type StandIn, standIn } from "../stand-in/server.ts";
import { clientTo, WHOLE, watch } from "../stand-in/watched.ts";
import { RECORDED, recordedAnswer } from "./recorded.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";

const recordedFor = ({ pathname, searchParams }: URL) => {
  const query = searchParams.has("continue")
    ? "?continue=nonsense"
    : searchParams.get("limit") === "1"
      ? "?limit=1"
      : "";
  return (
    RECORDED.find(({ path }) => path === `${pathname}${query}`) ??
    RECORDED.find(({ path }) => path === pathname)
  );
};

/** Gives what the real server gave; one that has no protobuf gives JSON whatever is asked. */
const playing = (server: StandIn, form: "json" | "pb"): void => {
  server.answer = ({ url, headers }, response) => {
    const recorded = recordedFor(url);
    if (!recorded) {
      response.writeHead(404).end("404 page not found");
      return;
    }
    const asked = form === "pb" && String(headers.accept).startsWith(PROTOBUF);
    const code = recorded.name === "refused" ? 400 : 200;
    response
      .writeHead(code, { "content-type": asked ? PROTOBUF : "application/json" })
      .end(recordedAnswer(recorded, asked ? "pb" : "json"));
  };
};

let server: StandIn;
beforeEach(async () => {
  server = await standIn();
});
afterEach(() => server.close());

const target = (kind: string, name: string) => ({
  apiVersion: kind === "ReplicationController" ? "v1" : "apps/v1",
  kind,
  name,
});
const WATCHED = [
  watch("shop", "web"),
  watch("shop", "asleep"),
  watch("shop", "store", { target: target("StatefulSet", "store") }),
  watch("shop", "plain", { target: target("ReplicaSet", "plain") }),
  watch("shop", "old", { target: target("ReplicationController", "old") }),
  watch("shop", "gone"),
];

const observed = async (form: "json" | "pb") => {
  playing(server, form);
  const client: ClusterClient = clientTo(server);
  const { observations } = await client.observe(WATCHED, WHOLE);
  client.close();
  return new Map(
    [...observations].map(([uid, one]) => [uid, { ...one, pods: one.observation.pods.all }]),
  );
};

const readRival = (raw: unknown): unknown => {
  const { metadata, spec } = raw as {
    metadata: Record<string, unknown>;
    spec: Record<string, unknown>;
  };
  return {
    name: metadata["name"],
    namespace: metadata["namespace"],
    target: spec["scaleTargetRef"],
  };
};

const readerOf = ({ kind }: WireKind) =>
  kind === "PodList"
    ? readPod
    : kind === "HorizontalPodAutoscalerList"
      ? readRival
      : readWorkloadScale;

describe("the answers of a real API server", () => {
  it("are observed alike over protobuf and over JSON, in a whole observation", async () => {
    const overJson = await observed("json");
    const overProtobuf = await observed("pb");
    const plain = (seen: Awaited<ReturnType<typeof observed>>) =>
      [...seen.values()].map(({ observation, pods, ...rest }) => ({
        ...rest,
        pods,
        scale: observation.scale,
      }));
    expect(plain(overProtobuf)).toEqual(plain(overJson));
    expect(
      plain(overProtobuf).map(({ scale }) =>
        scale.kind === "read" ? [scale.specReplicas, scale.statusReplicas] : scale.failure.code,
      ),
    ).toEqual([[3, 2], [0, 0], [3, 4], [3, 5], [3, 0], 404]);
    expect(plain(overProtobuf)[0]).toMatchObject({
      scale: { selector: "app=web,tier in (back,front)", generation: 1 },
      rivals: [
        { kind: "ScaledObject", name: "keda" },
        { kind: "HorizontalPodAutoscaler", name: "web" },
      ],
    });
  });

  it("are the same pods: names, owners, states, times and amounts", async () => {
    for (const form of ["json", "pb"] as const) {
      playing(server, form);
      const pods = await readList(
        transportTo(server),
        {
          path: "/api/v1/namespaces/shop/pods",
          resource: "pods",
          protobuf: POD_LIST,
          read: readPod,
        },
        budgetOf(),
      );
      expect(pods).toMatchObject({
        kind: "listed",
        complete: true,
        items: [
          {
            name: "web-a",
            labels: { app: "web", "pod-template-hash": "5d4f" },
            owners: [{ kind: "ReplicaSet", name: "web-5d4f" }],
            deleting: false,
            phase: "Running",
            startMs: Date.parse("2026-05-01T12:00:00Z"),
            ready: { status: "True", transitionMs: Date.parse("2026-05-01T12:00:10Z") },
            containers: [
              {
                name: "main",
                requests: { cpu: 100n, memory: 67_108_864_000n },
                limits: { cpu: 500n },
                restartable: false,
              },
            ],
            initContainers: [{ restartable: false }, { name: "mesh", restartable: true }],
          },
          { name: "web-b", deleting: true, podRequests: { cpu: 250n }, ready: { status: "False" } },
          { name: "web-c", phase: "Pending", containers: [{ name: "bare", requests: {} }] },
        ],
      });
    }
  });

  it("are an empty list where there are no pods", async () => {
    for (const form of ["json", "pb"] as const) {
      playing(server, form);
      const request = {
        path: "/api/v1/namespaces/nowhere/pods",
        resource: "pods",
        protobuf: POD_LIST,
        read: readPod,
      };
      expect(await readList(transportTo(server), request, budgetOf())).toMatchObject({
        kind: "listed",
        items: [],
        complete: true,
      });
    }
  });

  it.each(RECORDED.filter(({ name }) => name !== "refused"))(
    "hold the same items in $name, with what is still to come",
    async ({ path, kind }) => {
      const bodies = [];
      for (const form of ["json", "pb"] as const) {
        playing(server, form);
        const { pathname, searchParams } = new URL(path, "https://stand-in");
        const answer = await transportTo(server).get(
          {
            path: pathname,
            resource: "them",
            protobuf: kind,
            query: Object.fromEntries(searchParams),
          },
          budgetOf(),
        );
        if (answer.kind === "failed") throw new Error(answer.failure.message);
        const { items, metadata } = answer.body as {
          items: readonly unknown[];
          metadata: Record<string, unknown>;
        };
        bodies.push({
          remaining: metadata["remainingItemCount"],
          more: Boolean(metadata["continue"]),
          items: items.map(readerOf(kind)),
        });
      }
      expect(bodies[1]).toEqual(bodies[0]);
    },
  );

  it("are the same refusal, with the server's reason and words", async () => {
    const failures = [];
    for (const form of ["json", "pb"] as const) {
      playing(server, form);
      const request = {
        path: "/api/v1/namespaces/shop/pods",
        resource: "pods",
        query: { continue: "nonsense" },
      };
      failures.push(await transportTo(server).get({ ...request, protobuf: POD_LIST }, budgetOf()));
    }
    expect(failures[1]).toEqual(failures[0]);
    expect(failures[0]).toMatchObject({
      failure: {
        code: 400,
        reason: "BadRequest",
        message: expect.stringContaining("continue key is not valid"),
      },
    });
  });
});

describe("a server that has no protobuf", () => {
  it("is asked for it once: its JSON is read, and JSON alone is asked of the same API afterwards", async () => {
    playing(server, "json");
    const transport = transportTo(server);
    const request = { path: "/api/v1/namespaces/shop/pods", resource: "pods", protobuf: POD_LIST };
    for (let call = 0; call < 3; call++)
      expect(await transport.get(request, budgetOf())).toMatchObject({
        kind: "read",
        body: { kind: "PodList" },
      });
    expect(server.seen.map(({ headers }) => headers.accept)).toEqual([
      `${PROTOBUF}, application/json`,
      "application/json",
      "application/json",
    ]);
  });

  it("may refuse the format with 406: the same is asked again as JSON, within the same budget", async () => {
    server.answer = ({ headers }, response) => {
      const json = headers.accept === "application/json";
      response
        .writeHead(json ? 200 : 406, { "content-type": "application/json" })
        .end(json ? '{"items":[]}' : "{}");
    };
    const budget = budgetOf();
    const transport = transportTo(server);
    const request = {
      path: "/apis/metrics.k8s.io/v1beta1/pods",
      resource: "pods.metrics.k8s.io",
      protobuf: POD_LIST,
    };
    expect(await transport.get(request, budget)).toMatchObject({
      kind: "read",
      body: { items: [] },
    });
    expect(budget.spent().calls).toBe(2);
  });
});
