import type { ClusterClient, Observed } from "../../lib/stack/cluster/cluster-client.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { observationOf, scaleRead } from "../observation.ts";

const LOAD = queryKey({ for: "external", metric: "load", metricSelector: "" });

/**
 * A cluster in memory whose workloads have as many replicas as they begin with, until they are
 * scaled; each has a load in replicas, and one external metric that tells it.
 */
export interface LoadCluster {
  readonly client: ClusterClient;
  /** By name of the workload. */
  readonly loads: Map<string, number>;
}

/**
 * The manifest of an autoscaler on that metric: one replica per unit of load, held down for the
 * default 300 s.
 */
export const loadManifest = (name: string, namespace: string): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 100,
      metrics: [
        {
          type: "External",
          external: {
            metric: { name: "load" },
            target: { type: "AverageValue", averageValue: "1" },
          },
        },
      ],
    },
  });

export const loadCluster = (names: readonly string[], replicas: number): LoadCluster => {
  const loads = new Map(names.map((name) => [name, replicas]));
  const counts = new Map<string, { replicas: number; version: number }>(
    names.map((name) => [name, { replicas, version: 1 }]),
  );
  const countOf = (name: string) => counts.get(name) ?? { replicas: 0, version: 0 };
  const readingOf = (name: string): Observed["observation"]["scale"] => {
    const { replicas: count, version } = countOf(name);
    return scaleRead(count, {
      selector: `app=${name}`,
      uid: `uid-of-${name}`,
      resourceVersion: String(version),
      generation: version,
    });
  };
  const observed = (name: string): Observed => ({
    observation: observationOf({
      scale: readingOf(name),
      answers: {
        external: new Map([
          [
            LOAD,
            {
              kind: "answered",
              items: [
                { milli: BigInt(Math.round((loads.get(name) ?? 0) * 1_000)), timestampMs: 0 },
              ],
            },
          ],
        ]),
      },
    }),
    rivals: [],
  });
  const client: ClusterClient = {
    observe: async (watched) => ({
      observations: new Map(watched.map(({ uid, spec }) => [uid, observed(spec.target.name)])),
      calls: 1,
      bytes: 0,
    }),
    putScale: async ({ target, replicas: to }) => {
      const count = countOf(target.name);
      counts.set(target.name, { replicas: to, version: count.version + 1 });
      return {
        kind: "applied",
        resourceVersion: String(count.version + 1),
        generation: count.version + 1,
      };
    },
    readScale: async (_namespace, target) => readingOf(target.name),
    listSpecs: async () => ({ listings: [], calls: 0, bytes: 0 }),
    recommend: async () => ({
      kind: "failed",
      failure: { code: 0, reason: "RecommenderUnreachable", message: "there is none" },
    }),
    close: () => undefined,
  };
  return { client, loads };
};
