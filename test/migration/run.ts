import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { startWholeCluster } from "../control-plane/cluster.ts";
import { type App, appsOf } from "../control-plane/fill.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { setMetrics } from "../control-plane/metrics-script.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { startRun, tidemark } from "../e2e/start-process.ts";
import { AUDIT_POLICY, auditedRequests } from "./audit.ts";
import { writersOf } from "./writers.ts";

/**
 * `npm run prove -- takeover [--autoscalers 200] [--kills 3]`: HPAs on a real control plane under a
 * load that moves are imported and taken over by one command, which is killed and called again. The
 * audit log of the API server then has to show one writer of each count at any time. Prints what
 * was done; ends with 1 when something is wrong.
 */
const { values } = parseArgs({
  options: {
    autoscalers: { type: "string", default: "200" },
    kills: { type: "string", default: "3" },
    wait: { type: "string", default: "10m" },
    shadow: { type: "string", default: "3" },
  },
});
const [count, kills, shadowMinutes] = [
  Number(values.autoscalers),
  Number(values.kills),
  Number(values.shadow),
];
if (!(count >= 1) || !(kills >= 0) || !(shadowMinutes >= 0))
  throw new RangeError(
    "Cannot run: --autoscalers must be from 1 on, --kills and --shadow from 0 on",
  );

const PERIOD_MS = 15_000;
const LOAD_EVERY_MS = 5_000;
/** The load of each workload goes up and down in so long, each at another moment. */
const SWING_MS = 480_000;
const [LEAST_MILLI, MOST_MILLI] = [150, 550];
const KILL_AFTER_MS = [15_000, 45_000] as const;
const IN_SHADOW_MAX_MS = 240_000;
const CLUSTER = "control-plane";
const UNDER_WAY_MS = 2_000;
const PARALLEL = 8;

const began = performance.now();
const minutes = (): string => `${((performance.now() - began) / 60_000).toFixed(1)} min`;
const print = (line: string): void =>
  void process.stdout.write(`${minutes().padStart(9)}  ${line}\n`);

const deploymentOf = ({ name }: App): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [{ name: "app", image: "none", resources: { requests: { cpu: "100m" } } }],
      },
    },
  },
});

const hpaOf = ({ name }: App): object => ({
  metadata: { name },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    ...{ minReplicas: 1, maxReplicas: 10 },
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 100 } },
      },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
  },
});

const fill = async ({ call }: ControlPlane, apps: readonly App[]): Promise<void> => {
  const make = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await call("POST", path, body);
    if (status >= 300) throw new Error(`POST ${path} was answered ${status}: ${answer}`);
  };
  for (const name of new Set(apps.map(({ namespace }) => namespace)))
    await make("/api/v1/namespaces", { metadata: { name } });
  await mapWithLimit(apps, PARALLEL, async (app) => {
    await make(`/apis/apps/v1/namespaces/${app.namespace}/deployments`, deploymentOf(app));
    await make(
      `/apis/autoscaling/v2/namespaces/${app.namespace}/horizontalpodautoscalers`,
      hpaOf(app),
    );
  });
};

/** A sine of each workload, with a little noise. */
const loadOf = (apps: readonly App[], nowMs: number): Readonly<Record<string, number>> =>
  Object.fromEntries(
    apps.map(({ namespace, name }, at) => {
      const turn = (nowMs / SWING_MS + at / apps.length) * 2 * Math.PI;
      const milli = LEAST_MILLI + ((MOST_MILLI - LEAST_MILLI) * (1 + Math.sin(turn))) / 2;
      return [`cpu ${namespace}/${name}`, Math.round(milli * (1 + (Math.random() - 0.5) / 25))];
    }),
  );

const done = async (args: readonly string[]): Promise<string> => {
  const { code, out, err } = await tidemark(args);
  if (code !== 0) throw new Error(`tidemark ${args.join(" ")} ended with ${code}: ${err}`);
  return out;
};

const states = async (data: string): Promise<Readonly<Record<string, number>>> => {
  const { items } = JSON.parse(await done(["get", "-A", "-o", "json", "--data", data])) as {
    readonly items: readonly { readonly status: { readonly state: string } }[];
  };
  return Object.fromEntries(
    [...Map.groupBy(items, ({ status }) => status.state)].map(([state, of]) => [state, of.length]),
  );
};

