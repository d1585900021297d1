import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseAllDocuments } from "yaml";
import { sourceRbacText } from "../../lib/cluster/rights/rbac-text.ts";
import { sourcesWhenAsked } from "../../lib/sync/ask-sources.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { applyRoles } from "../control-plane/cluster.ts";
import { startHpaController, startWorkloadControllers } from "../control-plane/controllers.ts";
import { startKubelet } from "../control-plane/kubelet.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/start.ts";
import { newScene, type Scene, until } from "../real-server/scene.ts";
import { HAS_MOTO, motoServer } from "../source-client/moto.ts";
import { HAS_PROMETHEUS, realPrometheus } from "../source-client/real-prometheus.ts";
import { buildKeda, certificateIn, hasKeda, kedaFolder, startKeda } from "./keda.ts";
import { LOAD_BEFORE, messagesOf, playedLoad, type Queue, queueAt, seriesOf, untilMs } from "./load.ts";
import { ACCOUNT, convertedOf, QUEUE, REGION, scaledObjectOf, STARTING_PODS, WORKLOADS } from "./objects.ts";
import { type Row, resultOf, rowsOf } from "./rows.ts";

/**
 * `npm run prove -- beside-keda [--step SECONDS] [--build]`: the operator and the metrics server of KEDA 2.21 with the HPA controller on a real control plane, and PodAutoscalers that `convert`
 * made of its ScaledObjects in their shadow, over a recorded hour of 240 samples, a rest and a start. `--step` is how long a sample lasts: 15 is the hour as it was, 3 is five times faster. Ends with 1 where the
 * counts differ in more than 0.5 % of the syncs.
 */
const { values } = parseArgs({ options: { step: { type: "string", default: "3" }, build: { type: "boolean", default: false } } });
const stepSeconds = Number(values.step);
if (!(stepSeconds >= 3)) throw new RangeError("Cannot run: --step must be 3 or more, because the HPA controller syncs each second at most");
const STEP_MS = stepSeconds * 1_000;
/** When in a sample Tidemark syncs: the HPA controller, which syncs three times in a sample, has had its turn. */
const SYNC_AT = 0.8;
const LEAD_SAMPLES = 10;
const AGREED_LEAST = 0.995;
const SERVICE = { namespace: "monitoring", name: "prometheus", port: "9090", scheme: "http", path: "" } as const;
const TOKEN = "token-of-tidemark";

const REPORTS = "reports/beside-keda";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The API server calls no endpoint on loopback. */
const ownAddress = (): string => {
  const found = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const address = found.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  if (address === undefined) throw new Error("Cannot run: this machine has no address but loopback, and the API server calls no service there");
  return address;
};

const missing = (folder: string): string | undefined => {
  if (!hasKeda(folder)) return `"${folder}" lacks operator, adapter or crd; --build builds KEDA there with Go, or KEDA_PROGRAMS names another folder`;
  if (!HAS_PROMETHEUS) return "there is no prometheus with promtool; apt-get install prometheus";
  if (!HAS_MOTO) return "there is no moto_server; pip install 'moto[server]'";
  const binaries = controlPlaneBinaries();
  return binaries.kind === "missing" ? binaries.message : undefined;
};

