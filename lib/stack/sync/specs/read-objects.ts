import type { Because } from "../../../rules/model/decision.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { type AutoscalerUid, namespace as namespaceOf } from "../../../rules/model/ids.ts";
import { kindsReadFrom } from "../../../rules/model/records.ts";
import type { SpecKind } from "../../../rules/model/spec.ts";
import { objectNotStored } from "../../report/holds.ts";
import { namespacesOf, partitionOf } from "../../store/records/clusters.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { compared, knownVersions, holdsOfObjects, listedObjects } from "./compare.ts";
import type { Finding, Listings } from "./finding.ts";
import { type StoredFindings, storeFindings } from "./store-findings.ts";
import { namespaceOf as namespaceOfFinding } from "./store-turns.ts";
import { hasStoredSpec, waitingOf } from "./store-room.ts";
import { connected } from "../connected.ts";
import type { Loaded, Waiting } from "../hand-over.ts";

/**
 * Share of the soft deadline that the LISTs of specs may take. The observation begins after them.
 */
const SPECS_SHARE = 0.2;
/** Objects without an autoscaler that the log line names; the others are counted. */
const PASSED_OVER_NAMED_MAX = 5;

/**
 * Reads the specs that the cluster holds, and stores what has changed there. From here on they are
 * like all others: the sync observes and decides with what it has just read. A cluster whose
 * autoscalers are all stored by people is not asked.
 */
export const readObjects = async (
  ports: SyncPorts,
  message: SyncMessage,
  loaded: Loaded,
): Promise<Loaded> => {
  const { cluster, nowMs } = loaded;
  const kinds = kindsReadFrom(cluster);
  if (kinds.length === 0) return loaded;
  const { listings, calls, bytes } = await listed(ports, message, { loaded, kinds });
  const { findings, clashes, passedOver } = compared(loaded.specs.all, listings, {
    cluster,
    nowMs,
  });
  const stored = await storeFindings(ports, message, { loaded, findings });
  const { specs, over } = stored;
  const unstored = [...findings.filter(({ kind }) => kind === "waits"), ...stored.late];
  const waiting = waitingOf(ports.rules, unstored.filter(hasStoredSpec), message);
  const notStored = notStoredOf({ ...stored, unstored, waiting });
  const holds = holdsOfObjects(cluster, specs.all, { findings, clashes, notStored, nowMs });
  const newObjects = findings.filter(
    (finding) => finding.kind === "store" && finding.spec === undefined,
  ).length;
  const newWaiting = [...stored.late, ...stored.refused].filter(
    ({ spec }) => spec === undefined,
  ).length;
  const failures = listings.flatMap(({ kind: { kind }, outcome }) =>
    outcome.kind === "failed" ? [{ kind, message: outcome.failure.message }] : [],
  );
  const unread = listings.flatMap(({ outcome }) =>
    outcome.kind === "listed" ? (outcome.unread ?? []) : [],
  );
  const problems = [
    ...failures.map(
      ({ kind, message: words }) => `no ${kind} could be read: ${foreignText(words)}`,
    ),
    ...unread.slice(0, PASSED_OVER_NAMED_MAX).map(({ message: words }) => foreignText(words)),
    ...passedOver.slice(0, PASSED_OVER_NAMED_MAX),
    ...(passedOver.length > PASSED_OVER_NAMED_MAX
      ? [`${passedOver.length - PASSED_OVER_NAMED_MAX} more objects have no autoscaler`]
      : []),
    ...waitingSentences(newWaiting, newObjects - newWaiting),
    ...overSentences(over).slice(0, PASSED_OVER_NAMED_MAX),
  ];
  const overBudget = over.map(({ finding }) => namespaceOfFinding(finding));
  return {
    ...loaded,
    specs,
    objects: {
      listed: new Map(listedObjects(listings).map(({ object }) => [object.uid, object])),
      holds,
      waiting,
      overBudget,
      problems,
      calls,
      bytes,
    },
  };
};

/** How many new objects have no autoscaler yet, and the rate at which they get one. */
const waitingSentences = (waiting: number, stored: number): readonly string[] => {
  if (waiting === 0) return [];
  const rate =
    stored > 0
      ? `; this one stored ${stored}, so all are stored in about ${Math.ceil(waiting / stored)} more`
      : "";
  return [`${waiting} new objects wait for the next sync${rate}`];
};

/**
 * Why changes hold that are not stored and not followed by the stored spec. A change over the
 * budget of its namespace may wait for an hour: so long no stored spec is followed.
 */
const notStoredOf = ({
  unstored,
  waiting,
  refused,
  over,
}: Pick<StoredFindings, "refused" | "over"> & {
  readonly unstored: readonly Finding[];
  readonly waiting: ReadonlyMap<AutoscalerUid, Waiting>;
}): ReadonlyMap<AutoscalerUid, Because> => {
  const left = [...unstored, ...refused].map((finding) => ({
    finding,
    because: objectNotStored({ kind: finding.spec?.record.origin?.kind ?? "PodAutoscaler" }),
  }));
  return new Map(
    [...left, ...over].flatMap(({ finding: { spec }, because }) =>
      spec && !waiting.has(spec.record.uid) ? [[spec.record.uid, because] as const] : [],
    ),
  );
};

/**
 * One sentence for each namespace that has used its bytes, with the number of its changes that
 * wait.
 */
const overSentences = (over: StoredFindings["over"]): readonly string[] =>
  [...Map.groupBy(over, ({ because }) => because.message)].map(
    ([message, changes]) => `${changes.length} changed objects are not stored: ${message}`,
  );

const listed = async (
  ports: SyncPorts,
  message: SyncMessage,
  { loaded, kinds }: { readonly loaded: Loaded; readonly kinds: readonly SpecKind[] },
): Promise<{ readonly listings: Listings; readonly calls: number; readonly bytes: number }> => {
  const { cluster, specs } = loaded;
  const connection = await connected(ports, cluster);
  if (connection.kind === "failed") {
    const failure = { code: 0, reason: "ClusterUnreachable", message: connection.message };
    return {
      listings: kinds.map((kind) => ({ kind, outcome: { kind: "failed", failure } })),
      calls: 0,
      bytes: 0,
    };
  }
  const known = knownVersions(cluster, specs.all);
  const answer = await connection.client.listSpecs({
    kinds,
    namespaces: namespacesOf(cluster, message.partition),
    knownVersion: (uid) => known.get(uid),
    budgetMs: SPECS_SHARE * Math.min(message.periodMs, ports.timing.softDeadlineMs),
  });
  return {
    ...answer,
    listings: answer.listings.map((listing) => ({
      ...listing,
      outcome: ofPartition(listing.outcome, message, loaded),
    })),
  };
};

/**
 * A LIST of the whole cluster also has the objects of the namespaces that other partitions name.
 */
const ofPartition = (
  outcome: Listings[number]["outcome"],
  { partition }: SyncMessage,
  { cluster }: Loaded,
): Listings[number]["outcome"] =>
  outcome.kind === "failed" || cluster.partitions.length === 1
    ? outcome
    : {
        ...outcome,
        objects: outcome.objects.filter(
          ({ namespace }) => partitionOf(cluster, namespaceOf(namespace)) === partition,
        ),
      };
