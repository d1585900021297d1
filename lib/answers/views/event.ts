import * as z from "zod";
import type {
  AssumedValue,
  InputReading,
  Limit,
  MetricOutcome,
  MetricPods,
  StepOutcome,
  Turn,
  Turns,
} from "../../rules/model/decision.ts";
import { count, type FieldsOf, ref, target, text, time, type ViewOf } from "./view-of.ts";

const input = z.object({
  name: text,
  value: text.describe("absent where it is missing, and `message` says why").exactOptional(),
  message: text.exactOptional(),
  ageSeconds: z
    .number()
    .describe("from its sample to the decision, where a registered source gave it")
    .exactOptional(),
} satisfies FieldsOf<InputReading>);

const named = {
  name: text.describe(
    'as the messages of the dialect print it: "cpu resource utilization (percentage of request)"',
  ),
  type: text,
} as const;
const inputs = z
  .array(input)
  .describe("of a formula: what it was calculated from, in the order of its text")
  .exactOptional();

const some = count.exactOptional();

export const pods = z
  .object({
    matched: count.describe("pods that the selector of the target matches"),
    owned: count
      .describe("those that the target owns; absent where that cannot be said")
      .exactOptional(),
    counted: count.describe("those whose samples are the value").exactOptional(),
    unready: some.describe("not ready, or just started"),
    missing: some.describe("without a usable sample"),
    stale: some.describe("of them with a sample that is too old"),
    leftOut: some.describe("being deleted, or failed"),
    finished: some.describe("pods that have ended"),
    otherRevision: some.describe("of another revision than most: a rollout is under way"),
    unlisted: some.describe("samples of pods that are gone, or have other labels"),
    oldestSeconds: z.number().describe("from the oldest sample to the decision").exactOptional(),
  } satisfies FieldsOf<MetricPods>)
  .describe("the pods behind the value; a number that is absent is 0, or does not matter to it");

export const assumed = z
  .object({
    pods: count.describe("that gave no usable sample"),
    as: text.describe('what was assumed for each: "0", "100%", "the target"'),
    value: text.describe("the value of all pods together"),
  } satisfies FieldsOf<AssumedValue>)
  .describe("the value with what was assumed for pods that gave none; absent where nothing was");

const turn = z.object({
  value: text,
  asks: z.enum(["more", "same", "fewer"]).describe("than the current count"),
} satisfies FieldsOf<Turn>);

export const turns = z
  .object({
    value: text.describe(
      "the present value, with as many digits as it takes to differ from the others",
    ),
    below: turn.describe("below this value it asks for something else").exactOptional(),
    above: turn.describe("from this value on it asks for something else").exactOptional(),
  } satisfies FieldsOf<Turns>)
  .describe(
    "the values at which it would ask for another count, found by the rules themselves with everything else as it was",
  );

type Outcome<Kind> = Extract<MetricOutcome, { readonly kind: Kind }>;

/** A metric in one sync; `unmeasured` before the first evaluation. */
export const metric = z.discriminatedUnion("kind", [
  z.object({
    ...named,
    kind: z.literal("measured"),
    value: text.describe('the compared value in readable form: "62%", "150m"'),
    average: text.describe("of a percentage, the amount per pod behind it").exactOptional(),
    target: text,
    ratio: z.number().describe("value ÷ target, where the metric has such a ratio").exactOptional(),
    proposal: count.describe("the count that it asks for"),
    pods: pods.exactOptional(),
    assumed: assumed.exactOptional(),
    turns: turns.exactOptional(),
    inputs,
  } satisfies FieldsOf<Outcome<"measured"> & { readonly average: unknown }>),
  z.object({
    ...named,
    kind: z.literal("failed"),
    reason: text,
    message: text,
    target: text.exactOptional(),
    inputs,
  } satisfies FieldsOf<Outcome<"failed"> & { readonly target: unknown }>),
  z.object({ ...named, kind: z.literal("unmeasured"), target: text }),
]);
export type MetricView = ViewOf<typeof metric>;

type ShownLimit = Omit<Limit, "untilMs" | "wantedMs"> & {
  readonly until: unknown;
  readonly wantedAt: unknown;
};

/** A step of the rules, in their order. */
export const step = z.object({
  step: text.describe('"propose", "stabilize", "limit"'),
  before: z.number(),
  after: z.number(),
  limit: z
    .object({
      reason: text,
      value: z.number(),
      message: text,
      until: time.exactOptional(),
      wantedAt: time
        .describe("of a stabilization window: when so much was wanted last")
        .exactOptional(),
    } satisfies FieldsOf<ShownLimit>)
    .describe("the bound, window or rate that changed the count; absent when none did")
    .exactOptional(),
} satisfies FieldsOf<StepOutcome>);
export type StepView = ViewOf<typeof step>;

/** A scale event as people and programs get it. */
export const event = z.object({
  id: text.describe("unique for ever; it has no order, sort by `at`"),
  at: time.describe("when it was decided"),
  settledAt: time.describe("when its outcome was known, from where rates and windows count it"),
  ...ref,
  partition: text,
  uid: text,
  target,
  from: count,
  to: count,
  reason: text,
  message: text,
  outcome: z
    .enum(["applied", "refused", "unknown", "outside"])
    .describe(
      "`unknown`: no answer came, and it counts as made. `outside`: a change of the count that Tidemark did not make",
    ),
  detail: text
    .describe("why it was refused, or is not known: what the server or the transport said")
    .exactOptional(),
  by: text
    .describe(
      "of a change that Tidemark did not make: the field manager that made it, where the cluster says it",
    )
    .exactOptional(),
  specGeneration: count.describe("of the manifest that decided"),
  metrics: z.array(metric),
  steps: z.array(step),
});
export type EventView = ViewOf<typeof event>;

/** The scale events of one autoscaler in one month. */
export const eventCount = z.object({
  month: text.describe("in UTC: 2026-03"),
  ...ref,
  ups: count.describe("scale events that added replicas, whose outcome is `applied` or `unknown`"),
  added: count.describe("the replicas that they added"),
  downs: count,
  removed: count,
  refused: count.describe("attempts that the API server refused"),
  outside: count.describe("changes of the count that Tidemark did not make"),
});
export type EventCount = ViewOf<typeof eventCount>;
