import { type SpecKindName, SPEC_KIND_NAMES } from "../../../lib/rules/model/spec.ts";
import { newManifest, rests } from "../manifests/shapes.ts";
import { forAWhile as orderedForAWhile, type PlannedOrder } from "../orders.ts";
import type { Random } from "../random.ts";
import {
  FAULTS_MS,
  type Happening,
  LAST_MS,
  type PlannedAutoscaler,
  type Timetable,
} from "../timetable.ts";
import type { ObjectRef } from "./object-store.ts";

/** What happens to an object that holds a spec, at both places of its cluster. */
export type ObjectChange =
  | { readonly verb: "apply"; readonly manifest: object }
  | { readonly verb: "remove"; readonly ref: ObjectRef }
  /** Deleted and made anew at once: another object of the same name. */
  | { readonly verb: "replace"; readonly ref: ObjectRef; readonly manifest: object }
  /** Another controller writes its status; the write is said to be so old. */
  | { readonly verb: "follow"; readonly ref: ObjectRef; readonly agoMs: number };

/**
 * A share of the seeds has clusters that hold their autoscalers themselves. By the seed, so that
 * nothing else that is drawn depends on it.
 */
const OBJECT_SEEDS = 4;
export const hasObjects = (seed: number): boolean => seed % OBJECT_SEEDS === OBJECT_SEEDS / 2;

/** In all of a seed's clusters, or in one of them. */
const CLUSTERS: readonly (readonly string[])[] = [
  ["eu-1", "eu-2", "us-1"],
  ["us-1"],
  ["eu-1", "us-1"],
  ["eu-2"],
];
/** Share of the objects whose autoscaler people had stored before the cluster held it. */
const STORED_BEFORE = 1 / 4;
/** Everything is as it was this long before the last words. */
const BACK_MS = FAULTS_MS - 40_000;
const BROKEN_MAX = 8;
const REPLACED_MAX = 4;
/** Objects that are edited again and again, faster than their edits are stored. */
const HASTY_MAX = 3;
const HASTY_EDITS_MAX = 6;
const HASTY_MS: readonly [from: number, to: number] = [1_000, 25_000];
const TWINS_MAX = 3;
/**
 * The hold beside another controller that writes the status lasts five minutes from its write; in
 * these seeds the rest of it is short.
 */
const FOLLOWED_MS: readonly [from: number, to: number] = [240_000, 290_000];
/** More than can be stored of one object. */
const TOO_LARGE = 90_001;

const kindOf = ({ manifest }: Pick<PlannedAutoscaler, "manifest">): string =>
  (manifest as { readonly kind: string }).kind;
const isKind = (kind: string): kind is SpecKindName =>
  SPEC_KIND_NAMES.some((known) => known === kind);

const refOf = (manifest: object): ObjectRef => {
  const { kind, metadata } = manifest as {
    readonly kind: SpecKindName;
    readonly metadata: { readonly namespace: string; readonly name: string };
  };
  return { kind, namespace: metadata.namespace, name: metadata.name };
};

/**
 * The same timetable, with clusters that hold their autoscalers, and what happens to the objects
 * there.
 */
export const withObjects = (timetable: Timetable, random: Random): Timetable => {
  const inside = new Set(random.pick(CLUSTERS));
  const autoscalers = timetable.autoscalers.map((planned): PlannedAutoscaler => {
    if (!inside.has(planned.cluster) || !isKind(kindOf(planned))) return planned;
    return { ...planned, home: random.chance(STORED_BEFORE) ? "both" : "object" };
  });
  const happenings = [...timetable.happenings, ...objectHappenings(random, autoscalers, inside)];
  return {
    ...timetable,
    autoscalers,
    clusters: timetable.clusters.map((cluster) =>
      inside.has(cluster.name) ? { ...cluster, specs: SPEC_KIND_NAMES } : cluster,
    ),
    happenings: happenings.sort((one, other) => one.atMs - other.atMs),
    orders: [...timetable.orders, ...turnedBack(random, [...inside])].sort(
      (one, other) => one.atMs - other.atMs,
    ),
  };
};

/**
 * In some seeds people store the autoscalers of a cluster themselves for a while: the syncs read
 * none from it.
 */
const turnedBack = (random: Random, inside: readonly string[]): readonly PlannedOrder[] => {
  const cluster = random.pick(inside);
  if (!random.chance(1 / 3)) return [];
  return orderedForAWhile(
    random,
    FAULTS_MS,
    { verb: "specs", cluster, kinds: [] },
    { verb: "specs", cluster, kinds: SPEC_KIND_NAMES },
  );
};

type One = (atMs: number, object: ObjectChange) => Happening;

