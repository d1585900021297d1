import * as z from "zod";
import { CLUSTER_STATES, clusterState, decided, standby } from "./cluster.ts";
import { frozen, override, pause } from "./holds.ts";
import { count, flag, ref, text, time, type ViewOf } from "./view-of.ts";

const problem = z.object({
  kind: z.enum([
    "absent",
    "ahead",
    "at max",
    "contested",
    "dead letters",
    "failing",
    "forbidden",
    "late",
    "never synced",
    "over share",
    "pods",
    "no run",
    "refused",
    "restored",
    "rivals unknown",
    "rule failed",
    "slow sync",
    "standby",
    "specs unknown",
    "token",
    "undecided",
    "unmeasured",
    "unreachable",
    "unreadable",
  ]),
  message: text.describe("a sentence"),
  next: text.describe("the next step: a command, or a page of the documentation"),
  cluster: text.describe("present where it is about one cluster").exactOptional(),
});
export type StatusProblem = ViewOf<typeof problem>;

const deadLetters = z.object({
  syncs: count,
  plans: count.describe("absent in the embedded run, which has no such queue").exactOptional(),
});
export type DeadLetters = ViewOf<typeof deadLetters>;

/** Whether everything works, in one document. */
export const status = z.object({
  healthy: flag.describe("false when there is a problem"),
  at: time.describe("by the clock of the stack"),
  frozen: frozen.exactOptional(),
  standby: standby.exactOptional(),
  clusters: count,
  states: z
    .partialRecord(z.enum([...CLUSTER_STATES, "unreadable"]), count)
    .describe(
      "how many clusters are in each state, and `unreadable` those whose record cannot be read; states of no cluster are absent",
    ),
  partitions: count,
  syncs: z
    .object({
      planned: count,
      done: count.describe("by themselves or by a later sync of the partition"),
      late: count.describe("not done, and due more than a period ago"),
    })
    .describe("the syncs that were due in the last minute"),
  decided: decided.exactOptional(),
  paused: z.object({
    clusters: z.array(pause.extend({ name: text })),
    autoscalers: z.array(pause.extend(ref)).describe("the first ten"),
    more: count.describe("pauses of autoscalers that are not listed"),
  }),
  overrides: z
    .object({ active: z.array(override), more: count })
    .describe(
      "the first ten overrides that are active now, the wider ones first; absent where there are none",
    )
    .exactOptional(),
  deadLetters: deadLetters
    .describe("messages in the two dead-letter queues; absent when it is not known")
    .exactOptional(),
  problems: z.array(problem).describe("the most severe first"),
  notices: z
    .array(problem)
    .describe(
      "what may need a person although everything works: workloads that do not exist, pods that count and should not, syncs that nearly miss their period, a day in which too few syncs decided. A notice leaves the status healthy. Absent where there is none",
    )
    .exactOptional(),
  findings: count
    .describe(
      "how much `tidemark doctor -A` finds, as of the last minute of each partition, in clusters that the caller may see whole; absent where nothing is",
    )
    .exactOptional(),
  errors: z
    .array(
      z.object({ cluster: text, state: clusterState, since: time.exactOptional(), error: text }),
    )
    .describe("the newest five errors of clusters"),
});
export type StatusView = ViewOf<typeof status>;
