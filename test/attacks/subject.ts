import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { accessTo } from "../cluster/stand-in/connected.ts";
import { startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { testTables } from "../sync/world.ts";
import type { Checkout } from "./checkout.ts";

const PERIOD_MS = 15_000;

/** What the tables were asked to store. */
export interface Stored {
  /** Of DynamoDB: one for each KiB that is begun of an item. */
  units: number;
  historyBytes: number;
}

/**
 * A cluster in the tables of its own, with a function that syncs it: the code of a checkout on a
 * stand-in of an API server.
 */
export interface Subject {
  /** The next sync, fifteen seconds after the one before. */
  readonly next: () => Promise<CompletedSync>;
  readonly stored: Stored;
  readonly client: ClusterClient;
}

export interface SubjectOptions {
  readonly record?: Partial<ClusterRecord>;
  readonly manifests?: readonly string[];
  readonly client?: (client: ClusterClient) => ClusterClient;
  /** What asks registered sources. */
  readonly sources?: SyncPorts["sources"];
  readonly softDeadlineMs?: number;
  /** Called with the tables before the first sync. */
  readonly prepare?: (tables: SyncPorts["tables"]) => Promise<void>;
  /** True where each sync has an environment of its own. */
  readonly isCold?: boolean;
}

export const subjectOn = async (
  code: Checkout,
  server: { readonly url: string; readonly ca: string },
  {
    record = {},
    manifests = [],
    client: changed = (client) => client,
    prepare = async () => undefined,
    ...options
  }: SubjectOptions,
): Promise<Subject> => {
  const engine = await startMemory();
  const stored: Stored = { units: 0, historyBytes: 0 };
  let passedMs = 0;
  const startMs = Date.now();
  const clock = (): number => Date.now() + passedMs;
  const counting = around(engine.client, async (_command, send, input) => {
    for (const item of itemsOf(input)) stored.units += Math.ceil(bytesOf(item) / 1_024);
    stored.historyBytes += bytesOf(statementsOf(input));
    return send();
  });
  const tables = testTables(counting, engine.tables, clock);
  const cluster: ClusterRecord = {
    name: clusterName("eu-1"),
    uid: "uid-of-cluster",
    syncPeriodMs: PERIOD_MS,
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
    version: 1,
    ...record,
  };
  await code.putCluster(tables, cluster, undefined);
  for (const manifest of manifests) {
    const { metadata } = JSON.parse(manifest) as {
      readonly metadata: { readonly namespace: string; readonly name: string };
    };
    const place = {
      cluster: cluster.name,
      namespace: namespace(metadata.namespace),
      name: autoscalerName(metadata.name),
    };
    const times = { generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" };
    await code.putAutoscaler(
      tables,
      {
        ...place,
        uid: autoscalerUid(`uid-of-${metadata.namespace}-${metadata.name}`),
        manifest,
        ...times,
      },
      undefined,
    );
  }
  // As the address of another machine: the stand-ins are on this one.
  const trusted = { files: false, ownAddresses: true };
  await prepare(tables);
  const { softDeadlineMs = code.timing.softDeadlineMs } = options;
  const environment = (): Pick<SyncPorts, "cache"> & { readonly client: ClusterClient } => ({
    client: changed(
      code.clientFor({ ...cluster, kubeSystemUid: undefined }, accessTo(server), {
        clock: Date.now,
        trusted,
      }),
    ),
    cache: code.warmCache(),
  });
  let { client, cache } = environment();
  const portsNow = (): SyncPorts => ({
    ...{ tables, rules: code.rules, timing: { ...code.timing, softDeadlineMs }, cache },
    insert: code.insertByStatement(tables),
    connect: async () => client,
    ...(options.sources && { sources: options.sources }),
  });
  const next = async (): Promise<CompletedSync> => {
    if (options.isCold) ({ client, cache } = environment());
    passedMs += PERIOD_MS;
    const report = await code.sync(portsNow(), {
      cluster: cluster.name,
      partition: WHOLE_CLUSTER,
      dueMs: startMs + passedMs,
      periodMs: PERIOD_MS,
    });
    if (report.kind !== "completed") throw new Error(`the sync was dropped: ${report.why}`);
    return report;
  };
  return { next, stored, client };
};

interface Input {
  readonly Item?: unknown;
  readonly ExpressionAttributeValues?: unknown;
  readonly UpdateExpression?: string;
  readonly Statements?: readonly { readonly Parameters?: unknown }[];
}

const statementsOf = (input: unknown): readonly unknown[] =>
  ((input as Input).Statements ?? []).map(({ Parameters }) => Parameters);

/** What a request stores, item by item. */
const itemsOf = (input: unknown): readonly unknown[] => {
  const { Item, UpdateExpression, ExpressionAttributeValues } = input as Input;
  const written = UpdateExpression === undefined ? Item : ExpressionAttributeValues;
  return [...(written === undefined ? [] : [written]), ...statementsOf(input)];
};

const bytesOf = (value: unknown): number => {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + bytesOf(member), 0);
};