const objectHappenings = (
  random: Random,
  autoscalers: readonly PlannedAutoscaler[],
  inside: ReadonlySet<string>,
): readonly Happening[] => {
  const all = autoscalers.map((planned, workload) => ({ planned, workload }));
  const objects = all.filter(({ planned }) => planned.home !== undefined);
  const here = all.filter(({ planned }) => inside.has(planned.cluster));
  const times = (most: number) => Array.from({ length: random.int(1, most) });
  return [
    ...times(BROKEN_MAX).flatMap(() =>
      on(random.pick(objects), (planned, one) => broken(random, planned, one)),
    ),
    ...times(REPLACED_MAX).flatMap(() =>
      on(random.pick(objects), (planned, one) => replaced(random, planned, one)),
    ),
    ...times(HASTY_MAX).flatMap(() =>
      on(random.pick(objects), (planned, one) => hasty(random, planned, one)),
    ),
    ...times(TWINS_MAX).flatMap(() =>
      on(random.pick(here), (planned, one) => twin(random, planned, one)),
    ),
    ...on(random.pick(objects), (planned, one) => namesake(random, planned, one)),
    ...on(random.pick(objects), (planned, one) => [
      one(someTime(random), {
        verb: "follow",
        ref: refOf(planned.manifest),
        agoMs: random.int(...FOLLOWED_MS),
      }),
    ]),
    ...on(random.pick(here), (planned, one) => [
      one(someTime(random), { verb: "apply", manifest: alwaysInvalid(planned) }),
    ]),
    // The last words about each object, and one more in the quiet time: a label alone.
    ...objects.flatMap((of) =>
      on(of, ({ manifest }, one) => [one(LAST_MS + 2, { verb: "apply", manifest })]),
    ),
    ...objects.flatMap((of) =>
      on(of, ({ manifest }, one) => [
        one(QUIET_EDIT_MS, { verb: "apply", manifest: labelled(manifest, "quiet") }),
      ]),
    ),
  ];
};

/** When every object is edited once more, after the faults. */
export const QUIET_EDIT_MS = FAULTS_MS + 60_000;

const on = (
  { planned, workload }: { readonly planned: PlannedAutoscaler; readonly workload: number },
  happenings: (planned: PlannedAutoscaler, one: One) => readonly Happening[],
): readonly Happening[] =>
  happenings(planned, (atMs, object) => ({ atMs, workload, kind: "object", object }));

const someTime = (random: Random): number => random.int(0, BACK_MS - 60_000);
const later = (random: Random, atMs: number): number =>
  Math.min(BACK_MS, atMs + random.int(1, 60_000));

interface Manifest {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly scaleTargetRef: object;
    readonly minReplicas?: number;
    readonly maxReplicas: number;
  };
}

const labelled = (manifest: object, label: string): object => {
  const { metadata } = manifest as Manifest;
  return { ...manifest, metadata: { ...metadata, labels: { label } } };
};

/**
 * The server takes any object that its schema allows; what contradicts itself is found by the sync.
 */
const invalid = (manifest: object): object => {
  const { spec } = manifest as Manifest;
  return { ...manifest, spec: { ...spec, minReplicas: 9, maxReplicas: 2 } };
};

/** Broken for a while: invalid, or too large to be stored. */
const broken = (
  random: Random,
  { manifest }: PlannedAutoscaler,
  one: One,
): readonly Happening[] => {
  const atMs = someTime(random);
  const worse = random.chance(1 / 5)
    ? labelled(manifest, "n".repeat(TOO_LARGE))
    : invalid(manifest);
  return [
    one(atMs, { verb: "apply", manifest: worse }),
    one(later(random, atMs), { verb: "apply", manifest }),
  ];
};

/** Another maxReplicas each time, and at the end the one of before. */
const hasty = (random: Random, { manifest }: PlannedAutoscaler, one: One): readonly Happening[] => {
  const { spec, ...rest } = manifest as Manifest;
  let atMs = someTime(random);
  const edits = Array.from({ length: random.int(2, HASTY_EDITS_MAX) }, () => {
    const edited = {
      ...rest,
      spec: { ...spec, maxReplicas: random.int(spec.minReplicas ?? 1, spec.maxReplicas) },
    };
    const edit = one(atMs, { verb: "apply", manifest: edited });
    atMs = Math.min(BACK_MS, atMs + random.int(...HASTY_MS));
    return edit;
  });
  return [...edits, one(atMs, { verb: "apply", manifest })];
};

const replaced = (
  random: Random,
  { manifest }: PlannedAutoscaler,
  one: One,
): readonly Happening[] => [
  one(someTime(random), { verb: "replace", ref: refOf(manifest), manifest }),
];

const forAWhile = (random: Random, manifest: object, one: One): readonly Happening[] => {
  const atMs = someTime(random);
  return [
    one(atMs, { verb: "apply", manifest }),
    one(later(random, atMs), { verb: "remove", ref: refOf(manifest) }),
  ];
};

/**
 * Another object with the same target. What goes to rest is left alone: another autoscaler's rules
 * would not wake it.
 */
const twin = (
  random: Random,
  { shape, name, namespace, target }: PlannedAutoscaler,
  one: One,
): readonly Happening[] =>
  rests(shape)
    ? []
    : forAWhile(
        random,
        newManifest(random, "native", { namespace, name: `twin-of-${name}`, target }),
        one,
      );

/** An object of the other kind with the same name. */
const namesake = (
  random: Random,
  { shape, manifest, ...place }: PlannedAutoscaler,
  one: One,
): readonly Happening[] => {
  const other = refOf(manifest).kind === "PodAutoscaler" ? "watermark" : "native";
  return rests(shape) ? [] : forAWhile(random, newManifest(random, other, place), one);
};

/** One that is invalid to the end. */
const alwaysInvalid = ({ cluster, namespace, target }: PlannedAutoscaler): object => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: `invalid-in-${cluster}`, namespace },
  spec: {
    scaleTargetRef: { ...target, name: "nothing" },
    minReplicas: 9,
    maxReplicas: 2,
    metrics: [],
  },
});
