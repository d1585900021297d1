import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { authority, type IssueOptions } from "../cluster/stand-in/certificates.ts";
import {
  type Kubernetes,
  kubernetes,
  pod,
  podMetrics,
  type Raw,
  workload,
} from "../cluster/stand-in/kubernetes.ts";
import { type Answer, json, status } from "../cluster/stand-in/server.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { recordedAnswer } from "../cluster/wire/recorded.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { testTables } from "./world.ts";

/**
 * Whole syncs against a real HTTPS server that does what servers, proxies and networks do. The
 * workload needs the six pods that it has, and nothing delays a scale down: whatever is misread as
 * less shows as a scale.
 */
const PODS = 6;
const DEADLINE_MS = 3_000;
/** A busy machine answers late; a sync that ignores its deadline would be later by far. */
const SLACK_MS = 6_000;
const NEEDED = "50m";
const TOO_LITTLE = "5m";

const PLACES: Readonly<Record<string, RegExp>> = {
  "every answer": /./,
  "the pods": /^\/api\/v1\/.*pods$/,
  "the metrics": /^\/apis\/metrics\.k8s\.io\/.*pods$/,
  "the deployments": /\/deployments$/,
};

const protobuf =
  (bytes: Buffer): Answer =>
  (_seen, response) =>
    void response
      .writeHead(200, { "content-type": "application/vnd.kubernetes.protobuf" })
      .end(bytes);
const recorded = recordedAnswer({ name: "pods" }, "pb");
const damaged = Buffer.from(recorded);
damaged.fill(0xff, recorded.length / 2, recorded.length / 2 + 8);

const HOSTILE: Readonly<Record<string, Answer>> = {
  hangs: () => undefined,
  drips: (_seen, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  },
  "resets the connection": (_seen, _response, socket) => void socket.destroy(),
  "sends half a body": (_seen, response, socket) =>
    void response
      .writeHead(200, { "content-length": "5000" })
      .write('{"kind":"List","items":[', () => socket.destroy()),
  "sends HTML": (_seen, response) =>
    void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>"),
  "never ends its body": (_seen, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(64 * 1024, " ");
    const pour = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", pour);
    pour();
  },
  "sends a bomb": (_seen, response) =>
    void response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB),
  "answers 429 each time": status(429, "TooManyRequests", "slow down", { "retry-after": "1" }),
  "answers 401": status(401, "Unauthorized", "Unauthorized"),
  "answers 500": status(500, "InternalError", "etcdserver: request timed out"),
  "sends no items": json(200, { kind: "List", metadata: {} }),
  "sends protobuf that is cut": protobuf(recorded.subarray(0, recorded.length / 2)),
  "sends protobuf with wrong lengths": protobuf(damaged),
};
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, " "), { level: 1 });

const MANIFEST = JSON.stringify({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  },
});

let engine: Engine;
let clusters = 0;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const numbers = Array.from({ length: PODS }, (_, at) => at);

/** A server whose workload uses just what its pods are for. */
const honest = async (options: IssueOptions = {}, cpu = NEEDED): Promise<Kubernetes> => {
  const server = await kubernetes(options);
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web", PODS)]);
  server.collections.set(
    "/api/v1/pods",
    numbers.map((at) => pod("shop", "web", at)),
  );
  metrics(
    server,
    numbers.map((at) => podMetrics("shop", "web", at, cpu)),
  );
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  return server;
};

const metrics = (server: Kubernetes, items: readonly Raw[]): void => {
  server.collections.set("/apis/metrics.k8s.io/v1beta1/pods", [...items]);
};

