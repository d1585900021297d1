import type { ControllerEvent, GaugeWrite, MetricOutcome } from "../../../model/decision.ts";
import type { ConditionReport } from "../../shared/steps.ts";

/** One thing that a function of these rules says beside its result. A step adds the notes of its functions to the sync, in their order (sync.ts). */
export type Note =
  | { readonly kind: "condition"; readonly report: ConditionReport }
  | { readonly kind: "event"; readonly event: ControllerEvent }
  | { readonly kind: "gauge"; readonly write: GaugeWrite }
  | { readonly kind: "metric"; readonly outcome: MetricOutcome };

export const condition = (report: ConditionReport): Note => ({ kind: "condition", report });

export const event = (type: ControllerEvent["type"], reason: string, message: string): Note => ({ kind: "event", event: { type, reason, message } });

const NO_LABELS: GaugeWrite["labels"] = {};

export const gauge = (name: string, value: number, labels = NO_LABELS): Note => ({ kind: "gauge", write: { name, labels, value } });

/** Takes a series away that was written before, in this sync or earlier. */
export const dropGauge = (name: string, labels = NO_LABELS): Note => ({ kind: "gauge", write: { name, labels, value: null } });

export const metric = (outcome: MetricOutcome): Note => ({ kind: "metric", outcome });
