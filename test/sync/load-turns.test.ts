import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { waitsToBeRead, readSpecs } from "../../lib/stack/sync/load/load-specs.ts";
import type { LoadedSpecs } from "../../lib/stack/sync/hand-over.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { testTables } from "./world.ts";

/** A conversion takes this long in the virtual clock: as 49 formulas do at 0.29 of a CPU. */
const HEAVY_MS = 93;
const OTHERS = 100;
const HEAVY = 100;
const PERIOD_MS = 15_000;
const CLUSTER = {
  ...{ name: clusterName("eu-1"), uid: "uid", syncPeriodMs: PERIOD_MS, version: 1 },
  partitions: [{ name: WHOLE_CLUSTER }],
  settings: DEFAULT_SETTINGS,
};

const manifestOf = (place: string, name: string): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { namespace: place, name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      ...{ minReplicas: 1, maxReplicas: 10 },
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        },
      ],
    },
  });

let engine: Engine;
let nowMs = 1_800_000_000_000;
const places = [
  ...Array.from({ length: HEAVY }, (_, at) => ["heavy", `web-${at}`] as const),
  ...Array.from({ length: OTHERS }, (_, at) => [`team-${at}`, "web"] as const),
];

beforeAll(async () => {
  engine = await startMemory();
  const tables = testTables(engine.client, engine.tables, () => nowMs);
  for (const [place, name] of places)
    await putAutoscaler(
      tables,
      {
        ...{ cluster: CLUSTER.name, namespace: namespace(place), name: autoscalerName(name) },
        ...{ uid: autoscalerUid(`uid-${place}-${name}`), manifest: manifestOf(place, name) },
        ...{ generation: 1, createdMs: 0, updatedMs: 0, updatedBy: "test" },
      },
      undefined,
    );
});
afterAll(() => engine.close());

const read = (round: number, before?: LoadedSpecs): Promise<LoadedSpecs> =>
  readSpecs(
    {
      tables: testTables(engine.client, engine.tables, () => nowMs),
      timing: DEFAULT_TIMING,
      rules: {
        ...PURE_PART,
        specOf: (manifest) => {
          nowMs += manifest.includes('"heavy"') ? HEAVY_MS : 0.4;
          return PURE_PART.specOf(manifest);
        },
      },
    },
    CLUSTER,
    {
      ...{ cluster: CLUSTER.name, partition: WHOLE_CLUSTER },
      ...{ dueMs: 1_800_000_000_000 + round * PERIOD_MS, periodMs: PERIOD_MS },
    },
    { specVersion: 1, readMs: nowMs, before },
  );

const unreadOf = ({ all }: LoadedSpecs): readonly string[] =>
  all.filter(waitsToBeRead).map((spec) => (spec.kind === "invalid" ? spec.record.namespace : "?"));

describe("the manifests that an environment meets for the first time", () => {
  it("are read in turns of the namespaces and within a share of the sync: only the namespace with heavy ones waits", async () => {
    const fromMs = nowMs;
    const specs = await read(0);
    expect(specs.all).toHaveLength(HEAVY + OTHERS);
    expect(nowMs - fromMs).toBeLessThan(0.2 * DEFAULT_TIMING.softDeadlineMs + 2 * HEAVY_MS);
    expect(new Set(unreadOf(specs))).toEqual(new Set(["heavy"]));
    expect(unreadOf(specs).length).toBeGreaterThan(50);
  });

  it("are read further in the next sync, until none is left", async () => {
    let specs = await read(0);
    const left = [unreadOf(specs).length];
    for (let round = 1; left.at(-1) !== 0 && round < 10; round++) {
      specs = await read(round, specs);
      left.push(unreadOf(specs).length);
    }
    expect(left.at(-1)).toBe(0);
    expect(left.length).toBeLessThanOrEqual(6);
    const fromMs = nowMs;
    await read(9, specs);
    expect(nowMs).toBe(fromMs);
  });

  it("are others in each sync, so that cold environments leave none unread for ever", async () => {
    const ready = new Set<string>();
    for (let round = 0; round < 14; round++)
      for (const spec of (await read(round)).all)
        if (spec.kind === "ready") ready.add(spec.record.uid);
    expect(ready.size).toBe(HEAVY + OTHERS);
  });
});
