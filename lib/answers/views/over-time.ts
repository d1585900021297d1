import * as z from "zod";
import type { SampleMetric } from "../../rules/model/scale-records.ts";
import { LANES } from "../../stack/report/reasons/lanes.ts";
import { rival } from "./autoscaler.ts";
import { assumed, pods, turns } from "./event.ts";
import { count, type FieldsOf, ref, text, time, type ViewOf } from "./view-of.ts";

const historyMetric = z.object({
  name: text,
  value: text.exactOptional(),
  target: text.exactOptional(),
  ratio: z.number().exactOptional(),
  pods: pods.exactOptional(),
  assumed: assumed.exactOptional(),
  turns: turns.exactOptional(),
  average: text
    .describe(
      "of a percentage of what pods ask for: the mean of a pod; absent in steps of five minutes and more",
    )
    .exactOptional(),
} satisfies FieldsOf<SampleMetric>);
export type HistoryMetric = ViewOf<typeof historyMetric>;

/** Counts are of the last evaluation in the step; loads are the highest in the step. */
const point = z.object({
  at: time.describe("the instant of the last evaluation in the step"),
  current: count
    .describe("the count that there was; absent where it could not be read")
    .exactOptional(),
  wanted: count
    .describe("the count that the metrics asked for, before windows and limits")
    .exactOptional(),
  desired: count.describe("the count after windows and limits, and without a hold").exactOptional(),
  ready: count.describe("pods of the workload that were ready").exactOptional(),
  counted: count
    .describe(
      "pods whose samples made a value: the fewest of all metrics in a minute of the step; absent where no metric is measured by pods",
    )
    .exactOptional(),
  missing: count
    .describe(
      "pods without a usable sample: the most of all metrics in the step; absent where none was, and in steps of five minutes and more",
    )
    .exactOptional(),
  stale: count
    .describe(
      "pods whose samples were too old to count: the most of all metrics in a minute of the step; absent where none was",
    )
    .exactOptional(),
  otherRevision: count
    .describe(
      "pods of another revision than most, as in a rollout: the most in a minute of the step",
    )
    .exactOptional(),
  min: count.describe("the bounds that were in force").exactOptional(),
  max: count.exactOptional(),
  generation: count.exactOptional(),
  load: z
    .number()
    .describe("the highest value ÷ target of all metrics; of two watermarks the high one counts")
    .exactOptional(),
  metrics: z.array(historyMetric),
  reason: text,
  held: z
    .enum(LANES.map(({ lane }) => lane))
    .describe("what held or cut the count")
    .exactOptional(),
});
export type HistoryPoint = ViewOf<typeof point>;

/** What an autoscaler measured and decided over time, one point a step. */
export const history = z.object({
  ...ref,
  uid: text,
  since: time,
  until: time,
  stepSeconds: z.number(),
  points: z.array(point).describe("in order of time; a step without an evaluation has no point"),
  next: time.describe("where to go on: the answer ends here, before `until`").exactOptional(),
});
export type HistoryView = ViewOf<typeof history>;

const perStep = <Value extends z.ZodType>(value: Value) => z.array(value.nullable());

/** Load and count of some autoscalers over the last hour, to be drawn small. */
export const sparklineSet = z.object({
  since: time.describe("the begin of the first step"),
  stepSeconds: z.number(),
  lines: z
    .array(
      z.object({
        ...ref,
        load: perStep(z.number()).describe("value ÷ target, as in a history"),
        current: perStep(count),
      }),
    )
    .describe(
      "one value a step, by its first evaluation; null where there was none. A name that nothing has, or that the caller may not look at, has no line",
    ),
});
export type SparklinesView = ViewOf<typeof sparklineSet>;

const difference = z
  .enum(["phase", "young", "rule"])
  .describe(
    "`phase`: one wanted at most one sync earlier or later what the other wanted. `young`: within an hour after the autoscaler was made, while its windows do not reach as far back as the other controller's. `rule`: any other difference",
  );
export type ShadowDifference = z.infer<typeof difference>;

const stretch = z.object({
  at: time.describe("the first sync"),
  until: time.describe("the first sync that differs"),
  syncs: count,
  current: count.describe("the observed count").exactOptional(),
  own: count
    .describe("the count that Tidemark wanted; absent where it could not decide")
    .exactOptional(),
  rival: count.describe("the count that the other controller wanted").exactOptional(),
  difference: difference.exactOptional(),
  reason: text,
  message: text,
  rivalReason: text.exactOptional(),
  rivalMessage: text.describe("of the condition that says most").exactOptional(),
});
export type ShadowStretch = ViewOf<typeof stretch>;

const reaction = z.object({
  at: time.describe("the last sync in which both agreed, on `from`"),
  from: count,
  to: count
    .describe("the count on which they agreed again; absent where they have not yet")
    .exactOptional(),
  ownSeconds: z
    .number()
    .describe("how long after `at` Tidemark wanted another count; absent where it did not")
    .exactOptional(),
  rivalSeconds: z.number().exactOptional(),
});
export type ShadowReaction = ViewOf<typeof reaction>;

/** What an autoscaler decided beside another controller, compared with what that one wanted. */
export const shadow = z.object({
  ...ref,
  since: time,
  until: time.describe("the end of what was compared"),
  next: time
    .describe(
      "where the comparison goes on, as the `since` of another request; absent where it is whole",
    )
    .exactOptional(),
  rivals: z.array(rival).describe("the controllers of the newest sync that found one"),
  syncs: count.describe("syncs in which both had decided"),
  agreed: count.describe("syncs in which both wanted the same count"),
  agreedWithinPeriod: count.describe(
    "syncs in which each wanted what the other wanted at most one sync before or after",
  ),
  undecided: count.describe("syncs in which one of them could not decide"),
  replicaHours: z
    .object({ own: z.number(), rival: z.number() })
    .describe(
      "replicas times hours that each wanted, over the syncs in which both had decided. A time without a sync counts for five minutes at most",
    ),
  stretches: z
    .array(stretch)
    .describe("equal syncs in a row, oldest first, without a gap of more than five minutes"),
  reactions: z
    .array(reaction)
    .describe(
      "each time that one of them left the count on which both agreed, up or down. One that did not react, or went the other way, has no seconds",
    ),
});
export type ShadowView = ViewOf<typeof shadow>;
