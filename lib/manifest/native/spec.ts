import { readInstant } from "../../model/time-text.ts";
import { milliOf } from "../../model/quantity.ts";
import type { CommonSpec, TargetRef } from "../../model/spec-common.ts";
import type { NativeRules, NativeSpec } from "../../model/spec-native.ts";
import { metricOf } from "./read-metric.ts";
import { scheduleOf } from "./schedule-rules.ts";
import type { RulesRead, SpecRead } from "./spec-fields.ts";

/** Converts a valid spec with `rules: native`. */
export const nativeSpecOf = (read: SpecRead): NativeSpec => ({
  dialect: "native",
  target: targetOf(read),
  minReplicas: read.minReplicas,
  maxReplicas: read.maxReplicas ?? 1,
  metrics: read.metrics.map(metricOf),
  combine: read.combine,
  scaleUp: rulesOf(read.scaleUp),
  scaleDown: rulesOf(read.scaleDown),
  ...(read.flapBudget && { flapBudget: { reversals: read.flapBudget.reversals ?? 1, periodSeconds: read.flapBudget.periodSeconds ?? 1 } }),
  ...(read.idle && { idle: read.idle }),
  ...governedOf(read),
});

/** The fields of the manifest that all rules share. */
export const governedOf = (read: Pick<SpecRead, "owner" | "dryRun" | "pausedUntil" | "schedule">): CommonSpec => {
  const { owner, dryRun, pausedUntil } = read;
  const pausedUntilMs = readInstant(pausedUntil ?? "");
  const schedule = scheduleOf(read);
  return {
    ...(owner && { owner }),
    ...(dryRun && { dryRun }),
    ...(pausedUntilMs !== undefined && { pausedUntilMs }),
    ...(schedule.length > 0 && { schedule }),
  };
};

const targetOf = ({ scaleTargetRef }: SpecRead): TargetRef => ({
  apiVersion: scaleTargetRef?.apiVersion ?? "",
  kind: scaleTargetRef?.kind ?? "",
  name: scaleTargetRef?.name ?? "",
});

const rulesOf = ({ policies, ...rules }: RulesRead): NativeRules => ({
  ...rules,
  policies: policies.map(({ type = "Pods", value, periodSeconds = 1 }) => ({ type, valueMilli: value ? Number(milliOf(value)) : 0, periodSeconds })),
});
