import * as z from "zod";
import { type Grant, ROLES } from "../../rules/model/access.ts";
import type { ChangeRecord, ScopeChangeRecord } from "../../rules/model/changes.ts";
import { anything, count, flag, text, time, type ViewOf } from "./view-of.ts";

/**
 * The verbs of all edits. A verb of a record that is missing here does not compile in `changeView`.
 */
const VERBS = [
  "add",
  "adopt",
  "apply",
  "clear",
  "delete",
  "delete-calendar",
  "extend",
  "freeze",
  "grant",
  "handback",
  "move",
  "override",
  "pause",
  "put-calendar",
  "register",
  "remove",
  "replace",
  "require",
  "reset-intent",
  "reset-time",
  "reset-windows",
  "resume",
  "revoke",
  "takeover",
  "takeover-failed",
  "thaw",
  "unregister",
] as const satisfies readonly (ChangeRecord["verb"] | ScopeChangeRecord["verb"])[];

/** One field that differs between two documents; a side without the field has no value. */
export const fieldChange = z.object({
  path: text.describe("such as `spec.metrics[0].target`"),
  before: anything.exactOptional(),
  after: anything.exactOptional(),
});
export type FieldChange = ViewOf<typeof fieldChange>;

/** One edit. Its change item is stored before the edit, so a failed edit is listed too. */
export const change = z.object({
  id: text,
  at: time,
  by: text,
  grant: text.describe("the grant that allowed it; absent where none was needed").exactOptional(),
  scope: z
    .enum(["autoscaler", "access", "cluster", "fleet", "partition", "source", "wake"])
    .describe("what was edited"),
  cluster: text.exactOptional(),
  namespace: text.exactOptional(),
  name: text.describe('of the autoscaler, cluster, partition, source or wake, or "fleet"'),
  verb: z.enum(VERBS),
  generation: count.describe(
    "that the edit made of an autoscaler; of a cluster the version, of a partition the epoch",
  ),
  made: flag.describe("whether the edit was made; absent when it is not known").exactOptional(),
  fields: z
    .array(fieldChange)
    .describe("the fields that differ; empty when there is only one side"),
  before: anything.describe("the document as a whole").exactOptional(),
  after: anything.exactOptional(),
  rival: anything
    .describe(
      "of a takeover or handback: the object of the other controller, as it can be made again",
    )
    .exactOptional(),
});
export type ChangeView = ViewOf<typeof change>;

const grant = z.object({
  id: text,
  arn: text,
  role: z.enum(ROLES),
  cluster: text.describe("the names of clusters, where `*` means any letters"),
  namespace: text
    .describe("in the same form; absent: all of the cluster, with its own settings")
    .exactOptional(),
  by: text,
  at: time,
} satisfies Readonly<Record<Exclude<keyof Grant, "atMs"> | "at", z.ZodType>>);
export type GrantView = ViewOf<typeof grant>;

export const access = z.object({
  required: flag.describe("true: a caller without a grant may do nothing"),
  grants: z.array(grant),
});
export type AccessView = ViewOf<typeof access>;

export const accessEdited = access.extend({
  id: text.describe("of the grant that was given or taken").exactOptional(),
  changed: flag.describe("false when nothing had to change"),
});
export type AccessEdited = ViewOf<typeof accessEdited>;

export const canI = z.object({
  allowed: flag,
  caller: text
    .describe("the verified ARN; absent in a data folder, which has no callers")
    .exactOptional(),
  grant: text.describe("the grant that allows it; absent where none is needed").exactOptional(),
  grants: z.array(grant).describe("all grants that name the caller"),
});
export type CanIView = ViewOf<typeof canI>;
