import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { registerGroups } from "./aggregated.ts";
import { METRIC_GROUPS, metricsAnswer } from "./metrics-answers.ts";
import type { ControlPlane } from "./start.ts";

/**
 * What the metrics APIs say, by key; a key that is absent has no metric.
 * - `cpu NAMESPACE/APP`: thousandths of a core that the running pods with the label `app` = APP use
 *   together.
 * - `cpu NAMESPACE/APP/CONTAINER`: what the containers of this name in those pods use together. The
 *   key without a container is divided among the others.
 * - `unmeasured NAMESPACE/APP`: so many of those pods have no sample of CPU.
 * - `pods NAMESPACE/APP/METRIC`: a custom metric that those pods have together.
 * - `object NAMESPACE/RESOURCE/NAME/METRIC`: a custom metric of an object; RESOURCE is `namespaces`
 *   for the namespace itself.
 * - `external NAMESPACE/METRIC`: an external metric.
 * - `down GROUP`: any number; the whole group answers 503.
 */
export type MetricsScript = Readonly<Record<string, number | null>>;

export interface ScriptedMetrics {
  /**
   * `PUT` of a script sets its keys, and `null` takes a key away. `GET` tells how often each path
   * and selector was asked for.
   */
  readonly controlUrl: string;
  readonly close: () => Promise<void>;
}

/**
 * Serves metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io behind the API server's
 * aggregation.
 */
export const startScriptedMetrics = async (
  plane: Pick<ControlPlane, "call">,
  dir: string,
): Promise<ScriptedMetrics> => {
  const { certificatePem, keyPem } = await serverCredentials(dir, Date.now());
  const script = new Map<string, number>();
  const asked = new Map<string, number>();
  const adapter = createSecureServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    const url = new URL(request.url ?? "", "https://adapter");
    const question = `${url.pathname} ${url.searchParams.get("labelSelector") ?? ""}`;
    asked.set(question, (asked.get(question) ?? 0) + 1);
    metricsAnswer(plane.call, script, url).then(
      ({ status, body }) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(body));
      },
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    );
  });
  await new Promise<void>((resolve) => adapter.listen(0, "localhost", resolve));
  await registerGroups(plane, (adapter.address() as AddressInfo).port, METRIC_GROUPS);
  const control = controlServer(script, asked);
  const controlUrl = await listenOnLoopback(control);
  return {
    controlUrl,
    close: async () => {
      await closeServer(control);
      adapter.closeAllConnections();
      await new Promise<void>((resolve) => adapter.close(() => resolve()));
    },
  };
};

const controlServer = (script: Map<string, number>, asked: ReadonlyMap<string, number>): Server =>
  createServer((request, response) => {
    if (request.method === "GET") {
      response.end(JSON.stringify(Object.fromEntries(asked)));
      return;
    }
    json(request).then(
      (body) => {
        for (const [key, value] of Object.entries(body as MetricsScript)) {
          if (value === null) script.delete(key);
          else script.set(key, value);
        }
        response.writeHead(204);
        response.end();
      },
      () => {
        response.writeHead(400);
        response.end();
      },
    );
  });

/** Sets metrics from another process. */
export const setMetrics = async (controlUrl: string, script: MetricsScript): Promise<void> => {
  const { status } = await fetch(controlUrl, { method: "PUT", body: JSON.stringify(script) });
  if (status !== 204) throw new Error(`the metrics were answered ${status}`);
};

/** How often each path was asked for, with its selector behind a space. */
export const askedMetrics = async (controlUrl: string): Promise<Readonly<Record<string, number>>> =>
  (await (await fetch(controlUrl)).json()) as Readonly<Record<string, number>>;
