import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../lib/embedded/host/loopback.ts";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { readHead } from "../../lib/stack/store/head/head.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { DEFAULT_TIMING, deadlineOf } from "../../lib/stack/plan/message.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { fillCluster } from "../control-plane/fill.ts";
import { startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { startControlPlane } from "../control-plane/start.ts";
import { AUDIT_POLICY, auditedPuts } from "./audit.ts";
import { breaches, type StoredEvent } from "./check.ts";
import { editObject, makeObjects, recordsBehind } from "./objects.ts";
import { print, printOutcome, printProgress } from "./outcome.ts";
import { startProxy } from "./proxy.ts";
import {
  APPS,
  CLUSTERS,
  FROM_OBJECTS,
  FROM_TABLE,
  hpaOf,
  LIMITS,
  NAMESPACES,
  partitionsOf,
} from "./setting.ts";
import { startChaosTables } from "./tables.ts";
import { startWorkers } from "./workers.ts";

/**
 * `npm run prove -- chaos [--minutes 60]`: a real kube-apiserver, DynamoDB Local or the embedded
 * tables, worker processes that are killed and stopped, and proxies before both servers that delay,
 * cut, repeat and lose requests. At the end the API server's audit log is held against the stored
 * events. Prints what was done; ends with 1 when something is wrong.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    workers: { type: "string", default: "4" },
  },
});
const chaosMs = Number(values.minutes) * 60_000;
const workerCount = Number(values.workers);
if (!(chaosMs > 0) || !(workerCount > 0))
  throw new RangeError("Cannot run: --minutes and --workers must be above 0");

const PERIOD_MS = 5_000;
const LOAD_EVERY_MS = 12_000;
const EDIT_EVERY_MS = 20_000;
const PROGRESS_EVERY_MS = 60_000;
const DISTURB_MS = [4_000, 12_000] as const;
const FAULT_RATE = 0.08;
/** Copies of one message at once. */
const DOUBLED = 0.2;
/** Longer than a lease and a deadline, so that what was under way is settled. */
const QUIET_MS = 100_000;
/** Shorter than the server's timeout for a PUT and than what is left of a table call. */
const LATE_MAX_MS = 3_000;
const CPU_MILLI = [40, 100, 250, 450, 700, 900];

const PARTITIONS = CLUSTERS.flatMap((name) =>
  NAMESPACES[name].map((partition) => ({
    cluster: clusterName(name),
    partition: partitionName(partition),
  })),
);

const between = ([from, to]: readonly [number, number]): number =>
  from + Math.random() * (to - from);

const binaries = controlPlaneBinaries();
if (binaries.kind === "missing") {
  process.stderr.write(`Cannot run: ${binaries.message}\n`);
  process.exit(2);
}

const dir = mkdtempSync(join(tmpdir(), "tidemark-chaos-"));
const closing: (() => Promise<void> | void)[] = [
  () => rmSync(dir, { recursive: true, force: true }),
];
try {
  const plane = await startControlPlane(binaries.folder, { auditPolicy: AUDIT_POLICY });
  closing.unshift(plane.close);
  const apps = [...APPS[FROM_TABLE], ...APPS[FROM_OBJECTS]];
  await fillCluster(plane, apps);
  const adapter = await startMetricsAdapter(plane, apps, dir);
  closing.unshift(adapter.close);
  await makeObjects(plane, APPS[FROM_OBJECTS]);
  const engine = await startChaosTables();
  closing.unshift(engine.close);

  let rate = 0;
  const credentials = await serverCredentials(dir, Date.now());
  const tls = { cert: credentials.certificatePem, key: credentials.keyPem };
  const toCluster = await startProxy({
    url: plane.url,
    ca: plane.ca,
    tls,
    lateMaxMs: LATE_MAX_MS,
    rate: () => rate,
  });
  const toTables = await startProxy({
    url: engine.endpoint,
    lateMaxMs: LATE_MAX_MS,
    rate: () => rate,
  });
  closing.unshift(toCluster.close, toTables.close);

  const kubeconfig = join(dir, "kubeconfig.json");
  const cluster = {
    server: toCluster.url,
    "certificate-authority-data": Buffer.from(credentials.caPem).toString("base64"),
  };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "chaos",
      clusters: [{ name: "chaos", cluster }],
      users: [{ name: "chaos", user: { token: plane.token } }],
      contexts: [{ name: "chaos", context: { cluster: "chaos", user: "chaos" } }],
    }),
  );

  const tables: Tables = {
    client: engine.client,
    ...TABLE_NAMES,
    clock: Date.now,
    wait: async (ms) => wait(ms),
    random: Math.random,
    token: randomUUID,
  };
  const service = openService({
    tables,
    insert: insertByStatement(tables),
    clock: Date.now,
    by: "chaos",
    newUid: randomUUID,
  });
  const connection = { kind: "kubeconfig", path: kubeconfig } as const;
  for (const name of CLUSTERS) {
    const specsFromCluster = name === FROM_OBJECTS ? (["PodAutoscaler"] as const) : [];
    await service.addCluster({
      name,
      connection,
      syncPeriodMs: PERIOD_MS,
      partitions: partitionsOf(NAMESPACES[name]),
      specsFromCluster,
    });
  }
  const text = APPS[FROM_TABLE].map((app) => JSON.stringify(hpaOf(app))).join("\n---\n");
  await service.apply([{ file: "chaos.yaml", text }], { cluster: FROM_TABLE, dryRun: false });

  const workers = startWorkers(workerCount, {
    ...process.env,
    AWS_ENDPOINT_URL_DYNAMODB: toTables.url,
    AWS_REGION: LOOPBACK_REGION,
    AWS_ACCESS_KEY_ID: LOOPBACK_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: LOOPBACK_CREDENTIALS.secretAccessKey,
  });
  closing.unshift(workers.close);

  const problems: string[] = [];
  let objectEdits = 0;
  const startMs = Date.now();
  const endMs = startMs + chaosMs;
  const deliverDue = (dueMs: number): void => {
    for (const partition of PARTITIONS) {
      const message = { ...partition, dueMs, periodMs: PERIOD_MS };
      workers.deliver(message);
      if (Math.random() < DOUBLED) workers.deliver(message);
    }
  };
  const timers = [
    setInterval(() => deliverDue(Date.now() - (Date.now() % PERIOD_MS)), PERIOD_MS),
    setInterval(() => {
      adapter.cpuMilli = CPU_MILLI[Math.floor(Math.random() * CPU_MILLI.length)] ?? 100;
    }, LOAD_EVERY_MS),
  ];
  const editing = setInterval(() => {
    objectEdits++;
    editObject(plane, APPS[FROM_OBJECTS]).catch((error: unknown) =>
      problems.push(`an object could not be edited: ${String(error)}`),
    );
  }, EDIT_EVERY_MS);
  print(
    `${apps.length} autoscalers, ${APPS[FROM_OBJECTS].length} of them objects of the cluster, in ${PARTITIONS.length} partitions`,
  );
  print(`${workerCount} workers, ${engine.name}, for ${values.minutes} minutes`);
  const progress = setInterval(
    () => printProgress(Date.now() - startMs, chaosMs, workers),
    PROGRESS_EVERY_MS,
  );
  rate = FAULT_RATE;
  while (Date.now() < endMs) {
    await wait(between(DISTURB_MS));
    workers.disturb();
  }
  rate = 0;
  workers.calm();
  // A changed object is stored a minute after the last time at the earliest.
  clearInterval(editing);
  clearInterval(progress);
  print(`no more faults: what is open has ${QUIET_MS / 1_000} s to be settled`);
  await wait(QUIET_MS);
  for (const timer of timers) clearInterval(timer);
  await wait(PERIOD_MS);

  const events = await Array.fromAsync(service.events({}));
  const stored = events.flatMap(({ at, outcome, ...event }): readonly StoredEvent[] =>
    outcome === "outside" ? [] : [{ ...event, outcome, atMs: Date.parse(at) }],
  );
  const puts = auditedPuts(plane.auditLog);
  const heads = await Promise.all(PARTITIONS.map((partition) => readHead(tables, partition)));
  const open = heads.flatMap((head) => [...(head?.intents ?? []), ...(head?.unreadable ?? [])]);
  const faults = [
    ...problems,
    ...(await recordsBehind(plane, tables, APPS[FROM_OBJECTS])),
    ...breaches(puts, stored, { ...LIMITS, deadlineMs: deadlineOf(0, DEFAULT_TIMING) }),
    ...open.map(({ id }) => `the intent "${id}" is still open`),
    ...CLUSTERS.filter(
      (name) => !puts.some(({ namespace }) => NAMESPACES[name].includes(namespace)),
    ).map((name) => `no PUT was ever sent for "${name}"`),
  ];
  printOutcome({
    workers,
    proxies: { "the tables": toTables, "the cluster": toCluster },
    objectEdits,
    puts,
    stored,
    faults,
    auditLog: plane.auditLog,
  });
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  for (const close of closing) await close();
}
