import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";
import { published } from "../cluster/wire/published.ts";
import { registerGroups } from "./aggregated.ts";
import { type App, podsOf } from "./fill.ts";
import type { ControlPlane } from "./start.ts";

/**
 * A metrics.k8s.io behind the API server's aggregation: every pod of every workload uses as much
 * CPU as is set, one thousandth more or less. Protobuf where it is asked for, as metrics-server.
 */
export interface MetricsAdapter {
  /** In thousandths of a core, of each pod. */
  cpuMilli: number;
  /** How far the clock of those who ask is ahead of the machine's, so that no sample is old. */
  aheadMs: number;
  /** When each LIST with a selector was asked for, as the HPA controller asks. */
  readonly asked: Map<string, number[]>;
  readonly close: () => Promise<void>;
}

/** metrics-server answers by the library of the API server, which packs what is larger. */
const PACKED_FROM_BYTES = 128 * 1024;
const GROUP = "metrics.k8s.io";
const VERSION = "v1beta1";
/** metrics-server scrapes every 15 s. */
const KEPT_MS = 10_000;
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const POD_METRICS = "k8s.io.metrics.pkg.apis.metrics.v1beta1.PodMetricsList";

/** Serves the group on loopback and tells the API server where. `dir` holds the certificate. */
export const startMetricsAdapter = async (
  plane: Pick<ControlPlane, "call">,
  apps: readonly App[],
  dir: string,
): Promise<MetricsAdapter> => {
  const { certificatePem, keyPem } = await serverCredentials(dir, Date.now());
  const adapter = { cpuMilli: 0, aheadMs: 0, asked: new Map<string, number[]>() };
  const answers = keptAnswers(apps);
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    const url = new URL(request.url ?? "", "https://adapter");
    const selector = url.searchParams.get("labelSelector");
    if (selector !== null)
      adapter.asked.set(url.pathname + selector, [
        ...(adapter.asked.get(url.pathname + selector) ?? []),
        performance.now(),
      ]);
    const binary =
      (request.headers.accept ?? "").includes(PROTOBUF) && url.pathname.endsWith("/pods");
    const bytes = answers(url, binary, adapter);
    send(response, bytes, {
      "content-type": binary ? PROTOBUF : "application/json",
      ...(mayPack(bytes, request) && { "content-encoding": "gzip" }),
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  await registerGroups(plane, (server.address() as AddressInfo).port, [
    { group: GROUP, version: VERSION },
  ]);
  return Object.assign(adapter, {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
};

const mayPack = (bytes: Buffer | undefined, { headers }: IncomingMessage): boolean =>
  (bytes?.length ?? 0) > PACKED_FROM_BYTES && headers["accept-encoding"] === "gzip";

const send = (
  response: ServerResponse,
  bytes: Buffer | undefined,
  headers: Readonly<Record<string, string>>,
): void => {
  response.writeHead(bytes === undefined ? 404 : 200, headers);
  response.end(
    "content-encoding" in headers ? gzipSync(bytes ?? "", { level: 1 }) : (bytes ?? "{}"),
  );
};

/**
 * Answers are kept for as long as metrics-server would give the same, so that their making is not
 * what a bench measures.
 */
const keptAnswers = (
  apps: readonly App[],
): ((
  url: URL,
  binary: boolean,
  usage: Pick<MetricsAdapter, "cpuMilli" | "aheadMs">,
) => Buffer | undefined) => {
  const { encode } = published();
  const kept = new Map<string, { readonly bytes: Buffer; readonly untilMs: number }>();
  return (url, binary, { cpuMilli, aheadMs }) => {
    const nowMs = Date.now() + aheadMs;
    const key = `${url.pathname} ${url.searchParams.get("labelSelector")} ${cpuMilli} ${binary}`;
    const known = kept.get(key);
    if (known && nowMs < known.untilMs) return known.bytes;
    const answer = answerOf(url, apps, cpuMilli, nowMs);
    if (answer === undefined) return undefined;
    const bytes = binary
      ? encode(POD_METRICS, { metadata: {}, items: answer["items"] }, `${GROUP}/${VERSION}`)
      : Buffer.from(JSON.stringify(answer));
    kept.set(key, { bytes, untilMs: nowMs + KEPT_MS });
    return bytes;
  };
};

const NANO_OF_MILLI = 1_000_000;

/** A number below `most`, another one for each pod and each answer, as measured values are. */
const digits = (pod: string, at: number, most: number): number =>
  createHash("sha1").update(`${pod} ${at}`).digest().readUInt32BE(0) % most;

const answerOf = (
  url: URL,
  apps: readonly App[],
  cpuMilli: number,
  nowMs: number,
): Record<string, unknown> | undefined => {
  const path = url.pathname;
  const wanted = url.searchParams.get("labelSelector")?.replace(/^app=/, "");
  const root = `/apis/${GROUP}/${VERSION}`;
  if (path === root) {
    const resources = [
      {
        name: "pods",
        singularName: "",
        namespaced: true,
        kind: "PodMetrics",
        verbs: ["get", "list"],
      },
    ];
    return {
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: `${GROUP}/${VERSION}`,
      resources,
    };
  }
  const match = new RegExp(`^${root}(?:/namespaces/([^/]+))?/pods$`).exec(path);
  if (!match) return undefined;
  const timestamp = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const items = apps
    .filter(
      ({ namespace, name }) =>
        (match[1] === undefined || match[1] === namespace) &&
        (wanted === undefined || wanted === name),
    )
    .flatMap((app) => podsOf(app).map((pod) => ({ ...app, pod })))
    .map(({ namespace, name, pod }, at) => ({
      metadata: { name: pod, namespace, labels: { app: name } },
      timestamp,
      window: "15s",
      containers: [
        {
          name: "app",
          usage: {
            cpu: `${(cpuMilli - 1) * NANO_OF_MILLI + digits(pod, at + nowMs, 2 * NANO_OF_MILLI)}n`,
            memory: `${64 * 1024 + digits(pod, nowMs, 8 * 1024)}Ki`,
          },
        },
      ],
    }));
  return { kind: "PodMetricsList", apiVersion: `${GROUP}/${VERSION}`, metadata: {}, items };
};
