import { figuresOf, type TimeSpan } from "../../replay/figures.ts";
import type { ReplayJob } from "../../replay/replay.ts";
import { type Admitted, admitOrThrow } from "../../rules/manifest/admit.ts";
import { nativeForm } from "../../rules/manifest/native/native-form.ts";
import type { Json } from "../../rules/model/json.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { DAY_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { type CandidatePolicy, targetText } from "../replay/candidates.ts";
import { partedByDays } from "../replay/days.ts";
import type { ReplayedHistory } from "../replay/replayed-history.ts";
import { tracedJobs } from "../replay/traced-jobs.ts";
import { type TraceInput, traceWords } from "../replay/trace-input.ts";
import { usage } from "../usage-error.ts";

/** A policy with a load, whose numbers are searched. */
export interface TuneSubject {
  /** The file of a load, or an autoscaler. */
  readonly of: string;
  readonly kind: string;
  /** The policy of now over the whole time. */
  readonly now: ReplayJob;
  /** The policy of now as a native manifest, which the search changes. */
  readonly document: Json;
  readonly spec: AutoscalerSpec;
  readonly jobWith: (label: string, document: Json) => ReplayJob;
  readonly raisedJobs: ReplayedHistory["raisedJobs"];
  readonly target: string;
  /** Share of the counted time in which demand was cut off when it was recorded. */
  readonly cutOff: number;
  readonly tuned: TimeSpan;
  readonly reported: TimeSpan;
  readonly assumptions: readonly string[];
}

/** A policy of a manifest on a recorded load. */
export const tracedSubject = (
  candidate: CandidatePolicy,
  input: TraceInput,
  { periodMs, days }: { readonly periodMs: number; readonly days: string | undefined },
): TuneSubject => {
  const { document, spec } = nativeOrThrow(candidate.label, candidate.admitted);
  const jobsWith = (label: string, other: Json): readonly ReplayJob[] =>
    tracedJobs([candidate, { label, admitted: admitted(label, other) }], input, periodMs);
  const [now] = jobsWith(candidate.label, document);
  if (!now) throw new RangeError("A manifest has a job");
  const counted = { fromMs: input.countedMs, untilMs: input.untilMs };
  const cutOff = shareOf(input, counted);
  return {
    ...{ of: `${input.name} (${input.unit})`, kind: candidate.kind, now, document, spec, cutOff },
    target: targetText(candidate.admitted.spec),
    jobWith: (label, other) => jobsWith(label, other)[1] ?? now,
    raisedJobs: () => [],
    ...splitBy(counted, days),
    assumptions: traceWords(input),
  };
};

/** An autoscaler with its history. */
export const storedSubject = (
  replayed: ReplayedHistory,
  { name, kind, days }: { readonly name: string; readonly kind: string; readonly days?: string },
): TuneSubject => {
  const { read, counted, target, unchanged, unchangedJob, raisedJobs } = replayed;
  const stored = admitted(name, read.view.manifest as Json);
  const { document, spec } = nativeOrThrow(name, stored);
  return {
    ...{ of: name, kind, now: unchangedJob, document, spec, target, raisedJobs },
    jobWith: (label, other) => replayed.jobWith(label, admitted(label, other).spec),
    cutOff: figuresOf(unchanged.minutes, counted).cutOff || 0,
    ...splitBy(counted, days),
    assumptions: [`Pods serve ${ageText(replayed.podStartMs)} after the scale (--pod-start)`],
  };
};

const admitted = (where: string, document: Json): Admitted =>
  admitOrThrow({ where, document }, { validation: "warn" });

/** Throws a usage error with the rules that have no native form. */
const nativeOrThrow = (
  label: string,
  of: Admitted,
): { readonly document: Json; readonly spec: AutoscalerSpec } => {
  const form = nativeForm(of);
  if (form.kind === "refused")
    throw usage(
      `Cannot tune "${label}": ${form.message} (${form.rule}); give a PodAutoscaler with rules: native`,
    );
  return { document: form.document, spec: admitted(label, form.document).spec };
};

const shareOf = ({ cutOff }: TraceInput, { fromMs, untilMs }: TimeSpan): number => {
  if (!cutOff) return 0;
  let cutMs = 0;
  for (const [at, atMs] of cutOff.times.entries()) {
    const endMs = Math.min(untilMs, cutOff.times[at + 1] ?? cutOff.endMs);
    if (cutOff.values[at] === 1) cutMs += Math.max(0, endMs - Math.max(atMs, fromMs));
  }
  return cutMs / (untilMs - fromMs);
};

/** Less than this says nothing of a policy. */
const SHORTEST_MS = 30 * MINUTE_MS;

/**
 * The first days to tune on, and the days after them to report on. Without `--days` each half of
 * the time, parted at the beginning of a day where it has several.
 */
const splitBy = (
  { fromMs, untilMs }: TimeSpan,
  days: string | undefined,
): Pick<TuneSubject, "tuned" | "reported"> => {
  const lengthMs = untilMs - fromMs;
  if (days === undefined) {
    if (lengthMs < 2 * SHORTEST_MS)
      throw usage(
        `Cannot tune: ${ageText(lengthMs)} of load are known, and ${ageText(2 * SHORTEST_MS)} are the least`,
      );
    const middleMs = fromMs + lengthMs / 2;
    const dayMs = Math.round(middleMs / DAY_MS) * DAY_MS;
    const minuteMs = Math.floor(middleMs / MINUTE_MS) * MINUTE_MS;
    const partMs = lengthMs >= 2 * DAY_MS ? dayMs : minuteMs;
    return { tuned: { fromMs, untilMs: partMs }, reported: { fromMs: partMs, untilMs } };
  }
  return partedByDays({ fromMs, untilMs }, days);
};