/** A Service without pods that leads to the Prometheus of this machine, and the right of Tidemark to ask it. */
const installService = async ({ call }: ControlPlane, ip: string, port: number): Promise<void> => {
  const post = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await call("POST", path, body);
    if (status !== 201) throw new Error(`POST ${path} was answered ${status}: ${answer}`);
  };
  const { namespace, name } = SERVICE;
  const ports = [{ name: "web", port }];
  await post("/api/v1/namespaces", { metadata: { name: namespace } });
  await post(`/api/v1/namespaces/${namespace}/services`, { metadata: { name }, spec: { ports: [{ name: "web", port: 9090, targetPort: port }] } });
  await post(`/api/v1/namespaces/${namespace}/endpoints`, { metadata: { name }, subsets: [{ addresses: [{ ip }], ports }] });
  await post(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
    metadata: { name, labels: { "kubernetes.io/service-name": name } },
    ...{ addressType: "IPv4", endpoints: [{ addresses: [ip] }], ports },
  });
  for (const document of parseAllDocuments(sourceRbacText("main", SERVICE))) {
    const object: { readonly kind: string } = document.toJS();
    await post(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${object.kind === "Role" ? "roles" : "rolebindings"}`, object);
  }
};

const registerSources = async ({ service }: Scene): Promise<void> => {
  const all = { clusters: ["*"], namespaces: ["*"] };
  await service.putSource({ name: "main", kind: "prometheus", service: SERVICE, ...all });
  const roleArn = `arn:aws:iam::${ACCOUNT}:role/tidemark-source-queues`;
  await service.putSource({ name: "queues", kind: "sqs", aws: { region: REGION, roleArn, externalId: "beside-keda", queues: [QUEUE] }, ...all });
};

/** What every program said, for a run that goes wrong. */
const keepLogs = (from: string): void => {
  for (const name of readdirSync(from)) if (name.endsWith(".log")) cpSync(join(from, name), join(REPORTS, name));
};

interface Playing {
  readonly scene: Scene;
  readonly queue: Queue;
  readonly load: readonly number[];
  readonly startMs: number;
}

/** Plays the load, and syncs once in each sample. The first samples of the lead are not counted. */
const play = async ({ scene, queue, load, startMs }: Playing): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (let at = -LEAD_SAMPLES; at < load.length; at++) {
    const value = load[at] ?? LOAD_BEFORE;
    await untilMs(startMs + at * STEP_MS);
    await queue.fill(messagesOf(value));
    await untilMs(startMs + (at + SYNC_AT) * STEP_MS);
    await scene.sync();
    const views = await Promise.all(WORKLOADS.map((name) => scene.service.get({ name })));
    if (at >= 0) rows.push(...rowsOf(at, value, views));
    if (at % 20 === 0)
      say(
        `sample ${at} of ${load.length}: ${views.map(({ name, rivals, desiredReplicas }) => `${name} KEDA ${rivals?.find((rival) => rival.desiredReplicas !== undefined)?.desiredReplicas ?? "-"} Tidemark ${desiredReplicas ?? "-"}`).join(", ")}`,
      );
  }
  return rows;
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
    Object.assign(process.env, { AWS_ENDPOINT_URL: moto.url, AWS_ACCESS_KEY_ID: "AKIAFUNCTION", AWS_SECRET_ACCESS_KEY: "secret-of-the-function" });
    const queue = await queueAt(moto.url, REGION, QUEUE);
    closing.unshift(queue.close);
    await queue.fill(messagesOf(LOAD_BEFORE));
    const certificate = certificateIn(join(dir, "keda"));
    const plane = await startControlPlane(binaries.folder, {
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
      startHpaController(plane, binaries.folder, stepSeconds / 3),
      startKubelet(plane),
    ];
    closing.unshift(...programs.map(({ stop }) => stop));
    say("the control plane and KEDA run");
    const load = await playedLoad();
    const startMs = Date.now() + LEAD_SAMPLES * STEP_MS + 30_000;
    const address = ownAddress();
    const prometheus = await realPrometheus(seriesOf(load, startMs, STEP_MS), address);
    closing.unshift(prometheus.close);
    await installService(plane, address, Number(new URL(prometheus.url).port));
    const cluster = { url: plane.url, ca: plane.ca, adminToken: plane.token, tidemarkToken: TOKEN, metricsUrl: "" };
    const scene = await newScene("keda", { cluster, sources: sourcesWhenAsked({ clock: Date.now, ownAddresses: false }) });
    closing.unshift(scene.close);
    await registerSources(scene);
    const objects = WORKLOADS.map((name) => scaledObjectOf(name, { stepSeconds, prometheusUrl: prometheus.url }));
    for (const object of objects) {
      await scene.make("Deployment", object.metadata.name, STARTING_PODS);
      await scene.admin("POST", `/apis/keda.sh/v1alpha1/namespaces/${scene.namespace}/scaledobjects`, object);
    }
    await scene.apply(...convertedOf(objects, scene.namespace));
    for (const name of WORKLOADS) {
      const path = `/apis/autoscaling/v2/namespaces/${scene.namespace}/horizontalpodautoscalers/keda-hpa-${name}`;
      await until(`the HPA of KEDA for ${name} has its metric`, async () => {
        const { status, body } = await plane.call("GET", path);
        return status === 200 && JSON.parse(body).status?.desiredReplicas === STARTING_PODS;
      });
    }
    say(`the HPAs of KEDA want ${STARTING_PODS}; the hour begins in ${Math.round((startMs - Date.now()) / 1_000)} s`);
    const rows = await play({ scene, queue, load, startMs });
    mkdirSync(REPORTS, { recursive: true });
    writeFileSync(join(REPORTS, "rows.json"), `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`);
    const { text, agreed } = resultOf(rows);
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
