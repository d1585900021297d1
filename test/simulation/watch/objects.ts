import { isDeepStrictEqual } from "node:util";
import type { ScaleWrite, SpecListing } from "../../../lib/stack/cluster/cluster-client.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import { STORED_EVERY_MS } from "../../../lib/stack/sync/specs/finding.ts";
import { THIS_BUILD } from "../beside/build.ts";
import type { Invocation } from "../invocation.ts";
import type { ClusterObject, ObjectStore } from "../objects/object-store.ts";
import { SHARED_RULES } from "../rules.ts";
import { siteOf } from "../sites.ts";
import type { Stage } from "../stage.ts";
import type { PlannedCluster } from "../timetable.ts";
import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import type { Item } from "./head.ts";
import type { KnownIntent, Ledger } from "./ledger.ts";
import type { Copy } from "./object-ledger.ts";
import { sentIntent } from "./sent-intent.ts";

const ACTS = "an autoscaler of an object acts by what the same sync has read of it";
const STORED = "no autoscaler of an object acts by a spec that is not stored";
const COPIES = "after faults stop, every object is one autoscaler within a minute and two periods";

/** Another controller's write of the status counts for five minutes (docs/clusters.md). */
const FOLLOWED_MS = 300_000;

/** Notes what the LISTs of a sync have shown, and what they have not. */
export const watchListed = (
  ledger: Ledger,
  by: Invocation,
  listings: readonly SpecListing[],
  store: ObjectStore,
): void => {
  for (const { kind, namespace, outcome } of listings) {
    if (outcome.kind === "failed") continue;
    for (const { uid, resourceVersion } of outcome.objects)
      noteShown(by, store, uid, resourceVersion);
    noteAbsent(
      ledger,
      by,
      (copy) => copy.kind === kind.kind && (namespace ?? copy.namespace) === copy.namespace,
    );
  }
};

const noteAbsent = (ledger: Ledger, by: Invocation, isAsked: (copy: Copy) => boolean): void => {
  for (const copy of ledger.objects.copies.values())
    if (copy.cluster === by.message.cluster && isAsked(copy) && !by.shown.has(copy.uid))
      absencesOf(ledger, copy.uid).add(by);
};

const noteShown = (
  by: Invocation,
  store: ObjectStore,
  uid: string,
  resourceVersion: string,
): void => {
  const object = store.version(uid, resourceVersion);
  if (!object)
    throw new TypeError(
      `an answer has version ${resourceVersion} of "${uid}", which there never was`,
    );
  by.shown.set(uid, object);
};

const absencesOf = ({ objects: { absences } }: Ledger, uid: string): Set<Invocation> => {
  const known = absences.get(uid) ?? new Set();
  absences.set(uid, known);
  return known;
};

/**
 * Looks at a PUT that is being sent for an autoscaler that its cluster holds: by the object of the
 * same sync's answer, with a generation that no earlier record has overtaken.
 */
export const watchActs = (ledger: Ledger, by: Invocation, write: ScaleWrite): void => {
  const known = sentIntent(ledger, by, write);
  const copy = known && ledger.objects.copies.get(known.intent.uid);
  if (!known || !copy || !by.kinds.includes(copy.kind)) return;
  const object = by.shown.get(copy.uid);
  const fault = object
    ? faultOf(ledger, by, known, object)
    : "the answers of this sync do not have it";
  const words = `${by.name} sends a PUT of "${copy.name}" to ${write.replicas}, and of the object "${copy.uid}"`;
  if (fault) ledger.violate(ACTS, `${words} ${fault}`);
  if (!isStored(ledger, by, known, copy))
    ledger.violate(STORED, `${words} another manifest is stored`);
  watchFollower(ledger, by, copy, object);
};

const faultOf = (
  ledger: Ledger,
  by: Invocation,
  { decided }: KnownIntent,
  { uid, manifest, generation }: ClusterObject,
): string | undefined => {
  const reading = SHARED_RULES.specOf(manifest);
  if (reading.kind !== "spec") return "no spec can be read";
  const forbidden = decided && forbiddenBy(reading.spec, decided);
  if (forbidden) return `${forbidden} was read`;
  const before = (ledger.objects.generations.get(uid) ?? []).filter(
    ({ storedAt }) => storedAt < by.claimedAt,
  );
  const newest = Math.max(0, ...before.map((one) => one.generation));
  return generation < newest
    ? `generation ${generation} was read, and ${newest} was stored before the claim`
    : undefined;
};

