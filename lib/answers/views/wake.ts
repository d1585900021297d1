import * as z from "zod";
import { flag, text, time, type ViewOf } from "./view-of.ts";

/** A registered wake. */
export const registeredWake = z.object({
  name: text,
  alarm: text.describe("the ARN of the alarm of CloudWatch whose change to ALARM wakes"),
  cluster: text,
  namespace: text.describe("absent: all namespaces of the cluster").exactOptional(),
  names: z
    .array(text)
    .describe("the autoscalers that it is about; absent: all of the namespace or cluster")
    .exactOptional(),
  labels: z.record(z.string(), text).describe("of its document").exactOptional(),
  updatedAt: time,
  updatedBy: text,
});
export type WakeView = ViewOf<typeof registeredWake>;

/** A wake whose record cannot be read: it wakes nothing, and can be registered again, or deleted. */
export const unreadableWake = z.object({ name: text, problem: text });
export type UnreadableWake = ViewOf<typeof unreadableWake>;

export const wakeEdited = registeredWake.extend({
  changed: flag.describe("false when nothing had to change"),
});
export type WakeEdited = ViewOf<typeof wakeEdited>;

/** What became of a wake. */
export const woken = z.object({
  woken: z.array(
    z.object({
      cluster: text,
      partition: text,
      sync: z
        .enum(["sent", "joined", "planned"])
        .describe(
          "sent: an extra sync was sent; joined: an extra sync was ahead; planned: a planned sync is due within two seconds",
        ),
      dueAt: time.describe("when that sync is due"),
    }),
  ),
});
export type WokenView = ViewOf<typeof woken>;
