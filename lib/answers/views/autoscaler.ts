import * as z from "zod";
import { SPEC_KIND_NAMES } from "../../rules/model/spec.ts";
import type { Condition } from "../../rules/model/windows.ts";
import { event, metric, step } from "./event.ts";
import { boundsSchema, frozen, override, pause } from "./holds.ts";
import { anything, count, flag, ref, target, text, time, type ViewOf } from "./view-of.ts";
import { windows } from "./windows.ts";

/**
 * One word for a table: `waiting` before its first sync, `frozen` by the kill switch, `paused` by
 * itself or with its cluster, `forbidden` when the cluster refuses our credentials or rights for
 * it, `failing` when it could not be evaluated or its scale was refused otherwise, `shadow` beside
 * another controller of the workload, `held` when something else beside its rules kept the count
 * (an open scale), `limited` when a bound or rate cut the proposal, `invalid` when its stored
 * manifest cannot be read.
 */
export const autoscalerState = z.enum([
  "active",
  "failing",
  "forbidden",
  "frozen",
  "held",
  "invalid",
  "limited",
  "paused",
  "shadow",
  "waiting",
]);
export type AutoscalerState = z.infer<typeof autoscalerState>;

export const rival = z.object({
  kind: text,
  name: text,
  uid: text.exactOptional(),
  desiredReplicas: count.exactOptional(),
  lastScaleAt: time.exactOptional(),
  reason: text.describe("of the condition that says most about its count").exactOptional(),
  message: text.exactOptional(),
});
export type RivalView = ViewOf<typeof rival>;

const origin = z.object({
  apiVersion: text,
  kind: z.enum(SPEC_KIND_NAMES),
  uid: text,
  generation: count,
  goneAt: time.describe("since when the cluster has no such object").exactOptional(),
});
export type OriginView = ViewOf<typeof origin>;

const STATUSES = ["True", "False", "Unknown"] as const satisfies readonly Condition["status"][];
const condition = z.object({
  type: text,
  status: z.enum(STATUSES),
  reason: text,
  message: text,
  since: time,
});

const decision = z.object({
  at: time,
  kind: z.enum(["hold", "scale"]),
  from: count.exactOptional(),
  to: count.exactOptional(),
  reason: text,
  message: text,
  failed: flag,
  withoutHold: z
    .object({ to: count.exactOptional(), reason: text, message: text })
    .describe(
      "the decision without the hold that `reason` names; with `to` it is a scale. Absent when no hold was applied",
    )
    .exactOptional(),
  refused: text.describe("why the scale was not made").exactOptional(),
  woken: text
    .describe(
      "why the sync was woken before its time, in the words of the sender; absent for a planned sync",
    )
    .exactOptional(),
});
export type DecisionView = ViewOf<typeof decision>;

