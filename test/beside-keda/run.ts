import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sourcesWhenAsked } from "../../lib/stack/sync/observe/ask-sources.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { applyRoles } from "../control-plane/cluster.ts";
import { startHpaController, startWorkloadControllers } from "../control-plane/controllers.ts";
import { startKubelet } from "../control-plane/kubelet.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/start.ts";
import { allowSource, makeService, ownAddress } from "../real-server/proxied-service.ts";
import { newScene, type Scene, until } from "../real-server/scene.ts";
import { HAS_MOTO, motoServer } from "../source-client/moto.ts";
import { HAS_PROMETHEUS, scrapingPrometheus } from "../source-client/real-prometheus.ts";
import { buildKeda, certificateIn, hasKeda, kedaFolder, startKeda } from "./keda.ts";
import {
  exporter,
  HOUR_SAMPLES,
  type Loaded,
  LOAD_BEFORE,
  playedLoad,
  queueAt,
  SCRAPE_MS,
} from "./load.ts";
import {
  ACCOUNT,
  convertedOf,
  QUEUE,
  REGION,
  scaledObjectOf,
  STARTING_PODS,
  WORKLOADS,
  type WorkloadName,
} from "./objects.ts";
import { type Row, resultOf, rowOf } from "./rows.ts";
import { AUDIT_POLICY, type HpaSyncs, hpaSyncs } from "./syncs-of-hpa.ts";

/**
 * `npm run prove -- beside-keda [--step SECONDS] [--samples N] [--build]`: the operator and the
 * metrics server of KEDA 2.21 with the HPA controller on a real control plane, and PodAutoscalers
 * that `convert` made of its ScaledObjects in their shadow, over a recorded hour of 240 samples, a
 * rest and a start. A sync of Tidemark follows each sync of the HPA controller, and then the next
 * sample begins, so that both see the same. `--step` is the seconds between two syncs: 15 is the
 * hour as it was, 3 is five times faster. `--samples` is how many of the hour are played. Ends with
 * 1 where the counts differ in more than 0.5 % of the syncs.
 */
const { values } = parseArgs({
  options: {
    step: { type: "string", default: "3" },
    samples: { type: "string", default: String(HOUR_SAMPLES) },
    build: { type: "boolean", default: false },
  },
});
const samples = Number(values.samples);
if (!(samples >= 1 && samples <= HOUR_SAMPLES))
  throw new RangeError(`Cannot run: --samples must be from 1 to ${HOUR_SAMPLES}`);
const stepSeconds = Number(values.step);
if (!(stepSeconds >= 3))
  throw new RangeError(
    "Cannot run: --step must be 3 or more, because a sample must reach the Prometheus, the HPA controller and Tidemark",
  );
const STEP_MS = stepSeconds * 1_000;
/**
 * From the question of the HPA controller to the status of its HPA, on a machine with other work.
 */
const SETTLED_MS = 400;
const LEAD_SAMPLES = 6;
const AGREED_LEAST = 0.995;
const SERVICE = {
  namespace: "monitoring",
  name: "prometheus",
  port: "9090",
  scheme: "http",
  path: "",
} as const;
const TOKEN = "token-of-tidemark";

const REPORTS = "reports/beside-keda";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const missing = (folder: string): string | undefined => {
  if (!hasKeda(folder))
    return `"${folder}" lacks operator, adapter or crd; --build builds KEDA there with Go, or KEDA_PROGRAMS names another folder`;
  if (!HAS_PROMETHEUS) return "there is no prometheus with promtool; apt-get install prometheus";
  if (ownAddress() === undefined)
    return "this machine has no address but loopback, and the API server sends requests to no service there";
  if (!HAS_MOTO) return "there is no moto_server; pip install 'moto[server]'";
  const binaries = controlPlaneBinaries();
  return binaries.kind === "missing" ? binaries.message : undefined;
};

const registerSources = async ({ service }: Scene): Promise<void> => {
  const all = { clusters: ["*"], namespaces: ["*"] };
  await service.putSource({ name: "main", kind: "prometheus", service: SERVICE, ...all });
  const roleArn = `arn:aws:iam::${ACCOUNT}:role/tidemark-source-queues`;
  await service.putSource({
    name: "queues",
    kind: "sqs",
    aws: { region: REGION, roleArn, externalId: "beside-keda", queues: [QUEUE] },
    ...all,
  });
};

/** What every program said, for a run that goes wrong. */
const keepLogs = (from: string): void => {
  for (const name of readdirSync(from))
    if (name.endsWith(".log")) cpSync(join(from, name), join(REPORTS, name));
};

interface Playing {
  readonly name: WorkloadName;
  readonly scene: Scene;
  readonly loaded: Loaded;
  readonly load: readonly number[];
  readonly hpa: HpaSyncs;
}

/**
 * Plays the load of a workload: each sample is set, asked for by the HPA controller and then by
 * Tidemark. The samples of the lead are not counted.
 */
