import type { AutoscalerRecord } from "../../../lib/rules/model/records.ts";
import type { SpecKindName } from "../../../lib/rules/model/spec.ts";
import { listAutoscalers } from "../../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../../lib/stack/store/records/clusters.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import type { Engine } from "../../contracts/engines.ts";
import { demandRules } from "../demand-rules.ts";
import { collected, newWorld, PERIOD_MS, type World } from "../world.ts";

/** A cluster whose autoscalers are read from it. The workloads want five replicas each. */
export interface SpecsWorld extends World {
  /** Makes or replaces an object, as `kubectl apply` does. */
  readonly apply: (name: string, parts?: ObjectParts) => void;
  readonly remove: (name: string, kind?: SpecKindName) => void;
  readonly next: (ports?: SyncPorts) => ReturnType<World["sync"]>;
  readonly records: () => Promise<readonly AutoscalerRecord[]>;
  readonly replicas: (name: string) => number;
  /** Ports of another environment: its memory is empty. */
  readonly cold: (parts?: Partial<SyncPorts>) => SyncPorts;
}

export interface ObjectParts {
  readonly kind?: SpecKindName;
  readonly uid?: string;
  readonly target?: string;
  readonly spec?: object;
  readonly metadata?: object;
}

const VERSIONS = {
  PodAutoscaler: "tidemark.dev/v1",
  WatermarkPodAutoscaler: "datadoghq.com/v1alpha1",
} as const;

const specOf = (kind: SpecKindName, target: string): object => ({
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: target },
  minReplicas: 1,
  maxReplicas: 10,
  ...(kind === "PodAutoscaler"
    ? { metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 50 }] }
    : {
        metrics: [
          {
            type: "External",
            external: {
              metricName: "queue",
              metricSelector: { matchLabels: { q: "a" } },
              highWatermark: "80",
              lowWatermark: "60",
            },
          },
        ],
      }),
});

/**
 * Uids and versions count over all objects of all clusters, as those of a real API never come
 * again.
 */
let uids = 0;
let versions = 0;

export const specsWorld = async (
  engine: Engine,
  workloads: readonly string[],
  kinds: readonly SpecKindName[] = ["PodAutoscaler", "WatermarkPodAutoscaler"],
): Promise<SpecsWorld> => {
  const world = await newWorld(engine.client, engine.tables, {});
  for (const name of workloads) {
    world.cluster.workloads.set(name, {
      uid: `uid-of-${name}`,
      replicas: 2,
      resourceVersion: 1,
      generation: 1,
      demand: 5,
    });
  }
  await putCluster(world.tables, { ...world.record, specsFromCluster: kinds, version: 2 }, 1);
  const cold = (parts: Partial<SyncPorts> = {}): SyncPorts =>
    world.worker({ rules: { ...demandRules(world.cluster), specOf: PURE_PART.specOf }, ...parts });
  const warm = cold();
  return {
    ...world,
    get nowMs() {
      return world.nowMs;
    },
    set nowMs(nowMs: number) {
      world.nowMs = nowMs;
    },
    cold,
    apply: (
      name,
      { kind = "PodAutoscaler", target = name, spec = specOf(kind, target), ...parts } = {},
    ) => {
      const key = `${kind}/shop/${name}`;
      const before = world.cluster.objects.get(key)?.["metadata"] as
        | { readonly uid: string; readonly generation: number }
        | undefined;
      const isSame = before !== undefined && (parts.uid === undefined || parts.uid === before.uid);
      const metadata = {
        name,
        namespace: "shop",
        uid: isSame ? before.uid : (parts.uid ?? `object-${++uids}`),
        generation: isSame ? before.generation + 1 : 1,
        resourceVersion: String(++versions),
        managedFields: [
          { manager: "argocd-controller", operation: "Apply", time: "2026-01-01T00:00:00Z" },
        ],
        ...parts.metadata,
      };
      world.cluster.objects.set(key, { apiVersion: VERSIONS[kind], kind, metadata, spec });
    },
    remove: (name, kind = "PodAutoscaler") => {
      world.cluster.objects.delete(`${kind}/shop/${name}`);
    },
    next: (ports = warm) => {
      world.nowMs += PERIOD_MS;
      return world.sync(ports);
    },
    records: async () =>
      (await collected(listAutoscalers(world.tables, world.record.name))).flatMap((item) =>
        item.kind === "read" ? [item.record] : [],
      ),
    replicas: (name) => world.cluster.workloads.get(name)?.replicas ?? Number.NaN,
  };
};
