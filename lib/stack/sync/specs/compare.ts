import type { Because } from "../../../rules/model/decision.ts";
import { originIn, type ClusterOrigin, type ClusterRecord } from "../../../rules/model/records.ts";
import type { SpecKindName } from "../../../rules/model/spec.ts";
import {
  manyGone,
  nameShared,
  objectDeleting,
  objectGone,
  objectUnread,
  statusWritten,
} from "../../report/holds.ts";
import {
  type ComparedWith,
  type Finding,
  findingOf,
  kindOfManifest,
  type ListedObject,
  type Listings,
  tooLarge,
  waitsUntilMs,
} from "./finding.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type { KnownSpec, LoadedSpec } from "../hand-over.ts";

export interface Compared {
  readonly findings: readonly Finding[];
  /** Names that two autoscalers want, by namespace and name. */
  readonly clashes: ReadonlyMap<string, Because>;
  /** Objects that get no autoscaler, a sentence each. */
  readonly passedOver: readonly string[];
}

export const nameKey = ({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `${namespace}/${name}`;

/**
 * Compares what the cluster has with what is stored. It changes nothing. Objects of other
 * partitions must have been left out.
 */
export const compared = (
  specs: readonly LoadedSpec[],
  listings: Listings,
  at: ComparedWith,
): Compared => {
  const stored = new Map(
    specs.map((spec) => [nameKey(spec.kind === "unreadable" ? spec : spec.record), spec]),
  );
  const findings: Finding[] = [];
  const clashes = new Map<string, Because>();
  const passedOver: string[] = [];
  const objects = listedObjects(listings);
  const byName: ByName = Map.groupBy(
    objects.filter(({ object }) => !object.deleting),
    ({ object }) => nameKey(object),
  );
  for (const [key, [first, ...others]] of byName) {
    const spec = stored.get(key);
    // A record that cannot be read holds by itself, and is not written over.
    if (!first || spec?.kind === "unreadable") continue;
    const wanted = [first, ...others];
    const own = wanted.find(({ of }) => !spec || isOfKind(spec, of.kind));
    const finding = own && findingOf(own, spec, at);
    if (finding) findings.push(finding);
    else if (own)
      passedOver.push(`${own.of.kind} "${key}" has no autoscaler: ${tooLarge(own).message}`);
    const other = wanted.find((listed) => listed !== own);
    if (other) clashes.set(key, nameShared({ kind: other.of.kind, name: other.object.name }));
  }
  return {
    findings: [...findings, ...unseen(specs, { listings, objects, byName }, at)],
    clashes,
    passedOver,
  };
};

type ByName = ReadonlyMap<string, readonly ListedObject[]>;

/** All objects that the LISTs showed. */
export const listedObjects = (listings: Listings): readonly ListedObject[] =>
  listings.flatMap(({ kind: of, outcome }) =>
    outcome.kind === "listed" ? outcome.objects.map((object) => ({ of, object })) : [],
  );

/**
 * True where the autoscaler is a copy of an object of this kind, or was stored by a person as one.
 */
const isOfKind = ({ record }: KnownSpec, kind: string): boolean =>
  (record.origin?.kind ?? kindOfManifest(record)) === kind;

/** The autoscalers whose object is in no answer: it is gone, or the LIST failed. */
const unseen = (
  specs: readonly LoadedSpec[],
  {
    listings,
    objects,
    byName,
  }: {
    readonly listings: Listings;
    readonly objects: readonly ListedObject[];
    readonly byName: ByName;
  },
  at: ComparedWith,
): readonly Finding[] => {
  const copies = specs
    .filter((spec) => spec.kind !== "unreadable")
    .flatMap((spec) => {
      const origin = originIn(at.cluster, spec.record);
      return origin ? [{ spec, origin, problem: problemOf(listings, origin, spec) }] : [];
    });
  // On doubt, hold: an answer that did not come is not an answer without the object.
  const unread = copies.flatMap(({ spec, origin, problem }): readonly Finding[] =>
    problem === undefined ? [] : [{ kind: "held", spec, because: objectUnread(origin, problem) }],
  );
  const answered = copies.filter(({ problem }) => problem === undefined);
  // An object of another uid replaces the one before, which is then not gone.
  const hidden = answered.filter(
    ({ spec, origin }) =>
      !byName.get(nameKey(spec.record))?.some(({ of }) => of.kind === origin.kind),
  );
  // The objects that a finalizer keeps after their deletion.
  const deleting = new Set(
    objects.filter(({ object }) => object.deleting).map(({ object }) => object.uid),
  );
  const missing = hidden.filter(({ origin }) => !deleting.has(origin.uid));
  return [
    ...unread,
    // It is still in the cluster, so nothing of it ends; its edits count no more.
    ...hidden
      .filter(({ origin }) => deleting.has(origin.uid))
      .map(
        ({ spec, origin }): Finding => ({ kind: "held", spec, because: objectDeleting(origin) }),
      ),
    ...goneFindings(
      missing.map(({ spec }) => spec),
      answered.map(({ spec }) => spec),
      at,
    ),
  ];
};

/** Why the LIST that would have the object gave no answer. */
const problemOf = (
  listings: Listings,
  origin: ClusterOrigin,
  { record }: KnownSpec,
): string | undefined => {
  const listing = listings.find(
    ({ kind, namespace, without }) =>
      // On doubt, hold: a LIST that leaves out a namespace is no answer about its objects, and
      // least of all that they are gone.
      kind.kind === origin.kind &&
      (namespace ?? record.namespace) === record.namespace &&
      without?.has(record.namespace) !== true,
  );
  if (listing?.outcome.kind === "listed") {
    // On doubt, hold: an object that was passed over is in the cluster, and what it says is not
    // known.
    return listing.outcome.unread?.find((object) => nameKey(object) === nameKey(record))?.message;
  }
  return listing?.outcome.failure.message ?? "it was not asked for";
};

/** The resourceVersion of each object whose manifest is stored. */
export const knownVersions = (
  cluster: ClusterRecord,
  specs: readonly LoadedSpec[],
): ReadonlyMap<string, string> => {
  const known = new Map<string, string>();
  for (const spec of specs) {
    if (spec.kind === "unreadable") continue;
    const origin = originIn(cluster, spec.record);
    if (origin && spec.object) known.set(origin.uid, spec.object.resourceVersion);
  }
  return known;
};

/**
 * More gone objects than this, and more than half of their kind, are more often a wrong address or
 * a restored cluster than a wish.
 */
const FEW_GONE = 5;
/**
 * How long many autoscalers hold before they end: time to restore the objects, and longer than any
 * window of scales.
 */
const MANY_WAIT_MS = 60 * 60_000;

/*
 *  LIST without the object ── holds at once, and the record is marked
 *  next LIST without it    ── ends: the history stays, the windows go
 *  LIST with it again      ── goes on with its windows (same uid), or starts anew (another uid)
 *
 * One answer ends nothing: windows that are lost cannot be read again, and an answer can be wrong.
 */
const goneFindings = (
  missing: readonly KnownSpec[],
  all: readonly KnownSpec[],
  { nowMs }: ComparedWith,
): readonly Finding[] => {
  const counts = Map.groupBy(all, kindOf);
  return [...Map.groupBy(missing, kindOf)].flatMap(([kind, gone]) => {
    const known = counts.get(kind)?.length ?? 0;
    const many = gone.length > FEW_GONE && gone.length > known / 2;
    return gone.map((spec) => findingOfGone(spec, { nowMs, gone: gone.length, all: known, many }));
  });
};

const kindOf = ({ record }: KnownSpec): SpecKindName | undefined => record.origin?.kind;

const findingOfGone = (
  spec: KnownSpec,
  {
    nowMs,
    many,
    ...counts
  }: {
    readonly nowMs: number;
    readonly gone: number;
    readonly all: number;
    readonly many: boolean;
  },
): Finding => {
  const { origin } = spec.record;
  if (!origin) throw new TypeError("an autoscaler without an object cannot lose it");
  const untilMs = (origin.goneMs ?? nowMs) + MANY_WAIT_MS;
  const ends =
    origin.goneMs !== undefined &&
    (!many || nowMs >= untilMs) &&
    waitsUntilMs(origin, nowMs) === undefined;
  return {
    kind: "gone",
    spec,
    ends,
    because: many ? manyGone(origin, { ...counts, untilMs }) : objectGone(origin),
  };
};

/**
 * How long after its last write to the status another controller counts as following the object. A
 * controller that has nothing to write is not noticed (docs/clusters.md).
 */
export const STATUS_RIVAL_MS = 5 * 60_000;

/** Why autoscalers must not act because of their objects, strongest reason first. */
export const holdsOfObjects = (
  cluster: ClusterRecord,
  specs: readonly LoadedSpec[],
  comparison: {
    readonly findings: readonly Finding[];
    readonly clashes: ReadonlyMap<string, Because>;
    /** Changes that are not stored and not waiting for it, with their reason. */
    readonly notStored: ReadonlyMap<AutoscalerUid, Because>;
    readonly nowMs: number;
  },
): ReadonlyMap<AutoscalerUid, Because> => {
  const ofFinding = becauseByUid(comparison.findings);
  const holds = new Map<AutoscalerUid, Because>();
  for (const spec of specs) {
    if (spec.kind === "unreadable") continue;
    const { record } = spec;
    const key = nameKey(record);
    const because =
      ofFinding.get(record.uid) ??
      comparison.notStored.get(record.uid) ??
      comparison.clashes.get(key) ??
      follower(cluster, spec, comparison.nowMs);
    if (because) holds.set(record.uid, because);
  }
  return holds;
};

const becauseByUid = (findings: readonly Finding[]): ReadonlyMap<AutoscalerUid, Because> =>
  new Map(
    findings.flatMap((finding) =>
      finding.kind === "gone" || finding.kind === "held"
        ? [[finding.spec.record.uid, finding.because] as const]
        : [],
    ),
  );

/**
 * On doubt, hold: two controllers of one object would both scale its target. A dry run scales
 * nothing.
 */
const follower = (cluster: ClusterRecord, spec: KnownSpec, nowMs: number): Because | undefined => {
  const origin = originIn(cluster, spec.record);
  const by = spec.object?.statusBy;
  if (
    !origin ||
    !by ||
    nowMs - by.atMs > STATUS_RIVAL_MS ||
    (spec.kind === "ready" && spec.spec.dryRun)
  )
    return undefined;
  return statusWritten({ kind: origin.kind, name: spec.record.name }, by);
};
