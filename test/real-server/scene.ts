import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { inject } from "vitest";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import { checkConnection } from "../../lib/stack/cluster/check/check-connection.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import type { Connection } from "../../lib/rules/model/records.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { startMemory } from "../contracts/engines.ts";
import { type ApiCalls, apiCalls } from "../control-plane/api-calls.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { type MetricsScript, setMetrics } from "../control-plane/metrics-script.ts";
import {
  basePath,
  KINDS,
  type KindName,
  podTemplate,
  type Workload,
  workloadObject,
} from "./objects.ts";
import { openStored } from "../../lib/stack/sync/connected.ts";

const PERIOD_MS = 15_000;
const CLUSTER = "real";
const LOOK_AGAIN_MS = 50;
const WAIT_MAX_MS = 30_000;

/** What a scene takes other than its defaults. */
export interface SceneOptions {
  /** Where Tidemark connects; the administrator of the tests always asks the API server itself. */
  readonly url?: string;
  readonly ca?: string;
  readonly token?: string;
  readonly connection?: Connection;
  /** Another cluster than the one that all files share. */
  readonly cluster?: {
    readonly url: string;
    readonly ca: string;
    readonly adminToken: string;
    readonly tidemarkToken: string;
    readonly metricsUrl: string;
  };
  /** The namespace of another scene, with its workloads. */
  readonly namespace?: string;
  /** The clock of the connection, by which tokens age. */
  readonly clock?: () => number;
  /** What asks registered sources. */
  readonly sources?: NonNullable<SyncPorts["sources"]>;
  /** Wraps the client of each connection. */
  readonly wrap?: (client: ClusterClient) => ClusterClient;
}

/**
 * A namespace of its own in the real cluster, and a Tidemark that scales it: real service, real
 * sync, tables in memory.
 */
export interface Scene {
  readonly namespace: string;
  /** The path of a kubeconfig with the credentials of Tidemark. */
  readonly kubeconfig: string;
  readonly service: Service;
  readonly notices: readonly string[];
  /** A request of the administrator; throws where it is refused. */
  readonly admin: (
    method: string,
    path: string,
    body?: object,
    type?: string,
  ) => Promise<Readonly<Record<string, unknown>>>;
  readonly make: (
    kind: KindName,
    name: string,
    replicas?: number,
    labels?: Readonly<Record<string, string>>,
  ) => Promise<Workload>;
  readonly replicas: (workload: Workload) => Promise<number>;
  /** Waits until so many pods of the workload are running. */
  readonly running: (workload: Workload, pods: number) => Promise<void>;
  readonly metrics: (script: MetricsScript) => Promise<void>;
  readonly apply: (...manifests: readonly object[]) => Promise<void>;
  readonly sync: () => Promise<CompletedSync>;
  /** Lets the clock of Tidemark go on by so much. */
  readonly later: (ms: number) => void;
  readonly close: () => Promise<void>;
}

let scenes = 0;

