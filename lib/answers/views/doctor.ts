import * as z from "zod";
import { flag, ref, text, type ViewOf } from "./view-of.ts";

export const finding = z.object({
  rule: text.describe("docs/doctor.md has each"),
  severity: z
    .enum(["problem", "advice"])
    .describe("`problem`: it does not do what it should; `advice`: it could cost less"),
  evidence: text.describe("what was seen, with values and times"),
  cost: text,
  change: z.object({
    field: text.describe(
      "of the manifest, such as `spec.maxReplicas`; or the workload with its field",
    ),
    value: text.describe("what is written there; absent where nothing is").exactOptional(),
    advice: text,
  }),
});
export type FindingView = ViewOf<typeof finding>;

/** What the doctor finds at one autoscaler. */
export const examination = z.object({
  ...ref,
  evaluated: flag.describe("false before its first sync, when only the manifest is examined"),
  findings: z.array(finding).describe("the most severe first; empty where there is nothing"),
  notLookedAt: z
    .array(text)
    .describe(
      "what the cluster was asked for and did not show, with what to do; absent where nothing",
    )
    .exactOptional(),
});
export type ExaminationView = ViewOf<typeof examination>;
