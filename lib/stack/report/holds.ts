import type { Because } from "../../rules/model/decision.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import type { Intent } from "../../rules/model/scale-records.ts";
import type { ClusterOrigin } from "../../rules/model/records.ts";
import { TENANT_OVER_SHARE } from "../../rules/model/observation.ts";

/**
 * Reasons for which a sync holds an autoscaler before its rules count: one constructor per reason,
 * with its sentence. The rules' own reasons are in lib/rules/policy.
 */
export const fleetFrozen = (frozen: { readonly by: string; readonly reason: string }): Because => ({
  reason: "FleetFrozen",
  message: `the fleet was frozen by ${frozen.by}: ${frozen.reason}`,
});

const instantText = (ms: number): string => new Date(ms).toISOString();

type Pause = { readonly by: string; readonly untilMs?: number };
const until = ({ untilMs }: Pause): string =>
  untilMs === undefined ? "" : ` until ${instantText(untilMs)}`;

export const clusterPaused = (pause: Pause): Because => ({
  reason: "ClusterPaused",
  message: `the cluster was paused by ${pause.by}${until(pause)}`,
});

export const autoscalerPaused = (pause: Pause): Because => ({
  reason: "AutoscalerPaused",
  message: `the autoscaler was paused by ${pause.by}${until(pause)}`,
});

export const earlierCluster = (name: string): Because => ({
  reason: "EarlierCluster",
  message: `it was applied to an earlier cluster "${name}", which was removed since; apply it again to scale the workload in this one, or delete it`,
});

export const specInvalid = (words: string): Because => ({
  reason: "InvalidSpec",
  message: `the stored manifest cannot be converted: ${words}`,
});

export const specUnread = (): Because => ({
  reason: "SpecUnread",
  message:
    "the stored manifest was not read in this sync: an environment that meets many manifests for the first time reads them in turns of the namespaces; the next sync reads more",
});

export const ruleFailed = ({ name, message }: Error): Because => ({
  reason: "RuleFailed",
  message: `a rule of Tidemark failed for it (${foreignText(`${name}: ${message}`)}): this is a mistake in Tidemark, please report it with the error in the log of the sync; it scales nothing until then, and the others go on`,
});

export const recordUnreadable = (words: string): Because => ({
  reason: "UnreadableAutoscaler",
  message: `the stored autoscaler cannot be read: ${words}`,
});

export const windowsUnreadable = (page: number, words: string): Because => ({
  reason: "UnreadableWindows",
  message: `windows page ${page} cannot be read, so the earlier scales are unknown; see tidemark partition describe: ${words}`,
});

export const intentUnreadable = (id: string, words: string): Because => ({
  reason: "UnreadableIntent",
  message: `the open intent "${id}" cannot be read, so an unknown scale may still take effect; see tidemark partition describe: ${words}`,
});

export const intentOpen = (intent: Intent): Because => ({
  reason: "ScaleUnsettled",
  message: `a scale from ${intent.from} to ${intent.to} is still open: its outcome is known by the second sync after ${instantText(intent.deadlineMs)}`,
});

export const intentSettled = (intent: Pick<Intent, "from" | "to">): Because => ({
  reason: "ScaleSettled",
  message: `this sync settled the scale from ${intent.from} to ${intent.to} of an earlier sync, and the next one decides again`,
});

export const rivalControllers = (
  rivals: readonly { readonly kind: string; readonly name: string }[],
): Because => ({
  reason: "RivalController",
  message: `the workload is also scaled by ${rivals.map(({ kind, name }) => `${kind} "${name}"`).join(", ")}`,
});

export const rivalsUnknown = (words: string): Because => ({
  reason: "RivalsUnknown",
  message: `it is not known whether another controller scales the workload: ${words}`,
});

/** The API server records the writers of a workload by their field managers. */
export const otherStack = ({
  manager,
  own,
}: {
  readonly manager: string;
  readonly own: string;
}): Because => ({
  reason: "OtherStack",
  message: `another Tidemark was the last to scale the workload (field manager "${manager}", this one is "${own}"); delete the autoscaler in one of the two stacks; this one goes on when the count has stayed the same for five minutes`,
});

/**
 * Another autoscaler of the same workload, with the kind of its object where it is read from the
 * cluster.
 */
export interface Sharer {
  readonly name: string;
  readonly of?: string;
}

export const targetShared = (others: readonly Sharer[]): Because => ({
  reason: "TargetShared",
  message: `the workload is also the target of ${others.map(({ name, of }) => `autoscaler "${name}"${of === undefined ? "" : ` (a ${of} in the cluster)`}`).join(", ")}`,
});

export const intentTooLarge = (bytes: number): Because => ({
  reason: "IntentTooLarge",
  message: `the intent of the scale takes more than the limit of ${bytes} bytes; shorten the target's apiVersion, kind or name`,
});

export const scaleWaits = (made: number): Because => ({
  reason: "TooManyScales",
  message: `this sync had time for ${made} scales of the partition; this scale waits for the next sync`,
});

/**
 * `words` say which share was used, its limit, and what to do
 * (lib/stack/cluster/observe/namespace-calls.ts).
 */
export const tenantOverShare = (words: string): Because => ({
  reason: TENANT_OVER_SHARE,
  message: words,
});