export const newScene = async (name: string, options: SceneOptions = {}): Promise<Scene> => {
  const shared = options.cluster ?? inject("cluster");
  const namespace = options.namespace ?? `${name}-${process.pid}-${++scenes}`;
  const dir = mkdtempSync(join(tmpdir(), "tidemark-scene-"));
  const calls = apiCalls({ url: shared.url, ca: shared.ca, token: shared.adminToken });
  const path = join(dir, "kubeconfig");
  const { url = shared.url, ca = shared.ca, token = shared.tidemarkToken } = options;
  writeFileSync(path, kubeconfigText({ url, ca }, { token }), { mode: 0o600 });
  const admin = adminOf(calls);
  if (options.namespace === undefined)
    await admin("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const whole = join(dir, "whole");
  const seen = { url: shared.url, ca: shared.ca };
  writeFileSync(whole, kubeconfigText(seen, { token: shared.tidemarkToken }), { mode: 0o600 });
  const { ports, service, notices, later, closeClients } = await tidemark(options, whole);
  await service.addCluster({
    name: CLUSTER,
    connection: options.connection ?? { kind: "kubeconfig", path },
    syncPeriodMs: PERIOD_MS,
  });
  return {
    namespace,
    kubeconfig: path,
    service,
    notices,
    admin,
    make: async (kind, workload, replicas = 1, labels = {}) => {
      const made: Workload = { ...KINDS[kind], name: workload, replicas };
      const place = `${basePath(made.apiVersion)}/namespaces/${namespace}/${made.plural}`;
      const object = await admin("POST", place, workloadObject(made, labels));
      if (kind === "Fleet") await operate(admin, namespace, made, object);
      return made;
    },
    replicas: async (workload) => {
      const { spec } = await admin("GET", objectPath(namespace, workload));
      return (spec as { readonly replicas: number }).replicas;
    },
    running: (workload, pods) =>
      until(`${pods} pods of ${workload.name} run`, async () => {
        const selected = `labelSelector=app%3D${workload.name}&fieldSelector=status.phase%3DRunning`;
        const { items } = await admin("GET", `/api/v1/namespaces/${namespace}/pods?${selected}`);
        const { status } = await admin("GET", objectPath(namespace, workload));
        return (
          (items as readonly object[]).length === pods &&
          ((status as { readonly replicas?: number }).replicas ?? 0) === pods
        );
      }),
    metrics: (script) => setMetrics(shared.metricsUrl, script),
    apply: async (...manifests) => {
      const text = manifests.map((manifest) => JSON.stringify(manifest)).join("\n---\n");
      await service.apply([{ file: "scene.yaml", text }], {
        cluster: CLUSTER,
        namespace,
        dryRun: false,
      });
    },
    sync: () => completed(ports),
    later,
    close: async () => {
      closeClients();
      // The HPA controller would look at them each second until the last file is over.
      if (!options.cluster && options.namespace === undefined)
        await admin(
          "DELETE",
          `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`,
        );
      calls.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

export const objectPath = (namespace: string, { apiVersion, plural, name }: Workload): string =>
  `${basePath(apiVersion)}/namespaces/${namespace}/${plural}/${name}`;

/** Waits until it is true. Throws after half a minute. */
export const until = async (what: string, isTrue: () => Promise<boolean>): Promise<void> => {
  const untilMs = performance.now() + WAIT_MAX_MS;
  while (!(await isTrue())) {
    if (performance.now() > untilMs)
      throw new Error(`it took longer than ${WAIT_MAX_MS / 1_000} s until ${what}`);
    await wait(LOOK_AGAIN_MS);
  }
};

const adminOf =
  ({ call }: ApiCalls): Scene["admin"] =>
  async (method, path, body, type) => {
    const { status, body: answer } = await call(method, path, body, type);
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${answer}`);
    return JSON.parse(answer);
  };

/** Plays the operator of a custom resource, once: its pods, and what its scale tells of them. */
const operate = async (
  admin: Scene["admin"],
  namespace: string,
  fleet: Workload,
  object: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const { apiVersion, kind, name, replicas } = fleet;
  const { uid } = object["metadata"] as { readonly uid: string };
  for (let at = 0; at < replicas; at++) {
    const { metadata, spec } = podTemplate(name);
    const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
    await admin("POST", `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { ...metadata, name: `${name}-${at}`, ownerReferences },
      spec,
    });
  }
  const status = { replicas, selector: `app=${name}` };
  await admin(
    "PATCH",
    `${objectPath(namespace, fleet)}/status`,
    { status },
    "application/merge-patch+json",
  );
};

/**
 * Service and ports of a scene. `whole` is a kubeconfig with every right of
 * infra/cluster-rbac.yaml: the cluster was added by it, so that its identity is stored, whatever
 * the scene takes away later.
 */
const tidemark = async (
  { wrap = (client) => client, clock = Date.now, sources }: SceneOptions,
  whole: string,
) => {
  const engine = await startMemory();
  let aheadMs = 0;
  const tables: Tables = {
    client: engine.client,
    ...engine.tables,
    clock: () => Date.now() + aheadMs,
    wait: async (ms) => wait(ms),
    random: Math.random,
    token: randomUUID,
  };
  const insert = insertByStatement(tables);
  const notices: string[] = [];
  const clients: ClusterClient[] = [];
  let client: Promise<ClusterClient> | undefined;
  const ports: SyncPorts = {
    tables,
    insert,
    connect: (record) => {
      client ??= openStored(tables)(record, {
        clock,
        trusted: ON_THIS_MACHINE,
        notice: (message) => void notices.push(message),
      }).then((opened) => {
        clients.push(opened);
        return wrap(opened);
      });
      client.catch(() => {
        client = undefined;
      });
      return client;
    },
    rules: PURE_PART,
    timing: DEFAULT_TIMING,
    cache: warmCache(),
    ...(sources && { sources }),
  };
  const service = openService({
    tables,
    insert,
    clock: tables.clock,
    by: "test",
    newUid: randomUUID,
    checkConnection: ({ name, scaled }) =>
      checkConnection(
        { name, connection: { kind: "kubeconfig", path: whole }, ...(scaled && { scaled }) },
        { clock: Date.now, trusted: ON_THIS_MACHINE },
      ),
  });
  const closeClients = (): void => {
    for (const opened of clients) opened.close();
  };
  const later = (ms: number): void => {
    aheadMs += ms;
  };
  return { ports, service, notices, later, closeClients };
};

/** Due times are whole milliseconds, each later than the one before. */
const completed = async (ports: SyncPorts): Promise<CompletedSync> => {
  await wait(2);
  const report = await sync(ports, {
    cluster: clusterName(CLUSTER),
    partition: WHOLE_CLUSTER,
    dueMs: ports.tables.clock(),
    periodMs: PERIOD_MS,
  });
  if (report.kind !== "completed") throw new Error(`a sync was dropped: ${report.why}`);
  return report;
};