/** Fields are added, never renamed. */
export const autoscaler = z.object({
  ...ref,
  uid: text,
  generation: count,
  dialect: text.describe(
    '"unknown", without target and bounds, when the stored manifest cannot be read',
  ),
  owner: text.describe("the owner in the manifest, if any").exactOptional(),
  target: target.exactOptional(),
  minReplicas: count.exactOptional(),
  maxReplicas: count.exactOptional(),
  origin: origin
    .describe(
      "the object in the cluster that it is read from; absent where people store it. Its `generation` counts only the edits of the object",
    )
    .exactOptional(),
  state: autoscalerState,
  heldBy: text
    .describe(
      'what holds it beside its metrics, as of the newest sync: "rival", "monitor", "dry run" or similar',
    )
    .exactOptional(),
  rivals: z
    .array(rival)
    .describe(
      "the other controllers of the workload in the newest sync, with what they want; absent where there is none",
    )
    .exactOptional(),
  paused: pause.exactOptional(),
  clusterPaused: pause.describe("the pause of its cluster").exactOptional(),
  frozen: frozen.describe("the freeze of the fleet").exactOptional(),
  bounds: boundsSchema
    .describe(
      "the bounds in force, with where each comes from; absent where only the manifest sets any",
    )
    .exactOptional(),
  overrides: z
    .array(override)
    .describe(
      "the overrides that meet it, wider ones too, active or ahead; absent where there is none",
    )
    .exactOptional(),
  currentReplicas: count
    .describe("absent when the newest sync could not read the count")
    .exactOptional(),
  desiredReplicas: count.exactOptional(),
  lastKnown: z
    .object({ replicas: count, at: time.exactOptional() })
    .describe(
      "the last known count, and since when it cannot be read; present only when the newest sync could not read it",
    )
    .exactOptional(),
  metrics: z.array(metric),
  conditions: z.array(condition),
  decision: decision.describe("the newest evaluation in the journal").exactOptional(),
  lastScaleAt: time.exactOptional(),
  podsCounted: z
    .array(z.object({ reason: text, message: text }))
    .describe(
      "what is unusual about the pods behind the count, most important first: `PodsRefused`, `ForeignPods`, `FinishedPods`, `OldSamples`, `RolloutUnderWay`; absent where nothing is",
    )
    .exactOptional(),
  findings: count
    .describe(
      "what the doctor finds by the newest evaluation; absent where nothing. Rules that look at days are not among them",
    )
    .exactOptional(),
  observedGeneration: count
    .describe("the generation that the newest evaluation in the journal decided by")
    .exactOptional(),
  currentMetrics: z
    .array(z.record(z.string(), anything))
    .describe(
      "the metrics as the API of its kind has them: for an HPA as in autoscaling/v2. Absent before the first evaluation",
    )
    .exactOptional(),
  syncedAt: time
    .describe(
      "when the last sync of its partition ended; the counts above are from that sync. Absent before the first",
    )
    .exactOptional(),
  ageSeconds: z.number().describe("how long ago that was").exactOptional(),
  createdAt: time,
  updatedAt: time,
  updatedBy: text,
  problem: text
    .describe("why the stored manifest cannot be read; then nothing is decided for it")
    .exactOptional(),
  manifest: anything.describe("the manifest as it was given"),
});
export type AutoscalerView = ViewOf<typeof autoscaler>;

export const description = autoscaler.extend({
  behavior: anything
    .describe("the behavior of the spec after defaulting, if it has one")
    .exactOptional(),
  windows,
  events: z.array(event).describe("the newest ten scale events, oldest first"),
});
export type Description = ViewOf<typeof description>;

export const explanation = z.object({
  ...ref,
  decision: decision.describe(
    "the evaluation that is explained: the newest one at or before the given time",
  ),
  ageSeconds: z.number(),
  outside: event
    .pick({ at: true, settledAt: true, from: true, to: true, reason: true, message: true })
    .describe(
      "the newest change of the count that Tidemark did not make, of the hour before the decision; absent where there was none",
    )
    .exactOptional(),
  stored: z
    .enum(["evaluation", "event"])
    .describe(
      "what the decision is read from. Evaluations are kept for 14 days, scale events for 13 months",
    ),
  beforeSeconds: z
    .number()
    .describe("how long before the given time it was; absent where none was given")
    .exactOptional(),
  metrics: z.array(metric),
  steps: z.array(step),
  bounds: boundsSchema
    .describe(
      "the bounds that held at the decision; absent where they are not stored, as of a scale event",
    )
    .exactOptional(),
  windows,
  windowsPartial: flag.describe(
    "true when later syncs exist, so that `windows` are rebuilt from what is stored, and `notStored` says what is missing",
  ),
  otherwise: z
    .array(text)
    .describe("sentences that say what would have to change for another outcome"),
});
export type Explanation = ViewOf<typeof explanation>;

export const applied = z.object({
  ...ref,
  kind: text,
  outcome: z.enum(["created", "configured", "unchanged"]),
  uid: text.describe("absent in a dry run that would create the autoscaler").exactOptional(),
  generation: count,
  warnings: z
    .array(text)
    .describe("about accepted manifests that may not mean what the author thinks"),
});
export type Applied = ViewOf<typeof applied>;

/** How many objects of one kind were passed over. */
export const kindCount = z.object({ kind: text, count });

export const edited = z.object({
  ...ref,
  uid: text.describe("the stored autoscaler after the edit; absent after a delete").exactOptional(),
  generation: count.exactOptional(),
  changed: flag.describe("false when nothing had to change"),
});
export type EditResult = ViewOf<typeof edited>;
