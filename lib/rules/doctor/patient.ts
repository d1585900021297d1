import type { Evaluation, Sample } from "../model/scale-records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../model/time-text.ts";
import type { Manifest } from "./manifest-line.ts";

/** What is known of one autoscaler when it is examined. */
export interface Patient {
  readonly createdMs: number;
  readonly spec: AutoscalerSpec;
  /** The manifest as it was given. */
  readonly manifest: Manifest;
  readonly syncPeriodMs: number;
  /** How long the last completed sync of its partition took. Absent where that is not known. */
  readonly sync?: { readonly partition: string; readonly tookMs: number };
  /** The newest evaluation; absent before the first. */
  readonly evaluation?: Evaluation;
  /** Its last seven days in steps of five minutes. Absent where no rule asks for them. */
  readonly days?: readonly Sample[];
  readonly nowMs: number;
}

/** One thing that is wrong, or could be better. */
export interface DoctorFinding {
  /** What was seen, with values and times, as one sentence. */
  readonly evidence: string;
  /** What it costs: pods, money, or a count that does not follow the load. */
  readonly cost: string;
  readonly change: ManifestChange;
}

/** What to write where. */
export interface ManifestChange {
  /** A field of the manifest, such as `spec.maxReplicas`, or a place outside of it. */
  readonly field: string;
  /** What is written there now; absent where nothing is. */
  readonly value?: string;
  readonly advice: string;
}

/**
 * A rule of the doctor. `problem`: it does not do what it should; `advice`: it works, and could
 * cost less or be simpler.
 */
export interface DoctorRule {
  readonly name: string;
  readonly severity: "problem" | "advice";
  /** One sentence of the reference (docs/doctor.md): when it finds something. */
  readonly finds: string;
  /** True where it cannot say anything without the last days, which cost a request. */
  readonly asksDays?: (patient: Patient) => boolean;
  /** True where it looks at the manifest only: what it finds is kept while the manifest is. */
  readonly ofManifest?: true;
  readonly examine: (patient: Patient) => readonly DoctorFinding[];
}

/** Days that a rule looks back. */
export const DAYS_BACK = 7;

/**
 * True where nothing was scaled in the days that a rule looks back: the days of all others, which
 * are most of a fleet, need not be read.
 */
export const isUnscaled = ({ evaluation, createdMs, nowMs }: Patient): boolean =>
  nowMs - (evaluation?.status?.lastScaleMs ?? createdMs) >= DAYS_BACK * DAY_MS;

/** "3 d 4 h", "5 h 12 min", "12 min": the two largest units. */
export const lasted = (ms: number): string => {
  const parts = [
    [Math.floor(ms / DAY_MS), "d"],
    [Math.floor((ms % DAY_MS) / HOUR_MS), "h"],
    [Math.floor((ms % HOUR_MS) / MINUTE_MS), "min"],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return `${Math.floor(ms / 1_000)} s`;
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(" ");
};

/** "1 pod", "3 pods". */
export const counted = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? "" : "s"}`;
