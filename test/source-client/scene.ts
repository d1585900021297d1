import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import type { PrometheusQuery } from "../../lib/rules/sources/prometheus.ts";

export interface PrometheusServer {
  readonly url: string;
  /** The requests so far. */
  readonly seen: { readonly url: URL; readonly headers: IncomingMessage["headers"] }[];
  answer: (query: string, response: ServerResponse) => void;
  readonly close: () => Promise<void>;
}

/** Answers an instant query with one series, as Prometheus does. */
export const oneSeries = (value: string) => (_query: string, response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(
    JSON.stringify({
      status: "success",
      data: { resultType: "vector", result: [{ metric: {}, value: [Date.now() / 1000, value] }] },
    }),
  );

/**
 * A real HTTP server, on loopback unless another address is given. Only what it answers is up to
 * the test.
 */
export const prometheusServer = async (host = "127.0.0.1"): Promise<PrometheusServer> => {
  const seen: PrometheusServer["seen"] = [];
  const state: Pick<PrometheusServer, "answer"> = { answer: oneSeries("1") };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://prometheus");
    seen.push({ url, headers: request.headers });
    state.answer(url.searchParams.get("query") ?? "", response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://${host}:${port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
};

export const sourceRecord = (more: Partial<MetricSourceRecord> = {}): MetricSourceRecord => ({
  name: "main",
  kind: "prometheus",
  clusters: ["*"],
  namespaces: ["*"],
  timeoutSeconds: 1,
  maxMetrics: 1_000,
  private: false,
  version: 1,
  updatedMs: 0,
  updatedBy: "test",
  ...more,
});

export const ask = (query: string, source = "main"): PrometheusQuery => ({
  for: "prometheus",
  source,
  query,
});
export const keyOf = (query: string, source = "main"): string => queryKey(ask(query, source));
