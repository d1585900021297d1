import type { AutoscalerSpec } from "../model/spec.ts";
import type { DoctorRule, DoctorFinding, Patient } from "./patient.ts";
import { AT_MAXIMUM } from "./rules/at-maximum.ts";
import { FALLBACK_CANNOT_ACT } from "./rules/fallback-cannot-act.ts";
import { FINISHED_PODS } from "./rules/finished-pods.ts";
import { FOREIGN_PODS } from "./rules/foreign-pods.ts";
import { FOUGHT_OVER } from "./rules/fought-over.ts";
import { HELD } from "./rules/held.ts";
import { MINIMUM_NEVER_LEFT } from "./rules/minimum-never-left.ts";
import { METRIC_MISSING, REQUESTS_MISSING } from "./rules/missing-metric.ts";
import { OLD_SAMPLES } from "./rules/old-samples.ts";
import { PODS_NOT_READY } from "./rules/pods-not-ready.ts";
import { PODS_REFUSED } from "./rules/pods-refused.ts";
import { POLICY_NEVER_BINDS } from "./rules/policy-never-binds.ts";
import { SELECTORS_OVERLAP } from "./rules/selectors-overlap.ts";
import { SLOW_SOURCE } from "./rules/slow-source.ts";
import { SLOW_SYNC } from "./rules/slow-sync.ts";
import { TARGET_NEVER_REACHED } from "./rules/target-never-reached.ts";
import { THRESHOLD_OUT_OF_REACH } from "./rules/threshold-out-of-reach.ts";

/** Every rule is a file and a line, in the order of its findings: what a person looks at first. */
export const DOCTOR_RULES: readonly DoctorRule[] = [
  FOUGHT_OVER,
  SELECTORS_OVERLAP,
  REQUESTS_MISSING,
  METRIC_MISSING,
  PODS_REFUSED,
  OLD_SAMPLES,
  FOREIGN_PODS,
  FINISHED_PODS,
  AT_MAXIMUM,
  PODS_NOT_READY,
  THRESHOLD_OUT_OF_REACH,
  FALLBACK_CANNOT_ACT,
  HELD,
  SLOW_SOURCE,
  SLOW_SYNC,
  MINIMUM_NEVER_LEFT,
  TARGET_NEVER_REACHED,
  POLICY_NEVER_BINDS,
];

/** A finding with the rule that has it. */
export interface Diagnosis extends DoctorFinding, Pick<DoctorRule, "severity"> {
  readonly rule: string;
}

/** What is looked for: advice needs the days of all that rest, which are most of a fleet. */
export type Looks = "problems" | "everything";

/** True where a rule cannot say anything without the last days of the autoscaler. */
export const asksDays = (patient: Patient, looks: Looks): boolean =>
  DOCTOR_RULES.some(
    (rule) =>
      (looks === "everything" || rule.severity === "problem") && rule.asksDays?.(patient) === true,
  );

/**
 * What is found without the last days and without the times of a sync: as much as a list of a whole
 * fleet counts.
 */
export const examineNewest = (patient: Omit<Patient, "days" | "sync">): readonly Diagnosis[] =>
  DOCTOR_RULES.flatMap((rule) =>
    rule.ofManifest ? keptOf(rule, patient) : foundBy(rule, patient),
  );

/** Everything that the rules find. */
export const examine = (patient: Patient): readonly Diagnosis[] =>
  DOCTOR_RULES.flatMap((rule) => foundBy(rule, patient));

const foundBy = (
  { name, severity, examine: look }: DoctorRule,
  patient: Patient,
): readonly Diagnosis[] => {
  const findings = look(patient);
  return findings.length === 0
    ? NONE
    : findings.map((finding) => ({ rule: name, severity, ...finding }));
};

const NONE: readonly Diagnosis[] = [];

/** By the spec that was made of a manifest: it lives as long as a sync keeps it. */
const ofManifests = new WeakMap<AutoscalerSpec, Map<DoctorRule, readonly Diagnosis[]>>();

const keptOf = (rule: DoctorRule, patient: Patient): readonly Diagnosis[] => {
  const kept = ofManifests.get(patient.spec) ?? new Map<DoctorRule, readonly Diagnosis[]>();
  ofManifests.set(patient.spec, kept);
  const found = kept.get(rule) ?? foundBy(rule, patient);
  kept.set(rule, found);
  return found;
};
