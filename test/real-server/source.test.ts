import { afterEach, describe, expect, inject, it } from "vitest";
import { sourcesWhenAsked } from "../../lib/stack/sync/observe/ask-sources.ts";
import { type ApiCalls, apiCalls } from "../control-plane/api-calls.ts";
import { oneSeries, type PrometheusServer, prometheusServer } from "../source-client/scene.ts";
import { onServer } from "./on-server.ts";
import { allowSource, makeService, ownAddress } from "./proxied-service.ts";

const address = ownAddress();

describe.skipIf(address === undefined)("a Prometheus behind the real API server", () => {
  onServer("as a Service of the cluster", (newScene) => {
    let calls: ApiCalls | undefined;
    let prometheus: PrometheusServer | undefined;
    afterEach(async () => {
      calls?.close();
      await prometheus?.close();
    });

    it("is asked by the proxy subresource of this one Service, with the one rule that tidemark cluster rbac --source prints, and gets no credential of ours", async () => {
      const { url, ca, adminToken, tidemarkToken } = inject("cluster");
      calls = apiCalls({ url, ca, token: adminToken });
      prometheus = await prometheusServer(address);
      const scene = await newScene("source", {
        sources: sourcesWhenAsked({ clock: Date.now, ownAddresses: false }),
      });
      const service = {
        namespace: `${scene.namespace}-monitoring`,
        name: "prometheus",
        port: "9090",
        scheme: "http",
        path: "",
      } as const;
      await makeService(calls, service, new URL(prometheus.url));
      await scene.service.putSource({
        name: "main",
        kind: "prometheus",
        service,
        clusters: ["*"],
        namespaces: [scene.namespace],
      });
      const workload = await scene.make("Deployment", "web", 2);
      await scene.running(workload, 2);
      prometheus.answer = oneSeries("50");
      await scene.apply({
        apiVersion: "tidemark.dev/v1",
        kind: "PodAutoscaler",
        metadata: { name: "web" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          maxReplicas: 9,
          metrics: [
            {
              name: "load",
              prometheus: { source: "main", query: 'sum(rate(x{app=~"web|a+b"}[2m]))' },
              measure: "Average",
              target: 10,
            },
          ],
        },
      });
      // Without the rule the API server refuses, the metric is missing, and nothing shrinks.
      await scene.sync();
      const [refused] = (await scene.service.get({ name: "web" })).metrics;
      expect(refused).toMatchObject({ kind: "failed", message: expect.stringContaining("403") });
      expect(await scene.replicas(workload)).toBe(2);
      expect(prometheus.seen).toEqual([]);
      await allowSource(calls, "main", service);
      const synced = async (): Promise<number> => {
        await scene.sync();
        return scene.replicas(workload);
      };
      await expect.poll(synced, { timeout: 20_000, interval: 500 }).toBe(5);
      const [asked] = prometheus.seen;
      expect([asked?.url.pathname, asked?.url.searchParams.get("query")]).toEqual([
        "/api/v1/query",
        'sum(rate(x{app=~"web|a+b"}[2m]))',
      ]);
      expect(JSON.stringify(asked?.headers)).not.toContain(tidemarkToken);
      // The rule is for this Service only.
      const other = apiCalls({ url, ca, token: tidemarkToken });
      const elsewhere = await other.call(
        "GET",
        `/api/v1/namespaces/${service.namespace}/services/http:grafana:9090/proxy/api/v1/query`,
      );
      const written = await other.call(
        "POST",
        `/api/v1/namespaces/${service.namespace}/services/http:prometheus:9090/proxy/api/v1/query`,
        {},
      );
      other.close();
      expect([elsewhere.status, written.status]).toEqual([403, 403]);
    });
  });
});
