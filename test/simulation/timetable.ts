import type { SpecKindName } from "../../lib/rules/model/spec.ts";
import { deputyEdits } from "./deputies.ts";
import { PODS_MAX } from "./manifests/bounds.ts";
import { editedManifest } from "./manifests/edited.ts";
import { newManifest, rests, type Shape, shapesOf } from "./manifests/shapes.ts";
import type { ObjectChange } from "./objects/plan-objects.ts";
import { podsFor } from "./observe.ts";
import { type PlannedOrder, plannedOrders } from "./orders.ts";
import type { Random } from "./random.ts";
import type { Outage } from "./sources/plan-sources.ts";

/** What the world does to itself, whatever fails: the same with faults and without. */
export interface Timetable {
  readonly clusters: readonly PlannedCluster[];
  readonly autoscalers: readonly PlannedAutoscaler[];
  readonly happenings: readonly Happening[];
  /** What is done to whole clusters and to the fleet. */
  readonly orders: readonly PlannedOrder[];
  /** Where autoscalers ask registered sources: when these are silent. */
  readonly outages?: readonly Outage[];
}

export interface PlannedCluster {
  readonly name: string;
  readonly periodMs: number;
  readonly namespaces: readonly string[];
  /** Divided in two by namespaces, or whole. */
  readonly divided: boolean;
  /** The kinds of autoscalers that it holds itself; absent where people store all of them. */
  readonly specs?: readonly SpecKindName[];
}

export interface PlannedAutoscaler {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly counted: boolean;
  readonly replicas: number;
  readonly load: number;
  readonly shape: Shape;
  readonly manifest: object;
  /**
   * Where its manifest is at the start: an object of its cluster, or that beside a stored
   * autoscaler of people. Absent: people have stored it.
   */
  readonly home?: "object" | "both";
}

/** Offsets from the start. `workload` is the index of the autoscaler whose target is meant. */
export type Happening = { readonly atMs: number; readonly workload: number } & (
  | { readonly kind: "load"; readonly load: number }
  | { readonly kind: "count"; readonly replicas: number | undefined }
  /** The workload is deleted; another of the same name is made. */
  | { readonly kind: "gone" }
  | { readonly kind: "made"; readonly replicas: number }
  /** Another controller begins to scale the workload, or stops. */
  | { readonly kind: "rival"; readonly there: boolean }
  /** Something happens to an object that holds a spec. */
  | { readonly kind: "object"; readonly object: ObjectChange }
  | { readonly kind: "edit"; readonly edit: PlannedEdit; readonly by?: "deputy" }
);

export type PlannedEdit =
  | { readonly verb: "apply"; readonly manifest: object }
  | { readonly verb: "pause"; readonly forMs: number }
  | { readonly verb: "resume" | "delete" };

/** Where faults, edits and changes of load end. */
export const FAULTS_MS = 290_000;
const AUTOSCALERS = 20;
const LOAD_CHANGES = 37;
const COUNT_CHANGES = 6;
const EDITS = 5;
const RIVALS_MAX = 2;
const REMADE_MAX = 3;

export const newTimetable = (
  random: Random,
  drawShapes: (random: Random) => readonly Shape[] = shapesOf,
): Timetable => {
  const clusters = [
    { name: "eu-1", periodMs: 10_000, namespaces: ["shop"], divided: false },
    { name: "eu-2", periodMs: 15_000, namespaces: ["shop"], divided: false },
    { name: "us-1", periodMs: 12_000, namespaces: ["shop", "pay"], divided: true },
  ];
  const shapes = drawShapes(random);
  // Watermarks keep no recommendations: where a partition has nothing else, its page is not written
  // while nothing happens.
  const payShape = random.chance(1 / 2) ? "watermark" : undefined;
  const autoscalers = Array.from({ length: AUTOSCALERS }, (_, at) =>
    plannedAutoscaler(random, at, { clusters, shapes, payShape }),
  );
  const edits = Array.from({ length: EDITS }, () => edit(random, autoscalers)).flat();
  const happenings = [
    ...edits,
    ...deputyEdits(random, edits, { autoscalers, faultsMs: FAULTS_MS }),
    ...Array.from({ length: LOAD_CHANGES }, () => loadChange(random, autoscalers)),
    ...Array.from({ length: COUNT_CHANGES }, () => countChange(random)),
    ...Array.from({ length: random.int(0, RIVALS_MAX) }, () => rival(random)).flat(),
    ...Array.from({ length: random.int(0, REMADE_MAX) }, () => remade(random)).flat(),
    ...autoscalers.map((planned, workload) => lastLoad(random, planned, workload)),
    ...[...new Set(edits.map(({ workload }) => workload))].flatMap((workload) =>
      lastWords(autoscalers, workload),
    ),
  ];
  const orders = plannedOrders(random, FAULTS_MS);
  return {
    clusters,
    autoscalers,
    happenings: happenings.sort((one, other) => one.atMs - other.atMs),
    orders,
  };
};

