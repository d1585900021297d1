import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import {
  autoscalerName,
  autoscalerUid,
  namespace as namespaceOf,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { type Checkout, HERE } from "../attacks/checkout.ts";
import { accessTo } from "../cluster/stand-in/connected.ts";
import type { Engine } from "../contracts/engines.ts";
import { nameOf } from "./stand-in-fleet.ts";
import { type App, CPU, type Manifest, manifestText, TENANT } from "./tenants-attacks.ts";
import { testTables } from "./world.ts";

/** What became of the others in one sync of a cluster over real HTTPS. */
export interface Played {
  readonly report: CompletedSync;
  /** Each decision about one of them as text, by its name. */
  readonly decisions: ReadonlyMap<string, string>;
  readonly scaled: ReadonlySet<string>;
  /** From the beginning of the sync to the answer about the last scale of one of them. */
  readonly scaledMs: number;
  /** CPU of this process in that time, of all its threads. */
  readonly cpuMs: number;
}

const PERIOD_MS = 60_000;
/** The time of every decision, so that decisions of two runs can be compared. */
const DECIDED_MS = 1_800_000_000_000;

let clusters = 0;

/**
 * One sync of the others and the tenant's autoscalers, by a function that has read the cluster
 * before.
 */
export const play = async (
  engine: Engine,
  server: { readonly url: string; readonly ca: string },
  autoscalers: { readonly others: readonly App[]; readonly tenant: readonly Manifest[] },
  code: Checkout = HERE,
): Promise<Played> => {
  const { putCluster, putAutoscaler } = code;
  const name = nameOf(1_000 + clusters++);
  const tables = testTables(engine.client, engine.tables, Date.now);
  const record = {
    name,
    uid: `uid-of-${name}`,
    syncPeriodMs: PERIOD_MS,
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
    version: 1,
  };
  await putCluster(tables, record, undefined);
  const manifests: readonly Manifest[] = [
    ...autoscalers.others.map((app) => ({ ...app, metrics: [CPU] })),
    ...autoscalers.tenant,
  ];
  for (const manifest of manifests) {
    const times = { generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" };
    const place = {
      cluster: name,
      namespace: namespaceOf(manifest.namespace),
      name: autoscalerName(manifest.name),
    };
    const uid = autoscalerUid(`uid-${manifest.namespace}-${manifest.name}`);
    await putAutoscaler(
      tables,
      { ...place, uid, manifest: manifestText(manifest), ...times },
      undefined,
    );
  }
  await code.raiseSpecVersion(tables, { cluster: name, partition: WHOLE_CLUSTER });
  const decisions = new Map<string, string>();
  const scaled = new Set<string>();
  let [lastMs, cpuMs] = [0, 0];
  let cpuFrom = process.cpuUsage();
  const client = code.clientFor({ ...record, kubeSystemUid: undefined }, accessTo(server), {
    clock: Date.now,
  });
  const watched: ClusterClient = {
    ...client,
    putScale: async (write, timeoutMs) => {
      const answer = await client.putScale(write, timeoutMs);
      if (write.namespace === TENANT || answer.kind !== "applied") return answer;
      scaled.add(`${write.namespace}/${write.target.name}`);
      lastMs = performance.now();
      const { user, system } = process.cpuUsage(cpuFrom);
      cpuMs = (user + system) / 1_000;
      return answer;
    },
  };
  const decide: Checkout["rules"]["decide"] = (input) => {
    const decision = code.rules.decide({
      ...input,
      nowMs: DECIDED_MS,
      ...(input.answeredMs !== undefined && { answeredMs: DECIDED_MS }),
    });
    if (input.namespace !== TENANT)
      decisions.set(`${input.namespace}/${input.name}`, JSON.stringify(decision, bigints));
    return decision;
  };
  const ports = {
    tables,
    insert: code.insertByStatement(tables),
    connect: async () => watched,
    rules: { ...code.rules, decide },
    timing: code.timing,
    cache: code.warmCache(),
  };
  const message = { cluster: record.name, partition: WHOLE_CLUSTER, periodMs: PERIOD_MS };
  // A sync before the one that counts opens the connections, and writes nothing.
  await putCluster(tables, { ...record, paused: { by: "test", atMs: 0 }, version: 2 }, 1);
  await code.sync(ports, { ...message, dueMs: Date.now() - 1 });
  await putCluster(tables, { ...record, version: 3 }, 2);
  decisions.clear();
  globalThis.gc?.();
  cpuFrom = process.cpuUsage();
  const fromMs = performance.now();
  const report = await code.sync(ports, { ...message, dueMs: Date.now() });
  client.close();
  if (report.kind !== "completed") throw new Error(`the sync was dropped: ${report.why}`);
  return { report, decisions, scaled, scaledMs: lastMs - fromMs, cpuMs };
};

const bigints = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value;
