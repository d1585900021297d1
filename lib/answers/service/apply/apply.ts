import { TidemarkError, isTidemarkError } from "../../../rules/model/errors.ts";
import {
  type AutoscalerRecord,
  type ClusterRecord,
  isOfEarlierCluster,
} from "../../../rules/model/records.ts";
import type { Applied } from "../../views/autoscaler.ts";
import type { ServiceContext } from "../context.ts";
import { raiseForChanged } from "../edits/edit-condition.ts";
import { mustBeCurrent, mustStay, mustHaveStayed, type AppliedRecord } from "../edits/removal.ts";
import { clustersNamed } from "../find-autoscaler.ts";
import type { ApplyOptions, ManifestSource } from "../service.ts";
import type { NewSource } from "../requests.ts";
import { withNamespace, readInputs } from "./manifest-inputs.ts";
import { planApply, type ApplyTarget, type Planned, replan } from "./plan.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../../rules/model/ids.ts";
import type { HistoryItem, Inserted, InsertHistory } from "../../../stack/store/history/item.ts";
import { raiseSpecVersions, storeOnly } from "../../../stack/store/records/store-change.ts";
import { SERVER_FIELDS } from "../../../rules/manifest/form.ts";
import { isObject } from "../../../rules/model/json.ts";
import { conflict, invalid, untilStored } from "../refusals.ts";
import type { ManifestDocument } from "../../../rules/manifest/documents.ts";

/**
 * Creates or updates autoscalers. All documents are checked before the first is stored, so that a
 * refusal changes nothing. Then each document is one edit. Objects of other kinds are passed over.
 * Throws `manifest.*` with a line for every problem, `service.unknown`, `service.invalid`,
 * `service.interrupted`, `service.changed`, and `service.conflict`, also while the cluster is being
 * removed.
 */
export const apply = async (
  context: ServiceContext,
  sources: readonly ManifestSource[],
  options: ApplyOptions,
): Promise<readonly Applied[]> => {
  const { validation = "strict", namespace: wanted, onlyIf } = options;
  const { inputs: read, passedOver } = readInputs(sources, validation);
  const inputs = read.map((input) => withNamespace(input, wanted));
  if (passedOver.length > 0) options.onPassedOver?.(passedOver);
  if (onlyIf !== undefined) mustBeOne(inputs);
  const cluster = await clusterFor(context, options.cluster);
  mustStay(cluster);
  const target = { cluster, validation, ...(onlyIf !== undefined && { onlyIf }) };
  try {
    const pending = options.dryRun ? await sourcesOf(sources) : [];
    const planned = await planApply(context, { ...target, wanted, pending }, inputs);
    if (options.dryRun) return planned.map(({ applied }) => applied);
    return await storeAll(context, target, planned, options);
  } catch (error) {
    if (!options.dryRun) await raiseForChanged(context, error);
    throw error;
  }
};

/**
 * The metric sources of the same files. A dry run counts them as registered, because `apply`
 * registers them before the first autoscaler.
 */
const sourcesOf = async (files: readonly ManifestSource[]): Promise<readonly NewSource[]> => {
  const { sourcesIn } = await import("../sources/source-documents.ts");
  return sourcesIn(files).values;
};

const mustBeOne = ({ length }: readonly ManifestDocument[]): void => {
  if (length !== 1)
    throw invalid(
      `Cannot apply under a condition: there are ${length} documents, and the condition is for one; apply each alone`,
    );
};

/** The cluster with this name, or the only one. */
const clusterFor = async (
  context: ServiceContext,
  name: string | undefined,
): Promise<ClusterRecord> => {
  const [first, ...more] = await clustersNamed(context, name);
  if (!first) throw invalid("Cannot apply: no cluster exists; add one with tidemark cluster add");
  if (more.length > 0)
    throw invalid(
      `Cannot apply: there are ${more.length + 1} clusters, "${first.name}" is the first; choose one with --cluster`,
    );
  return first;
};

/**
 * Documents stored side by side. Their change items go into four batches of the history
 * (lib/stack/store/history/item.ts).
 */
const GROUP = 100;

type ApplyHooks = Pick<ApplyOptions, "onStored" | "signal">;

/**
 * Stores the plans, group by group. Each document is one edit, and no write covers several items.
 * An interrupted apply has stored some documents, reports how many, and applying the same files
 * again stores the rest. Throws `service.interrupted`, `service.conflict`, and errors of the store.
 */
const storeAll = async (
  context: ServiceContext,
  step: ApplyTarget,
  planned: readonly Planned[],
  { onStored: stored, signal }: ApplyHooks,
): Promise<readonly Applied[]> => {
  const applied: Applied[] = [];
  for (let from = 0; from < planned.length; from += GROUP) {
    if (signal?.aborted)
      throw withProgress(
        new TidemarkError("service.interrupted", "Cannot finish: the command was interrupted", {}),
        applied,
        planned.length,
      );
    const group = await storeGroup(context, step, planned.slice(from, from + GROUP));
    applied.push(...group.applied);
    stored?.(group.applied, { done: applied.length, all: planned.length });
    if (group.failure !== undefined) throw withProgress(group.failure, applied, planned.length);
  }
  // An earlier attempt may have stored a document and failed before it raised the spec version.
  const unchanged = applied
    .filter(({ outcome }) => outcome === "unchanged")
    .map((document) => namespace(document.namespace));
  if (unchanged.length > 0) await raiseSpecVersions(context, step.cluster.name, unchanged);
  return applied;
};