const plannedAutoscaler = (
  random: Random,
  at: number,
  seed: {
    readonly clusters: readonly PlannedCluster[];
    readonly shapes: readonly Shape[];
    readonly payShape: Shape | undefined;
  },
): PlannedAutoscaler => {
  const { name: cluster, namespaces } = seed.clusters[at % seed.clusters.length] ?? {
    name: "",
    namespaces: [""],
  };
  const namespace = random.pick(namespaces);
  const name = `app-${at}`;
  const counted = !random.chance(1 / 5);
  const target = counted
    ? { apiVersion: "apps/v1", kind: "Deployment", name }
    : { apiVersion: "games.example/v1", kind: "Fleet", name };
  const own = seed.shapes[at % seed.shapes.length] ?? "legacy";
  const shape = namespace === "pay" ? (seed.payShape ?? own) : own;
  const manifest = newManifest(random, shape, { namespace, name, target });
  return {
    cluster,
    namespace,
    name,
    target,
    counted,
    replicas: random.int(1, PODS_MAX),
    load: someLoad(random, shape),
    shape,
    manifest,
  };
};

/** Of nothing at all, where the autoscaler can do with no pods. */
const someLoad = (random: Random, shape: Shape): number =>
  rests(shape) && random.chance(1 / 3) ? 0 : random.int(5, 110);
const someTime = (random: Random): number => random.int(0, FAULTS_MS - 60_000);
const someWorkload = (random: Random): number => random.int(0, AUTOSCALERS - 1);

const loadChange = (random: Random, autoscalers: readonly PlannedAutoscaler[]): Happening => {
  const workload = someWorkload(random);
  return {
    atMs: someTime(random),
    workload,
    kind: "load",
    load: someLoad(random, autoscalers[workload]?.shape ?? "legacy"),
  };
};

const countChange = (random: Random): Happening => ({
  atMs: someTime(random),
  workload: someWorkload(random),
  kind: "count",
  replicas: random.chance(1 / 3) ? undefined : random.int(1, PODS_MAX + 2),
});

/** Another controller of the same workload, for a while: it scales as well. */
const rival = (random: Random): readonly Happening[] => {
  const workload = someWorkload(random);
  const atMs = someTime(random);
  const untilMs = Math.min(FAULTS_MS - 30_000, atMs + random.int(20_000, 90_000));
  return [
    { atMs, workload, kind: "rival", there: true },
    { atMs: random.int(atMs, untilMs), workload, kind: "count", replicas: random.int(1, PODS_MAX) },
    { atMs: untilMs, workload, kind: "rival", there: false },
  ];
};

/** A workload is deleted and made anew, at once or after a while. */
const remade = (random: Random): readonly Happening[] => {
  const workload = someWorkload(random);
  const atMs = someTime(random);
  const againMs = atMs + (random.chance(1 / 2) ? random.int(0, 50) : random.int(1_000, 60_000));
  return [
    { atMs, workload, kind: "gone" },
    {
      atMs: Math.min(FAULTS_MS - 30_000, againMs),
      workload,
      kind: "made",
      replicas: random.int(1, PODS_MAX),
    },
  ];
};

/** One edit by a person; what was deleted or paused comes back before the faults end. */
const edit = (random: Random, autoscalers: readonly PlannedAutoscaler[]): readonly Happening[] => {
  const workload = someWorkload(random);
  const { manifest = {}, shape = "legacy" } = autoscalers[workload] ?? {};
  const atMs = someTime(random);
  const backMs = Math.min(FAULTS_MS - 30_000, atMs + random.int(10_000, 120_000));
  const one = (at: number, planned: PlannedEdit): Happening => ({
    atMs: at,
    workload,
    kind: "edit",
    edit: planned,
  });
  switch (random.pick(["apply", "apply", "pause", "pause for", "delete"] as const)) {
    case "apply":
      return [one(atMs, { verb: "apply", manifest: editedManifest(random, shape, manifest) })];
    case "pause":
      return [one(atMs, { verb: "pause", forMs: 3_600_000 }), one(backMs, { verb: "resume" })];
    case "pause for":
      return [one(atMs, { verb: "pause", forMs: random.int(15_000, 60_000) })];
    case "delete":
      // A new autoscaler does not wake what another has put to rest (hpa.md 2.4 step 4).
      return shape === "zero"
        ? []
        : [one(atMs, { verb: "delete" }), one(backMs, { verb: "apply", manifest })];
  }
};

export const LAST_MS = FAULTS_MS - 20_000;

/** A load under which exactly one count is at rest. */
const lastLoad = (random: Random, { shape }: PlannedAutoscaler, workload: number): Happening => {
  // Even, so that it is at rest under a modulo as well.
  const pods = 2 * Math.ceil(podsFor(someLoad(random, shape)) / 2);
  return { atMs: LAST_MS, workload, kind: "load", load: pods * 10 };
};

/** What was edited is there, awake, and as it was. */
const lastWords = (
  autoscalers: readonly PlannedAutoscaler[],
  workload: number,
): readonly Happening[] => [
  {
    atMs: LAST_MS,
    workload,
    kind: "edit",
    edit: { verb: "apply", manifest: autoscalers[workload]?.manifest ?? {} },
  },
  { atMs: LAST_MS + 1, workload, kind: "edit", edit: { verb: "resume" } },
];
