import type { MetricSourceRecord } from "../../../lib/rules/model/metric-source.ts";
import { LOAD_PER_POD } from "../cluster.ts";
import type { Shape } from "../manifests/shapes.ts";
import type { Random } from "../random.ts";
import { FAULTS_MS, type Happening, type Timetable } from "../timetable.ts";

/**
 * In a share of the seeds the native rules ask registered sources. By the seed, so that nothing
 * else that is drawn depends on it; none of them has schedules, objects or sockets.
 */
const SEEDS = 20;
const SOURCE_SEEDS: ReadonlySet<number> = new Set([5, 11, 17]);
export const hasSources = (seed: number): boolean => SOURCE_SEEDS.has(seed % SEEDS);

/** Most autoscalers of such a seed are of the native rules, which alone have registered sources. */
export const askingShapes = (random: Random): readonly Shape[] => [
  "native",
  "native idle",
  "native",
  random.pick(["behavior", "watermark"]),
  "native",
  "native idle",
  random.pick(["native", "cpu", "native as hpa"]),
];

/** A time in which a source gives no answer at all: its circuit opens, and it comes back. */
export interface Outage {
  readonly source: string;
  readonly fromMs: number;
  readonly toMs: number;
}

const OUTAGES = 3;
const BACK_MS = 40_000;
export const SOURCE_NAMES = ["main", "other"] as const;

/**
 * How an autoscaler asks: its query, the same seldom, or two sources in a formula. An idle workload
 * is asked about in each sync.
 */
const WAYS = ["query", "seldom", "formula"] as const;
type Way = (typeof WAYS)[number];

/**
 * The same timetable with metrics of registered sources in place of the external ones of the native
 * rules.
 */
export const withSources = (timetable: Timetable, random: Random): Timetable => {
  const ways = timetable.autoscalers.map(({ shape }) =>
    shape === "native" ? random.pick(WAYS) : "query",
  );
  const autoscalers = timetable.autoscalers.map((planned, at) => ({
    ...planned,
    manifest: asking(planned.manifest, ways[at] ?? "query"),
  }));
  const happenings = timetable.happenings.map((happening): Happening => {
    if (happening.kind !== "edit" || happening.edit.verb !== "apply") return happening;
    return {
      ...happening,
      edit: {
        verb: "apply",
        manifest: asking(happening.edit.manifest, ways[happening.workload] ?? "query"),
      },
    };
  });
  const outages = Array.from({ length: OUTAGES }, (): Outage => {
    const fromMs = random.int(20_000, FAULTS_MS - 2 * BACK_MS);
    return {
      source: random.pick(SOURCE_NAMES),
      fromMs,
      toMs: Math.min(FAULTS_MS - BACK_MS, fromMs + random.int(5_000, 60_000)),
    };
  });
  return { ...timetable, autoscalers, happenings, outages };
};

interface Native {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly rules?: string;
    readonly metrics?: readonly [{ readonly external?: object }];
  };
}

const asking = (manifest: object, way: Way): object => {
  const { spec, ...rest } = manifest as Native;
  const [metric] = spec.metrics ?? [];
  if (spec.rules !== undefined || !metric?.external || !("measure" in metric)) return manifest;
  const { external: _, ...level } = metric;
  const query = `load-${rest.metadata.name}`;
  const prometheus = (source: string) => ({ prometheus: { source, query } });
  const metrics = {
    query: [{ ...level, ...prometheus("main") }],
    seldom: [{ ...level, ...prometheus("main"), everySeconds: 20, maxAgeSeconds: MAX_AGE_SECONDS }],
    formula: [
      { name: "one", ...prometheus("main"), input: true },
      { name: "two", ...prometheus("other"), input: true },
      { ...level, formula: { expression: `max(one, two) + ${LOAD_PER_POD} * 0` } },
    ],
  };
  return { ...rest, spec: { ...spec, metrics: metrics[way] } };
};

const MAX_AGE_SECONDS = 60;

/** Services of each cluster, so that questions take the way through its API server. */
export const sourceRecords = (): readonly MetricSourceRecord[] =>
  SOURCE_NAMES.map((name) => ({
    name,
    kind: "prometheus",
    service: { namespace: "monitoring", name, port: "9090", scheme: "http", path: "" },
    clusters: ["*"],
    namespaces: ["*"],
    timeoutSeconds: 3,
    maxMetrics: 1_000,
    private: false,
    version: 1,
    updatedMs: 0,
    updatedBy: "a person",
  }));