/** A cluster, and the syncs of one environment. */
const syncsOf = async (server: Pick<Kubernetes, "url" | "ca">) => {
  const tables = testTables(engine.client, engine.tables, Date.now);
  const cluster = clusterName(`hostile-${++clusters}`);
  const record = {
    name: cluster,
    uid: "uid-of-cluster",
    connection: { kind: "secret", secretId: "unused" },
    syncPeriodMs: 5_000,
  } as const;
  await putCluster(
    tables,
    { ...record, partitions: [{ name: WHOLE_CLUSTER }], settings: DEFAULT_SETTINGS, version: 1 },
    undefined,
  );
  const place = {
    cluster,
    namespace: namespace("shop"),
    name: autoscalerName("web"),
    uid: autoscalerUid(`uid-${cluster}`),
  };
  await putAutoscaler(
    tables,
    { ...place, manifest: MANIFEST, generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" },
    undefined,
  );
  const client = clientTo(server);
  const timing = { ...DEFAULT_TIMING, softDeadlineMs: DEADLINE_MS };
  const ports = {
    tables,
    insert: insertByStatement(tables),
    connect: async () => client,
    rules: PURE_PART,
    timing,
    cache: warmCache(),
  };
  let dueMs = Date.now() - 1_000;
  return {
    close: client.close,
    sync: async (): Promise<CompletedSync> => {
      const report = await sync(ports, {
        cluster,
        partition: WHOLE_CLUSTER,
        dueMs: ++dueMs,
        periodMs: 5_000,
      });
      if (report.kind !== "completed") throw new Error(`the sync was ${JSON.stringify(report)}`);
      return report;
    },
  };
};

const scalesOf = ({ events }: CompletedSync): readonly string[] =>
  events.map(({ from, to }) => `${from} to ${to}`);
const countOf = (server: Kubernetes): number => {
  const [deployment] = server.collections.get("/apis/apps/v1/deployments") ?? [];
  return (deployment?.["spec"] as { readonly replicas: number } | undefined)?.replicas ?? 0;
};

describe("a server", () => {
  let server: Kubernetes;
  let environment: Awaited<ReturnType<typeof syncsOf>>;
  beforeEach(async () => {
    server = await honest();
    environment = await syncsOf(server);
  });
  afterEach(async () => {
    environment.close();
    await server.close();
  });

  it("that says in a right answer that less is needed is believed: these tests would see a scale down", async () => {
    metrics(
      server,
      numbers.map((at) => podMetrics("shop", "web", at, TOO_LITTLE)),
    );
    expect(scalesOf(await environment.sync())).toEqual(["6 to 1"]);
  });

  it.each(
    Object.keys(HOSTILE).flatMap((deed) =>
      Object.keys(PLACES).map((place) => [deed, place] as const),
    ),
  )(
    "that %s in the place of %s ends as a reported failure within the deadline, and nothing shrinks",
    async (deed, place) => {
      expect(scalesOf(await environment.sync())).toEqual([]);
      const [answer, path] = [HOSTILE[deed] ?? status(500, "", ""), PLACES[place] ?? /./];
      server.overrides.push({ match: ({ url }) => path.test(url.pathname), answer });
      const { failed, startMs, endMs, ...report } = await environment.sync();
      expect([failed, scalesOf({ failed, startMs, endMs, ...report }), countOf(server)]).toEqual([
        1,
        [],
        PODS,
      ]);
      expect(endMs - startMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    },
  );

  it("that accepts the token no more in the middle of a sync scales nothing down, and is believed again after it", async () => {
    let calls = 0;
    server.overrides.push({
      match: () => ++calls > 1 && calls < 20,
      answer: status(401, "Unauthorized", "Unauthorized"),
    });
    const report = await environment.sync();
    expect([report.failed, scalesOf(report)]).toEqual([1, []]);
    server.overrides.length = 0;
    expect((await environment.sync()).failed).toBe(0);
  });

  it.each<readonly [string, (all: readonly Raw[]) => readonly Raw[]]>([
    ["every sample twice", (all) => [...all, ...all]],
    ["no sample at all", () => []],
    ["samples of a third of the pods", (all) => all.slice(0, 2)],
    [
      "samples of a third of the pods, and too little in them",
      () => [0, 1].map((at) => podMetrics("shop", "web", at, TOO_LITTLE)),
    ],
    [
      "a usage that is no number",
      (all) =>
        all.map((raw) => ({ ...raw, containers: [{ name: "main", usage: { cpu: "NaN" } }] })),
    ],
    [
      "samples of the year before",
      (all) => all.map((raw) => ({ ...raw, timestamp: "2025-05-01T12:01:00Z" })),
    ],
    ["samples without a time", (all) => all.map(({ timestamp: _none, ...raw }) => raw)],
  ])("that gives %s shrinks nothing", async (_what, change) => {
    metrics(server, change(numbers.map((at) => podMetrics("shop", "web", at, NEEDED))));
    await environment.sync();
    expect(countOf(server)).toBeGreaterThanOrEqual(PODS);
  });

  it("that gives a negative usage is believed, as the HPA controller believes it: the recorded decisions have such sums", async () => {
    metrics(
      server,
      numbers.map((at) => podMetrics("shop", "web", at, "-50m")),
    );
    expect(scalesOf(await environment.sync())).toEqual(["6 to 1"]);
  });

  it("that lists every pod twice shrinks nothing", async () => {
    const pods = numbers.map((at) => pod("shop", "web", at));
    server.collections.set("/api/v1/pods", [...pods, ...pods]);
    await environment.sync();
    expect(countOf(server)).toBeGreaterThanOrEqual(PODS);
  });
});

describe("a server whose certificate", () => {
  it.each<readonly [string, IssueOptions, boolean]>([
    ["has expired", { expired: true }, false],
    ["is for another name", { host: "elsewhere.example" }, false],
    ["is of another CA", {}, true],
  ])("%s is told nothing, and its autoscalers hold", async (_what, options, otherCa) => {
    const server = await honest(options, TOO_LITTLE);
    const environment = await syncsOf(
      otherCa ? { url: server.url, ca: (await authority()).ca } : server,
    );
    const report = await environment.sync();
    expect([report.failed, scalesOf(report), countOf(server), server.seen.length]).toEqual([
      1,
      [],
      PODS,
      0,
    ]);
    environment.close();
    await server.close();
  });
});
