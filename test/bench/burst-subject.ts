import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { checkoutOf } from "../attacks/checkout.ts";
import type { Engine } from "../contracts/engines.ts";
import type { App } from "../control-plane/fill.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { testTables } from "../sync/world.ts";

/**
 * Thousandths of a core that every pod uses; it asks for a hundred, and half of that is the target.
 */
export const CPU = { calm: 50, up: 150, down: 20 } as const;
export type Load = keyof typeof CPU;

const PERIOD_MS = 15_000;
const SYNCS_MAX = 10;
const MAX_OF_ONE_POD = 10;
/** Edits of the last minute are told in every sync, which is not how a cluster at rest is. */
const REGISTERED = Date.now() - 3_600_000;

const manifest = ({ namespace: ns, name, pods = 1 }: App) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name, namespace: ns },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    minReplicas: 1,
    maxReplicas: MAX_OF_ONE_POD * pods,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  },
});

/** One checkout of the project with a cluster record, an environment and a client of its own. */
export interface Subject {
  readonly name: string;
  readonly cluster: ClusterRecord;
  readonly client: ClusterClient;
  readonly ports: SyncPorts;
  readonly sync: (ports: SyncPorts, message: object) => Promise<CompletedSync>;
}

/** What a folder holds of the project, on a cluster and tables that others use too. */
export const subjectOf = async (
  name: string,
  folder: string,
  plane: Pick<ControlPlane, "url" | "ca" | "token">,
  engine: Pick<Engine, "client" | "tables">,
  apps: readonly App[],
): Promise<Subject> => {
  const {
    sync,
    rules,
    timing,
    warmCache,
    clientFor,
    insertByStatement,
    putCluster,
    putAutoscaler,
  } = await checkoutOf(folder);
  const tables: Tables = testTables(engine.client, engine.tables, Date.now);
  const cluster: ClusterRecord = {
    name: clusterName(name),
    uid: `uid-of-${name}`,
    syncPeriodMs: PERIOD_MS,
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
    version: 1,
  };
  await putCluster(tables, cluster, undefined);
  await mapWithLimit(apps, 8, (app) => putAutoscaler(tables, recordOf(cluster, app), undefined));
  const access = {
    server: new URL(plane.url),
    ca: plane.ca,
    rejectUnauthorized: true,
    ownAddresses: true,
    credentials: async () => ({ headers: { authorization: `Bearer ${plane.token}` } }),
    forget: () => undefined,
  };
  const client: ClusterClient = clientFor({ ...cluster, kubeSystemUid: undefined }, access, {
    clock: Date.now,
  });
  const insert = insertByStatement(tables);
  const ports = { tables, insert, connect: async () => client, rules, timing, cache: warmCache() };
  return { name, cluster, client, ports, sync: sync as Subject["sync"] };
};

export const recordOf = ({ name: cluster }: ClusterRecord, app: App): AutoscalerRecord => ({
  cluster,
  namespace: namespace(app.namespace),
  name: autoscalerName(app.name),
  uid: autoscalerUid(`0b0cf6ee-57de-4a07-8d6e-${app.name.slice(-5).padStart(12, "0")}`),
  generation: 1,
  manifest: JSON.stringify(manifest(app)),
  createdMs: REGISTERED,
  updatedMs: REGISTERED,
  updatedBy: "bench",
});

export interface Played {
  readonly subject: string;
  readonly what: Load;
  readonly syncs: number;
  readonly scales: number;
  /** Pages of windows and of the journal that were written. */
  readonly pages: number;
  readonly wallMs: number;
  readonly ownMs: number;
  readonly serverMs: number;
  readonly phasesMs: Readonly<Record<string, number>>;
}

let dueMs = 0;

/** Syncs until nothing is left to scale; a calm round is one sync. */
export const play = async (
  subject: Subject,
  plane: ControlPlane,
  what: Load,
  workloads: number,
): Promise<Played> => {
  const cpu = process.cpuUsage();
  const server = plane.apiServer.cpuSeconds();
  const startedMs = performance.now();
  const phasesMs: Record<string, number> = {};
  let [syncs, scales, pages] = [0, 0, 0];
  for (; syncs < SYNCS_MAX; ) {
    dueMs = Math.max(dueMs + 1, Date.now());
    const message = {
      cluster: subject.cluster.name,
      partition: WHOLE_CLUSTER,
      dueMs,
      periodMs: PERIOD_MS,
    };
    const report = await subject.sync(subject.ports, message);
    if (report.kind !== "completed")
      throw new Error(`a sync of ${subject.name} was ${JSON.stringify(report)}`);
    syncs++;
    scales += report.events.filter(({ outcome }) => outcome === "applied").length;
    pages += report.pagesWritten + report.journalPages;
    for (const [phase, ms] of Object.entries(report.phasesMs))
      phasesMs[phase] = (phasesMs[phase] ?? 0) + ms;
    if (what === "calm" || scales >= workloads) break;
  }
  const { user, system } = process.cpuUsage(cpu);
  const wallMs = performance.now() - startedMs;
  return {
    subject: subject.name,
    what,
    syncs,
    scales,
    pages,
    wallMs,
    ownMs: (user + system) / 1_000,
    serverMs: (plane.apiServer.cpuSeconds() - server) * 1_000,
    phasesMs,
  };
};
