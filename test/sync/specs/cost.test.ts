import { describe, expect, it } from "vitest";
import { specObject } from "../../../lib/stack/cluster/specs/list-specs.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../../lib/rules/model/spec-common.ts";
import { SPEC_KINDS } from "../../../lib/rules/model/spec.ts";
import { converted } from "../../../lib/stack/sync/load/load-specs.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import { compared, knownVersions } from "../../../lib/stack/sync/specs/compare.ts";
import { NOON } from "../../noon.ts";

const OBJECTS = 1_000;
const ROUNDS = 5;

const CLUSTER: ClusterRecord = {
  name: clusterName("eu-1"),
  uid: "uid-of-cluster",
  syncPeriodMs: 15_000,
  partitions: [{ name: WHOLE_CLUSTER }],
  settings: DEFAULT_SETTINGS,
  specsFromCluster: ["PodAutoscaler"],
  version: 1,
};

const [kind] = SPEC_KINDS;
if (!kind) throw new Error("there is no kind");

const raws = Array.from({ length: OBJECTS }, (_, at) => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: {
    name: `app-${at}`,
    namespace: "shop",
    uid: `object-${at}`,
    resourceVersion: String(at + 1),
    generation: 1,
    labels: { team: "shop" },
  },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: `app-${at}` },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 50 }],
  },
}));

const objectsOf = (known: ReadonlyMap<string, string>) =>
  raws.flatMap(
    (raw) =>
      specObject(raw, { ...kind, cluster: CLUSTER, knownVersion: (uid) => known.get(uid) }) ?? [],
  );

const specs = objectsOf(new Map()).map(({ name, uid, resourceVersion, manifest = "" }) => ({
  ...converted(PURE_PART, {
    cluster: CLUSTER.name,
    namespace: namespace("shop"),
    name: autoscalerName(name),
    uid: autoscalerUid(uid),
    generation: 1,
    manifest,
    createdMs: NOON,
    updatedMs: NOON,
    updatedBy: "test",
    origin: { apiVersion: kind.apiVersion, kind: kind.kind, uid, generation: 1 },
  }),
  object: { resourceVersion },
}));

const cpuMs = (work: () => void): number => {
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / ROUNDS;
};

describe("a sync that finds 1,000 objects unchanged", () => {
  it("takes less than a fifth of the time that reading their manifests takes", () => {
    const unchanged = (): void => {
      const objects = objectsOf(knownVersions(CLUSTER, specs));
      const { findings } = compared(specs, [{ kind, outcome: { kind: "listed", objects } }], {
        cluster: CLUSTER,
        nowMs: NOON,
      });
      if (findings.some((finding) => finding.kind !== "same"))
        throw new Error("something has changed");
    };
    const parsed = (): void => {
      for (const { record } of specs) PURE_PART.specOf(record.manifest);
    };
    unchanged();
    parsed();
    const [warm, whole] = [cpuMs(unchanged), cpuMs(parsed)];
    expect(warm / whole, `${warm.toFixed(1)} ms and ${whole.toFixed(1)} ms`).toBeLessThan(1 / 5);
  });
});
