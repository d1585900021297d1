import { describe, expect, it } from "vitest";
import { ON_THIS_MACHINE } from "../../../lib/stack/cluster/access/kubeconfig-file.ts";
import type { ObservedCluster, Watched } from "../../../lib/stack/cluster/cluster-client.ts";
import { connect } from "../../../lib/stack/cluster/connect.ts";
import { statistics } from "../../../lib/embedded/cluster/reading.ts";
import { demonstrationWorkloads } from "../../../lib/embedded/run/world.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { afterWrite, asksOf } from "../../../lib/rules/policy/dialects.ts";
import { reading } from "./readings.ts";
import { type RunningCluster, runCluster, START_MS } from "./running-cluster.ts";

const SYNC_PERIOD_MS = 15_000;
const LIMITS = { budgetMs: 10_000, namespaces: "all" } as const;

const watchedOf = (name: string): Watched => {
  const spec: AutoscalerSpec = {
    dialect: "hpa",
    target: { apiVersion: "apps/v1", kind: "Deployment", name },
    minReplicas: 1,
    maxReplicas: 30,
    metrics: [
      { type: "Resource", name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
    ],
  };
  return {
    uid: autoscalerUid(name),
    namespace: namespace("shop"),
    name: autoscalerName(name),
    spec,
    ...asksOf(spec, "shop"),
  };
};

interface Played {
  readonly scales: readonly {
    readonly atMinute: number;
    readonly name: string;
    readonly from: number;
    readonly to: number;
  }[];
  /** Syncs in which an autoscaler could not evaluate its metric. */
  readonly failed: readonly { readonly atMinute: number; readonly name: string }[];
  readonly statistics: unknown;
}

/**
 * Plays the demonstration with the real client and the real rules, without tables or queue.
 * `between` runs before each sync.
 */
const play = async (
  forMinutes: number,
  between: (cluster: RunningCluster) => unknown = () => undefined,
): Promise<Played> => {
  const cluster = await runCluster({ workloads: await demonstrationWorkloads(), seed: 7 });
  const connection = { kind: "kubeconfig", path: cluster.kubeconfigPath } as const;
  const client = await connect(
    { name: clusterName("local"), kubeSystemUid: undefined, connection },
    { clock: Date.now, trusted: ON_THIS_MACHINE },
  );
  const watched = ["crowd", "daily", "steps"].map(watchedOf);
  const windows = new Map<string, Windows>();
  const scales: Played["scales"][number][] = [];
  const failed: Played["failed"][number][] = [];
  const syncOne = async (
    { uid, namespace: inside, name, spec }: Watched,
    observed: ObservedCluster,
  ) => {
    const observation = observed.observations.get(uid)?.observation;
    if (observation?.scale.kind !== "read") throw new RangeError(`No scale was read for "${name}"`);
    const { nowMs } = cluster.time;
    const atMinute = (nowMs - START_MS) / 60_000;
    const input = {
      namespace: inside,
      name,
      spec,
      settings: DEFAULT_SETTINGS,
      observation,
      windows: windows.get(uid) ?? NEW_WINDOWS,
      nowMs,
    };
    const decision = decide(input);
    windows.set(uid, decision.windows);
    if (decision.kind === "hold") {
      if (decision.failed) failed.push({ atMinute, name });
      return;
    }
    const { uid: targetUid, resourceVersion } = observation.scale;
    const write = {
      namespace: inside,
      target: spec.target,
      targetUid,
      resourceVersion,
      replicas: decision.to,
    };
    expect(await client.putScale(write, 5000)).toMatchObject({ kind: "applied" });
    windows.set(
      uid,
      afterWrite({ spec, decision, outcome: { kind: "applied" }, atMs: nowMs }).windows,
    );
    scales.push({ atMinute, name, from: decision.from, to: decision.to });
  };
  try {
    for (
      ;
      cluster.time.nowMs < START_MS + forMinutes * 60_000;
      cluster.time.nowMs += SYNC_PERIOD_MS
    ) {
      await between(cluster);
      const observed = await client.observe(watched, LIMITS);
      for (const each of watched) await syncOne(each, observed);
    }
    return { scales, failed, statistics: cluster.each(statistics) };
  } finally {
    client.close();
    await cluster.remove();
  }
};

describe("the demonstration under the real client and the real rules", () => {
  it("scales every workload within its first five minutes, and holds the steps through their outage", async () => {
    const { scales, failed } = await play(30);
    const early = scales.filter(({ atMinute }) => atMinute <= 5).map(({ name }) => name);
    expect(new Set(early)).toEqual(new Set(["crowd", "daily", "steps"]));
    expect(failed.map(({ atMinute }) => atMinute)).toEqual(
      Array.from({ length: 21 }, (_, index) => 5 + index / 4),
    );
    expect(new Set(failed.map(({ name }) => name))).toEqual(new Set(["steps"]));
    expect(scales.filter(({ name, atMinute }) => name === "steps" && atMinute >= 5)).toEqual([]);
  });

  it("gives the same scales at any speed and with onlookers", async () => {
    const undisturbed = await play(20);
    const watchedClosely = await play(20, async (cluster) => {
      cluster.each(reading);
      await cluster.fetch("/api/v1/pods");
      await new Promise((resolve) => setTimeout(resolve, 3));
    });
    expect(watchedClosely).toEqual(undisturbed);
    expect(undisturbed.scales.length).toBeGreaterThan(5);
  });

  it("never shrinks while the metrics API is down", async () => {
    const message = "the server is currently unable to handle the request";
    const { scales, failed } = await play(12, (cluster) => {
      const minute = (cluster.time.nowMs - START_MS) / 60_000;
      if (minute === 2)
        cluster.faults.add({
          path: "/apis/metrics.k8s.io",
          kind: "status",
          code: 503,
          reason: "ServiceUnavailable",
          message,
        });
    });
    expect(scales.filter(({ atMinute }) => atMinute >= 2)).toEqual([]);
    expect(failed.filter(({ atMinute }) => atMinute >= 2)).toHaveLength(3 * 40);
  });
});