export const namespaceTooMuchWork = (
  namespace: string,
  { pods, limit }: Readonly<Record<"pods" | "limit", number>>,
): Because => ({
  reason: TENANT_OVER_SHARE,
  message: `the autoscalers of namespace "${namespace}" look at more than ${limit} pods in one sync, of ${pods} in the namespace; give each workload a label of its own in its selector, or spread them over namespaces`,
});

/**
 * Reasons to hold an autoscaler that is read from its cluster: one constructor per reason, with its
 * sentence.
 */

type Kind = Pick<ClusterOrigin, "kind">;

/** The reason of `objectGone`. An autoscaler that ends shares its workload with none. */
export const OBJECT_GONE = "ObjectGone";

export const objectUnread = ({ kind }: Kind, words: string): Because => ({
  reason: "SpecUnknown",
  message: `the ${kind} could not be read from the cluster in this sync, so it may have been changed or deleted: ${words}`,
});

export const objectGone = ({ kind }: Kind): Because => ({
  reason: OBJECT_GONE,
  message: `the cluster has no such ${kind} any more; the autoscaler ends when the next syncs see none either`,
});

/** The reason of `objectDeleting`. */
export const OBJECT_DELETING = "ObjectDeleting";

export const objectDeleting = ({ kind }: Kind): Because => ({
  reason: OBJECT_DELETING,
  message: `the ${kind} is being deleted, and a finalizer keeps it: nothing is scaled, and the autoscaler ends when the object is gone; if it stays, look at metadata.finalizers`,
});

export const manyGone = (
  { kind }: Kind,
  { gone, all, untilMs }: { readonly gone: number; readonly all: number; readonly untilMs: number },
): Because => ({
  reason: OBJECT_GONE,
  message: `${gone} of ${all} objects of the kind ${kind} are gone at once, and this is one of them; if that was not wanted, look at the connection of the cluster and restore them; otherwise the autoscaler ends at ${instantText(untilMs)}`,
});

export const objectOlder = (
  { kind, generation }: Pick<ClusterOrigin, "kind" | "generation">,
  listed: number,
): Because => ({
  reason: "SpecOutdated",
  message: `the ${kind} was read with generation ${listed}, and with ${generation} before: the answer of the API server is old, or the cluster was restored`,
});

export const objectNotStored = ({ kind }: Kind): Because => ({
  reason: "SpecNotStored",
  message: `the ${kind} was changed, and its change is not stored yet; the next sync reads it again`,
});

/** The reason of an edit that is not stored yet. */
const SPEC_WAITS = "SpecWaits";

export const editWaits = (
  { kind, generation: followed }: Pick<ClusterOrigin, "kind" | "generation">,
  { generation, untilMs }: { readonly generation: number; readonly untilMs?: number },
): Because => ({
  reason: SPEC_WAITS,
  message: `the ${kind} was edited (generation ${generation}), and ${untilMs === undefined ? "the edit waits for its turn to be stored" : `the edit is stored from ${instantText(untilMs)} on, a minute after the one before`}; until then generation ${followed} is followed within the bounds of both`,
});

/** Why a scale by the stored spec is not made: what the newer edit says against it. */
export const newerForbids = ({ reason, message }: Because, why: string): Because => ({
  reason,
  message: `${message}; the newer one forbids it: ${why}`,
});

export const madeAnewSoon = ({ kind }: Kind, untilMs: number): Because => ({
  reason: SPEC_WAITS,
  message: `the ${kind} was deleted and made anew within a minute of its last stored change; the new one is stored from ${instantText(untilMs)} on`,
});

/** The reason of `overBudget`. */
export const SPEC_OVER_BUDGET = "SpecOverBudget";

/** A tenant that has used its bytes: who, how much, the limit and what to do. */
export const overBudget = (
  namespace: string,
  { usedBytes, bytesMax, fromMs }: Readonly<Record<"usedBytes" | "bytesMax" | "fromMs", number>>,
): Because => ({
  reason: SPEC_OVER_BUDGET,
  message: `namespace "${namespace}" has used ${usedBytes} bytes for changes of its objects within an hour, and the limit is ${bytesMax}: this change is stored from ${instantText(fromMs)} on; edit fewer objects, less often, or make them smaller`,
});

export const objectTooLarge = ({ kind }: Kind, bytes: number, bytesMax: number): Because => ({
  reason: "SpecTooLarge",
  message: `the ${kind} has ${bytes} bytes without its status and annotations, and ${bytesMax} can be stored; shorten its labels or metrics`,
});

export const nameShared = (other: { readonly kind: string; readonly name: string }): Because => ({
  reason: "NameShared",
  message: `the cluster also has the ${other.kind} "${other.name}", and an autoscaler of Tidemark needs a name of its own in its namespace; rename or delete one of them`,
});

export const statusWritten = (
  { kind, name }: Kind & { readonly name: string },
  by: { readonly manager: string; readonly atMs: number },
): Because => ({
  reason: "RivalController",
  message: `the status of ${kind} "${name}" was written by "${by.manager}" at ${instantText(by.atMs)}: another controller follows it; stop that controller, and this one goes on five minutes later`,
});