interface Called {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const TIDEMARK = join(import.meta.dirname, "../../bin/tidemark.js");

/** Calls takeover, and kills it after so long; undefined lets it end. */
const takeOver = async (
  args: readonly string[],
  killAfterMs: number | undefined,
): Promise<Called> => {
  const child = spawn(process.execPath, [TIDEMARK, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.on("data", (text) => {
    said.out += text;
  });
  child.stderr.on("data", (text) => {
    said.err += text;
  });
  const closed = once(child, "close");
  const timer =
    killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const [code] = (await closed) as [number | null];
  clearTimeout(timer);
  return { code, ...said };
};

const linesWith = (text: string, words: string): number =>
  text.split("\n").filter((line) => line.includes(words)).length;

const binaries = controlPlaneBinaries();
if (binaries.kind === "missing") {
  process.stderr.write(`Cannot run: ${binaries.message}\n`);
  process.exit(2);
}
const dir = mkdtempSync(join(tmpdir(), "tidemark-migration-"));
const closing: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
try {
  const { plane, metricsUrl, tidemarkToken, close } = await startWholeCluster(binaries.folder, {
    auditPolicy: AUDIT_POLICY,
    hpaPeriodSeconds: 15,
  });
  closing.unshift(close);
  const apps = appsOf(count);
  await setMetrics(metricsUrl, loadOf(apps, Date.now()));
  const load = setInterval(
    () =>
      void setMetrics(metricsUrl, loadOf(apps, Date.now())).catch((error) => print(String(error))),
    LOAD_EVERY_MS,
  );
  closing.unshift(() => clearInterval(load));
  await fill(plane, apps);
  print(`${count} Deployments, each with an HPA, under a load that moves`);

  const [own, person, data] = [join(dir, "tidemark"), join(dir, "person"), join(dir, "data")];
  writeFileSync(own, kubeconfigText(plane, { token: tidemarkToken }), { mode: 0o600 });
  writeFileSync(person, kubeconfigText(plane, { token: plane.token }), { mode: 0o600 });
  const run = startRun(["--kubeconfig", own, "--data", data]);
  closing.unshift(async () => {
    run.child.kill("SIGTERM");
    await run.ended;
  });
  // A run needs some seconds until its folder can be used.
  await wait(PERIOD_MS);
  await done(["import", "--kubeconfig", person, "--cluster", CLUSTER, "--apply", "--data", data]);
  const untilMs = performance.now() + IN_SHADOW_MAX_MS;
  while (((await states(data))["shadow"] ?? 0) < count) {
    if (performance.now() > untilMs)
      throw new Error(
        `after ${IN_SHADOW_MAX_MS / 1_000} s not all are in the shadow: ${JSON.stringify(await states(data))}`,
      );
    await wait(PERIOD_MS / 3);
  }
  print(`all ${count} are in the state shadow; ${shadowMinutes} min beside the HPA controller`);
  await wait(shadowMinutes * 60_000);
  print(
    `shadow: ${(await done(["shadow", "-A", "--since", "1h", "--data", data])).trim().split("\n").at(-1)}`,
  );

  const args = ["takeover", "-A", "--wait", values.wait, "--kubeconfig", person, "--data", data];
  const beganMs = performance.now();
  const outs: string[] = [];
  let last: Called = { code: null, out: "", err: "" };
  for (let call = 0; call <= kills; call++) {
    const [from, to] = KILL_AFTER_MS;
    last = await takeOver(args, call < kills ? from + Math.random() * (to - from) : undefined);
    outs.push(last.out);
    print(
      `takeover ${call < kills ? "killed" : `ended with ${last.code}`}: ${linesWith(last.out, "the next 2 syncs are watched")} switched, ${linesWith(last.out, "taken over at")} taken over`,
    );
  }
  const tookMs = performance.now() - beganMs;
  print(
    `takeover: ${(tookMs / 60_000).toFixed(1)} min in ${kills + 1} calls; states ${JSON.stringify(await states(data))}`,
  );
  for (const line of last.err.trim().split("\n").slice(-5)) print(`  ${line}`);
  // Tidemark goes on for a while by itself: a second writer would show now.
  await wait(4 * PERIOD_MS);

  const requests = auditedRequests(plane.auditLog);
  const writers = writersOf(requests, {
    own: "tidemark",
    gapMs: 2 * PERIOD_MS,
    underWayMs: UNDER_WAY_MS,
  });
  const said = linesWith(outs.join("\n"), "the next 2 syncs are watched");
  print(
    `audit log: ${writers.switched} HPAs deleted, ${said} of them printed; ${writers.before} counts written by the HPA controller, ${writers.after} by Tidemark`,
  );
  print(
    `audit log: the next sync came after ${writers.longestGapMs} ms at most; the last write of the HPA controller ${writers.latestMs} ms after a deletion`,
  );
  const missing =
    writers.switched - said > kills
      ? [`${writers.switched - said} deletions were not printed, and ${kills} calls were killed`]
      : [];
  const unfinished =
    writers.switched < count ? [`${count - writers.switched} of ${count} were not taken over`] : [];
  // What a person shows who must approve the migration: the command reads the same log.
  const evidence = await tidemark([
    "writers",
    "--audit-log",
    plane.auditLog,
    "--cluster",
    CLUSTER,
    "--data",
    data,
  ]);
  const verdict = evidence.out.trim().split("\n").at(-1) ?? "";
  print(`tidemark writers: ${verdict}`);
  const found = Number(/^\d+ workloads?, (\d+) writes? /.exec(verdict)?.[1] ?? 0);
  const refused = [
    ...(evidence.code === 0
      ? []
      : [`tidemark writers ended with ${evidence.code}: ${evidence.err.trim()}`]),
    ...(found >= writers.before + writers.after
      ? []
      : [`tidemark writers found ${found} writes of ${writers.before + writers.after}`]),
  ];
  const faults = [...writers.faults, ...missing, ...refused];
  for (const fault of [...faults, ...unfinished]) print(`WRONG  ${fault}`);
  print(
    faults.length === 0
      ? "one writer of each count at any time, and no gap"
      : `${faults.length} faults`,
  );
  process.exitCode = faults.length === 0 && unfinished.length === 0 ? 0 : 1;
} finally {
  for (const close of closing) await close();
}