/**
 * What the object that was read says against a scale by another manifest: the stored one, while a
 * newer one waits.
 */
const forbiddenBy = (
  read: AutoscalerSpec,
  { input: { spec }, decision }: NonNullable<KnownIntent["decided"]>,
): string | undefined => {
  if (decision.kind === "hold" || read === spec || isDeepStrictEqual(read, spec)) return undefined;
  if (!isDeepStrictEqual(read.target, spec.target)) return "another target";
  if (read.dryRun && !spec.dryRun) return "a dry run";
  // A bound of an override goes before that of any manifest.
  if (decision.bounds) return undefined;
  if (decision.to > decision.from && decision.to > read.maxReplicas)
    return `maxReplicas ${read.maxReplicas}`;
  return decision.to < decision.from && decision.to < read.minReplicas
    ? `minReplicas ${read.minReplicas}`
    : undefined;
};

/**
 * True where the spec that was decided on is one that was stored: the last before the claim, or a
 * later one.
 */
const isStored = (
  ledger: Ledger,
  by: Invocation,
  { decided }: KnownIntent,
  { uid }: Copy,
): boolean => {
  if (!decided || by.process.build !== THIS_BUILD) return true;
  const stored = ledger.objects.generations.get(uid);
  if (!stored) return (ledger.objects.endedAt.get(uid) ?? 0) > by.claimedAt;
  const last = stored.findLastIndex(({ storedAt }) => storedAt < by.claimedAt);
  return stored.slice(Math.max(0, last)).some(({ manifest }) => {
    const reading = SHARED_RULES.specOf(manifest);
    return (
      reading.kind === "spec" &&
      (reading.spec === decided.input.spec || isDeepStrictEqual(reading.spec, decided.input.spec))
    );
  });
};

const watchFollower = (
  ledger: Ledger,
  by: Invocation,
  { name }: Copy,
  object: ClusterObject | undefined,
): void => {
  const atMs = object?.statusBy?.atMs;
  if (atMs === undefined || ledger.nowMs() - atMs > FOLLOWED_MS - CLOCK_ALLOWANCE_MS) return;
  ledger.violate(
    "nothing is sent where another controller was seen or may be",
    `${by.name} sends a PUT for "${name}", whose status another writes`,
  );
};

/**
 * Syncs of two periods have read what was edited, and one of them may come a little later than
 * planned.
 */
const PERIODS = 2;
const SLACK_MS = 1_000;

/**
 * Looks at every cluster that holds its autoscalers, a minute and two periods after the last edit
 * of its objects: at most one edit of an object is stored in a minute.
 */
export const planCopies = (stage: Stage, editedMs: number): void => {
  for (const cluster of stage.timetable.clusters)
    stage.scheduler.at(editedMs + STORED_EVERY_MS + PERIODS * cluster.periodMs + SLACK_MS, () =>
      watchCopies(stage, cluster),
    );
};

/**
 * What is stored at this instant, held against the objects: each has its record, with its manifest,
 * and no record has an object that is gone.
 */
export const watchCopies = (
  stage: Stage,
  { name, specs = [] }: Pick<PlannedCluster, "name" | "specs">,
): void => {
  if (specs.length === 0) return;
  const objects = siteOf(stage, name).objects.at(stage.nowMs());
  const records = [...stage.stored.items()].filter(
    (item) => item["pk"]?.S === `autoscalers#${name}` && item["deletedMs"] === undefined,
  );
  const copies = new Map(
    records.flatMap((item) =>
      item["origin"]?.M ? [[item["origin"].M["uid"]?.S, item] as const] : [],
    ),
  );
  for (const object of objects) watchCopy(stage.ledger, object, copies.get(object.uid));
  const known = new Set(objects.map(({ uid }) => uid));
  for (const uid of copies.keys())
    if (!known.has(uid ?? ""))
      stage.ledger.violate(COPIES, `"${uid}" is gone from ${name}, and has an autoscaler`);
};

const watchCopy = (
  ledger: Ledger,
  { uid, manifest }: ClusterObject,
  record: Item | undefined,
): void => {
  if (!record) ledger.violate(COPIES, `the object "${uid}" has no autoscaler`);
  else if (record["manifest"]?.S !== manifest)
    ledger.violate(COPIES, `the autoscaler of the object "${uid}" has another manifest`);
  else if (record["origin"]?.M?.["goneMs"])
    ledger.violate(COPIES, `the object "${uid}" is there, and its autoscaler is about to end`);
};