const play = async ({ name, scene, loaded, load, hpa }: Playing): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  let isAtRest = false;
  for (let sample = -LEAD_SAMPLES; sample < load.length; sample++) {
    const value = load[sample] ?? LOAD_BEFORE;
    await loaded.set(value);
    const fromMs = Date.now() + loaded.delayMs;
    // The HPA of a workload at 0 asks nothing: then Tidemark looks at once, before or after the
    // operator of KEDA polls.
    await hpa.after(scene.namespace, { fromMs, untilMs: fromMs + (isAtRest ? 0 : STEP_MS) });
    await wait(SETTLED_MS);
    await scene.sync();
    const row = rowOf(sample, value, await scene.service.get({ name }));
    if (sample >= 0) rows.push(row);
    isAtRest = row.current === 0;
    if (isAtRest) await wait(STEP_MS - SETTLED_MS);
    if (sample % 20 === 0)
      say(
        `${name}, sample ${sample} of ${load.length}: KEDA ${row.keda ?? "-"}, Tidemark ${row.own ?? "-"}`,
      );
  }
  return rows;
};

interface Beside {
  readonly plane: ControlPlane;
  readonly prometheusUrl: string;
}

/**
 * A namespace with a workload, the ScaledObject of KEDA and the PodAutoscaler of a Tidemark of its
 * own. Waits until the HPA of KEDA has its metric.
 */
const sceneOf = async (name: WorkloadName, { plane, prometheusUrl }: Beside): Promise<Scene> => {
  const cluster = {
    url: plane.url,
    ca: plane.ca,
    adminToken: plane.token,
    tidemarkToken: TOKEN,
    metricsUrl: "",
  };
  const scene = await newScene("keda", {
    cluster,
    sources: sourcesWhenAsked({ clock: Date.now, ownAddresses: false }),
  });
  await registerSources(scene);
  const scaledObject = scaledObjectOf(name, { stepSeconds, prometheusUrl });
  await scene.make("Deployment", name, STARTING_PODS);
  await scene.admin(
    "POST",
    `/apis/keda.sh/v1alpha1/namespaces/${scene.namespace}/scaledobjects`,
    scaledObject,
  );
  await scene.apply(...convertedOf([scaledObject], scene.namespace));
  await until(`the HPA of KEDA for ${name} has its metric`, async () => {
    const { status, body } = await plane.call(
      "GET",
      `/apis/autoscaling/v2/namespaces/${scene.namespace}/horizontalpodautoscalers/keda-hpa-${name}`,
    );
    return status === 200 && JSON.parse(body).status?.desiredReplicas === STARTING_PODS;
  });
  return scene;
};

const main = async (): Promise<void> => {
  const folder = kedaFolder();
  if (values.build && !hasKeda(folder)) buildKeda(folder, say);
  const lack = missing(folder);
  const binaries = controlPlaneBinaries();
  if (lack !== undefined || binaries.kind === "missing") throw new Error(`Cannot run: ${lack}`);
  const dir = mkdtempSync(join(tmpdir(), "tidemark-beside-keda-"));
  const closing: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const moto = await motoServer();
    closing.unshift(moto.close);
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: moto.url,
      AWS_ACCESS_KEY_ID: "AKIAFUNCTION",
      AWS_SECRET_ACCESS_KEY: "secret-of-the-function",
    });
    const sqs = await queueAt(moto.url, REGION, QUEUE);
    const gauge = await exporter();
    closing.unshift(sqs.close, gauge.close);
    await sqs.set(LOAD_BEFORE);
    const certificate = certificateIn(join(dir, "keda"));
    const plane = await startControlPlane(binaries.folder, {
      auditPolicy: AUDIT_POLICY,
      flags: certificate.flags,
      users: [{ name: "tidemark", group: "tidemark", token: TOKEN }],
    });
    closing.unshift(plane.close);
    closing.unshift(() => keepLogs(plane.dir));
    await applyRoles(plane);
    const keda = await startKeda({ plane, folder, certificate, awsUrl: moto.url });
    closing.unshift(keda.stop);
    const programs = [
      startWorkloadControllers(plane, binaries.folder),
      startHpaController(plane, binaries.folder, stepSeconds),
      startKubelet(plane),
    ];
    closing.unshift(...programs.map(({ stop }) => stop));
    const prometheus = await scrapingPrometheus({
      target: gauge.host,
      everyMs: SCRAPE_MS,
      host: ownAddress() ?? "",
    });
    closing.unshift(prometheus.close);
    await makeService(plane, SERVICE, new URL(prometheus.url));
    await allowSource(plane, "main", SERVICE);
    const [load, hpa] = [await playedLoad(samples), hpaSyncs(plane.auditLog)];
    const playing: Playing[] = [];
    for (const name of WORKLOADS) {
      const scene = await sceneOf(name, { plane, prometheusUrl: prometheus.url });
      closing.unshift(scene.close);
      playing.push({ name, scene, loaded: name === "sqs" ? sqs : gauge, load, hpa });
    }
    say(`the control plane and KEDA run, and the HPAs of KEDA want ${STARTING_PODS}`);
    const rows = (await Promise.all(playing.map(play))).flat();
    mkdirSync(REPORTS, { recursive: true });
    writeFileSync(
      join(REPORTS, "rows.json"),
      `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`,
    );
    const { text, agreed } = resultOf(rows, samples);
    say(text);
    if (agreed < AGREED_LEAST) process.exitCode = 1;
  } finally {
    for (const part of closing) await part();
  }
};

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
process.exit();
