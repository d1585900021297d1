import type { Because } from "../model/decision.ts";
import type { ClusterOrigin } from "../model/records.ts";

/** Reasons to hold an autoscaler that is read from its cluster: one constructor per reason, with its sentence. */

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
  message: `${gone} of ${all} objects of the kind ${kind} are gone at once, and this is one of them; if that was not wanted, look at the connection of the cluster and restore them; otherwise the autoscaler ends at ${new Date(untilMs).toISOString()}`,
});

export const objectOlder = ({ kind, generation }: Pick<ClusterOrigin, "kind" | "generation">, listed: number): Because => ({
  reason: "SpecOutdated",
  message: `the ${kind} was read with generation ${listed}, and with ${generation} before: the answer of the API server is old, or the cluster was restored`,
});

export const objectNotStored = ({ kind }: Kind): Because => ({
  reason: "SpecNotStored",
  message: `the ${kind} was changed, and its change is not stored yet; the next sync reads it again`,
});

const instantText = (ms: number): string => new Date(ms).toISOString();

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
export const overBudget = ({
  namespace,
  usedBytes,
  bytesMax,
  fromMs,
}: {
  readonly namespace: string;
  readonly usedBytes: number;
  readonly bytesMax: number;
  readonly fromMs: number;
}): Because => ({
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
  message: `the status of ${kind} "${name}" was written by "${by.manager}" at ${new Date(by.atMs).toISOString()}: another controller follows it; stop that controller, and this one goes on five minutes later`,
});
