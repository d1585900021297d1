import type { Forecast } from "../../lib/rules/model/forecast.ts";
import type { SetByPeople } from "../../lib/rules/model/override.ts";
import type { Decision } from "../../lib/rules/model/decision.ts";
import { autoscalerName, namespace } from "../../lib/rules/model/ids.ts";
import type { Observation } from "../../lib/rules/model/observation.ts";
import { type ControllerSettings, DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { type DecideInput, decide } from "../../lib/rules/policy/decide.ts";
import { afterWrite } from "../../lib/rules/policy/dialects.ts";
import { NOON } from "../noon.ts";

export interface SyncParts {
  readonly spec: AutoscalerSpec;
  readonly observation: Observation;
  readonly windows?: Windows;
  readonly settings?: Partial<ControllerSettings>;
  readonly nowMs?: number;
  readonly setByPeople?: SetByPeople;
  readonly forecast?: Forecast;
  readonly syncPeriodMs?: number;
}

/** What the autoscaler "web" in "shop" decides from. */
export const decideInput = ({
  spec,
  observation,
  windows = NEW_WINDOWS,
  settings,
  nowMs = NOON,
  setByPeople,
  forecast,
  syncPeriodMs,
}: SyncParts): DecideInput => ({
  namespace: namespace("shop"),
  name: autoscalerName("web"),
  spec,
  settings: { ...DEFAULT_SETTINGS, ...settings },
  observation,
  windows,
  nowMs,
  ...(setByPeople && { setByPeople }),
  ...(forecast && { forecast }),
  ...(syncPeriodMs !== undefined && { syncPeriodMs }),
});

export interface AppliedSync {
  readonly input: DecideInput;
  readonly decision: Decision;
  /** The replicas of the workload after the sync. */
  readonly count: number;
  readonly windows: Windows;
}

/** One sync of a workload with so many replicas, and its PUT applied. */
export const appliedSync = (replicas: number, parts: SyncParts): AppliedSync => {
  const input = decideInput(parts);
  const decision = decide(input);
  if (decision.kind === "hold")
    return { input, decision, count: replicas, windows: decision.windows };
  const { spec, nowMs } = input;
  const { windows } = afterWrite({
    spec,
    decision,
    outcome: { kind: "applied" },
    atMs: nowMs,
    eventId: `e${nowMs}`,
  });
  return { input, decision, count: decision.to, windows };
};
