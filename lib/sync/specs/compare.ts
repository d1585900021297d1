import type { SeenObject } from "../../cluster/specs/spec-listing.ts";
import type { Because } from "../../model/decision.ts";
import { originIn } from "../../model/origin.ts";
import type { ClusterOrigin, ClusterRecord } from "../../model/records.ts";
import { nameShared, objectUnread } from "../../report/object-holds.ts";
import type { KnownSpec, LoadedSpec } from "../load-specs.ts";
import { type ComparedWith, type Finding, findingOf, kindOfManifest, type ListedObject, type Listings, tooLarge } from "./finding.ts";
import { goneFindings } from "./gone.ts";

export interface Compared {
  readonly findings: readonly Finding[];
  /** Names that two autoscalers want, by namespace and name. */
  readonly clashes: ReadonlyMap<string, Because>;
  /** Objects that get no autoscaler, a sentence each. */
  readonly passedOver: readonly string[];
}

export const nameKey = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string => `${namespace}/${name}`;

/** Compares what the cluster has with what is stored. It changes nothing. Objects of other partitions must have been left out. */
export const compared = (specs: readonly LoadedSpec[], listings: Listings, at: ComparedWith): Compared => {
  const stored = new Map(specs.map((spec) => [nameKey(spec.kind === "unreadable" ? spec : spec.record), spec]));
  const findings: Finding[] = [];
  const clashes = new Map<string, Because>();
  const passedOver: string[] = [];
  const byName = objectsByName(listings);
  for (const [key, [first, ...others]] of byName) {
    const spec = stored.get(key);
    // A record that cannot be read holds by itself, and is not written over.
    if (!first || spec?.kind === "unreadable") continue;
    const wanted = [first, ...others];
    const own = wanted.find(({ of }) => !spec || isOfKind(spec, of.kind));
    const finding = own && findingOf(own, spec, at);
    if (finding) findings.push(finding);
    else if (own) passedOver.push(`${own.of.kind} "${key}" has no autoscaler: ${tooLarge(own).message}`);
    const other = wanted.find((listed) => listed !== own);
    if (other) clashes.set(key, nameShared({ kind: other.of.kind, name: other.object.name }));
  }
  return { findings: [...findings, ...unseen(specs, { listings, byName }, at)], clashes, passedOver };
};

type ByName = ReadonlyMap<string, readonly ListedObject[]>;

const objectsByName = (listings: Listings): ByName => {
  const objects = listings.flatMap(({ kind: of, outcome }) => (outcome.kind === "listed" ? outcome.objects.map((object) => ({ of, object })) : []));
  return Map.groupBy(
    objects.filter(({ object }) => !object.deleting),
    ({ object }) => nameKey(object),
  );
};

/** True where the autoscaler is a copy of an object of this kind, or was stored by a person as one. */
const isOfKind = ({ record }: KnownSpec, kind: string): boolean => (record.origin?.kind ?? kindOfManifest(record)) === kind;

/** The autoscalers whose object is in no answer: it is gone, or the LIST failed. */
const unseen = (
  specs: readonly LoadedSpec[],
  { listings, byName }: { readonly listings: Listings; readonly byName: ByName },
  at: ComparedWith,
): readonly Finding[] => {
  const copies = specs
    .filter((spec) => spec.kind !== "unreadable")
    .flatMap((spec) => {
      const origin = originIn(at.cluster, spec.record);
      return origin ? [{ spec, origin, problem: problemOf(listings, origin, spec) }] : [];
    });
  // Fails to a hold: an answer that did not come is not an answer without the object.
  const unread = copies.flatMap(({ spec, origin, problem }): readonly Finding[] =>
    problem === undefined ? [] : [{ kind: "held", spec, because: objectUnread(origin, problem) }],
  );
  const answered = copies.filter(({ problem }) => problem === undefined);
  // An object of another uid replaces the one before, which is then not gone.
  const missing = answered.filter(({ spec, origin }) => !byName.get(nameKey(spec.record))?.some(({ of }) => of.kind === origin.kind));
  return [
    ...unread,
    ...goneFindings(
      missing.map(({ spec }) => spec),
      answered.map(({ spec }) => spec),
      at,
    ),
  ];
};

/** Why the LIST that would have the object gave no answer. */
const problemOf = (listings: Listings, origin: ClusterOrigin, { record }: KnownSpec): string | undefined => {
  const listing = listings.find(
    ({ kind, namespace, without }) =>
      // On doubt, hold: a LIST that leaves out a namespace is no answer about its objects, and least of all that they are gone.
      kind.kind === origin.kind && (namespace ?? record.namespace) === record.namespace && without?.has(record.namespace) !== true,
  );
  if (listing?.outcome.kind === "listed") {
    // Fails to a hold: an object that was passed over is in the cluster, and what it says is not known.
    return listing.outcome.unread?.find((object) => nameKey(object) === nameKey(record))?.message;
  }
  return listing?.outcome.failure.message ?? "it was not asked for";
};

/** The resourceVersion of each object whose manifest is stored. */
export const knownVersions = (cluster: ClusterRecord, specs: readonly LoadedSpec[]): ReadonlyMap<string, string> => {
  const known = new Map<string, string>();
  for (const spec of specs) {
    if (spec.kind === "unreadable") continue;
    const [origin, object]: [ReturnType<typeof originIn>, SeenObject | undefined] = [originIn(cluster, spec.record), spec.object];
    if (origin && object) known.set(origin.uid, object.resourceVersion);
  }
  return known;
};