/** Adds the number of stored documents to an error, unless there was only one document. */
const withProgress = (
  failure: unknown,
  { length: done }: readonly Applied[],
  all: number,
): unknown => {
  if (!isTidemarkError(failure) || all === 1) return failure;
  const words = `${failure.message}; ${done} of ${all} documents are stored; apply the same files again to store the rest`;
  return new TidemarkError(failure.code, words, failure.details, { cause: failure.cause });
};

interface Group {
  readonly applied: readonly Applied[];
  readonly failure?: unknown;
}

/*
 * 100 changes inserted ── 100 records put ── spec versions raised ── cluster checked
 *         each record gets both, also when another one of the group failed
 */
const storeGroup = async (
  context: ServiceContext,
  step: ApplyTarget,
  group: readonly Planned[],
): Promise<Group> => {
  const together =
    group.length === 1 ? context : { ...context, insert: insertTogether(context.insert) };
  const settled = await Promise.allSettled(group.map((plan) => storePlanned(together, step, plan)));
  const stored = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failed = settled.find((result) => result.status === "rejected");
  await notifySyncs(context, step.cluster, stored);
  const applied = stored.map((plan) => plan.applied);
  return failed === undefined ? { applied } : { applied, failure: failed.reason };
};

const notifySyncs = async (
  context: ServiceContext,
  cluster: ClusterRecord,
  stored: readonly StoredPlan[],
): Promise<void> => {
  const changed = stored.flatMap(({ applied }) =>
    applied.outcome === "unchanged" ? [] : [namespace(applied.namespace)],
  );
  if (changed.length > 0) await raiseSpecVersions(context, cluster.name, changed);
  const written = stored.flatMap(({ wrote }) => wrote ?? []);
  // This includes unchanged documents: another apply may be about to take them back.
  if (stored.length > 0) await mustHaveStayed(context, cluster, written);
};

interface StoredPlan {
  readonly applied: Applied;
  /** The record that the document created or edited. Absent where it was as wanted. */
  readonly wrote?: AppliedRecord;
}

/**
 * Stores one planned document. When another editor was faster, it is planned again on the new
 * record.
 */
const storePlanned = async (
  context: ServiceContext,
  step: ApplyTarget,
  first: Planned,
): Promise<StoredPlan> => {
  const { cluster } = step;
  let plan = first;
  return untilStored(
    () =>
      conflict(
        `Cannot apply "${first.applied.namespace}/${first.applied.name}": others are editing it`,
      ),
    async () => {
      const { input, old, applied } = plan;
      if (old && applied.outcome === "unchanged") return { applied };
      if (old && isOfEarlierCluster(cluster, old)) await mustBeCurrent(context, cluster);
      // The change, the creation and the edit of a document have one time.
      const nowMs = context.clock();
      const atOnce = { ...context, clock: () => nowMs };
      const after = recordOf(atOnce, cluster, plan);
      const written = await storeOnly(atOnce, {
        verb: "apply",
        ref: after,
        uid: after.uid,
        after,
        ...(old && { before: old }),
      });
      if (written.kind === "stored") {
        const { generation } = written;
        return {
          applied: { ...applied, uid: after.uid, generation },
          wrote: { ...after, generation },
        };
      }
      const again = await replan(context, step, input);
      if ("lines" in again)
        throw new TidemarkError("manifest.invalid", again.lines.join("\n"), again);
      plan = again;
      return undefined;
    },
  );
};

const recordOf = (
  context: ServiceContext,
  cluster: ClusterRecord,
  { input: { document }, applied: { namespace: inside, name }, old }: Planned,
) => {
  // A record that was a copy of an object, before the cluster was changed to `--specs table`, is
  // none any more.
  const { origin: _object, ...kept } = old ?? newIdentity(context);
  return {
    ...kept,
    // What an apply to an earlier cluster of this name has left is another autoscaler: its windows
    // went with its cluster.
    ...(old && isOfEarlierCluster(cluster, old) && newIdentity(context)),
    cluster: cluster.name,
    manifest: JSON.stringify(ownPart(document)),
    namespace: namespace(inside),
    name: autoscalerName(name),
    clusterUid: cluster.uid,
  };
};

const newIdentity = ({
  newUid,
  clock,
}: ServiceContext): Pick<AutoscalerRecord, "uid" | "createdMs" | "origin"> => ({
  uid: autoscalerUid(newUid()),
  createdMs: clock(),
});

interface Call {
  readonly items: readonly HistoryItem[];
  readonly resolve: (outcomes: readonly Inserted[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the items of all calls of one event-loop turn in one request to the history. A failure
 * rejects every call.
 */
const insertTogether = (insert: InsertHistory): InsertHistory => {
  let waiting: Call[] = [];
  const send = async (): Promise<void> => {
    const calls = waiting;
    waiting = [];
    try {
      const outcomes = await insert(calls.flatMap(({ items }) => items));
      let from = 0;
      for (const { items, resolve } of calls) {
        resolve(outcomes.slice(from, from + items.length));
        from += items.length;
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  };
  return (items) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ items, resolve, reject }) === 1) setImmediate(() => void send());
    });
};

/**
 * The part of a manifest that a person writes: without `status` and without the metadata that only
 * an API server sets. A manifest that was read back (`get -o yaml`) has both. Stored, they would be
 * listed as changes, and take space.
 */
export const ownPart = (document: unknown): unknown =>
  isObject(document)
    ? Object.fromEntries(
        Object.entries(document).flatMap(([field, value]) =>
          field === "status" ? [] : [[field, field === "metadata" ? ownMetadata(value) : value]],
        ),
      )
    : document;

const ownMetadata = (metadata: unknown): unknown =>
  isObject(metadata)
    ? Object.fromEntries(
        Object.entries(metadata).filter(([field]) => !SERVER_FIELDS.includes(field)),
      )
    : metadata;
